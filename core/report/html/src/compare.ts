// The report of a comparison of dumps.
import {makeApp} from "./app.ts";
import {curveView} from "./curve.ts";
import {detailView} from "./detail.ts";
import {h} from "./dom.ts";
import {findingView} from "./finding.ts";
import {graphView} from "./graph.ts";
import {heatmapView} from "./heatmap.ts";
import {limitsView} from "./limits.ts";
import {CULPRIT, Model} from "./model.ts";
import {diagnosticsView, runView} from "./run.ts";
import {Drawn} from "./shell.ts";
import {tableView} from "./table.ts";
import {t} from "./text.ts";
import {treeView} from "./tree.ts";

const SECTIONS = ["finding", "curve", "map", "graph", "tree", "table", "limits", "diagnostics", "run"];

export function drawComparison(model: Model): Drawn {
  const app = makeApp(model);
  const culprit = model.ops.find((op) => op.cause === CULPRIT);
  const worst =
      model.ops.reduce((best, op) => op.verdict > (model.ops[best]?.verdict ?? -1) ? op.index : best, 0);
  app.op = model.ops.length === 0 ? -1 : culprit?.index ?? worst;
  const table = tableView(app), dialog = detailView(app, table.beside);
  const choose = (rows: Set<number>, name: string) => app.setFilter(
      {
        only: (row) => rows.has(row),
        onlyText: name,
        search: "",
        cause: null,
        step: null,
        rank: null,
        verdicts: new Set([0, 1, 2, 3])
      },
      true);
  return {
    title: t(model.report.head.localisation.verdict),
    sections: SECTIONS.map((id) => [id, id]),
    parts: [
      findingView(app), curveView(app), h("div", {class: "pair"}, heatmapView(app), treeView(app)),
      graphView(app), table.element,
      h("div", {class: "pair"}, limitsView(model.report, "judged", choose),
        h("div", {}, diagnosticsView(app), runView(app)))
    ],
    dialog,
    onTheme: () => {
      for (const told of app.onTheme) told();
    },
    ready: () => {
      const linked = /^#row=(\d+)$/.exec(location.hash);
      if (linked) app.showRow(Number(linked[1]));
    }
  };
}
