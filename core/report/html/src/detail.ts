// Everything of one row, in a dialog: both sides, statistics, metrics, how the errors spread, worst elements.
import {App, causeText, metricText, place} from "./app.ts";
import {clear, h, svg} from "./dom.ts";
import {worstTable} from "./finding.ts";
import {BIT_IDENTICAL, SYMBOLS, UNREADABLE, VERDICTS} from "./model.ts";
import {count, t} from "./text.ts";

const STATISTICS = ["max", "min", "mean", "l2norm", "nan_count", "inf_count"];

function facts(rows: [string, string][]): HTMLElement {
  const body =
      rows.filter(([, value]) => value !== "")
          .map(
              ([name, value]) => h("tr", {}, h("th", {scope: "row"}, name), h("td", {class: "wrap"}, value)));
  return h("table", {class: "facts"}, h("tbody", {}, ...body));
}

function sides(app: App, row: number): HTMLElement {
  const {report} = app.model, lines: HTMLElement[] = [];
  const add = (name: string, target: string, golden: string) => {
    if (target === "" && golden === "") return;
    lines.push(
        h("tr", {class: target === golden ? "" : "differs"}, h("th", {scope: "row"}, name),
          h("td", {class: "wrap"}, target || "–"), h("td", {class: "wrap"}, golden || "–")));
  };
  for (const name of ["op", "tensor", "dtype", "shape", "value"])
    add(t(name), report.text(name, row), report.text("golden_" + name, row));
  for (const name of STATISTICS)
    add(name, metricText(app.model, "target_" + name, row), metricText(app.model, "golden_" + name, row));
  const head = h(
      "tr", {}, h("th", {}, ""), h("th", {scope: "col"}, t("target")), h("th", {scope: "col"}, t("golden")));
  return h("table", {class: "facts sides"}, h("thead", {}, head), h("tbody", {}, ...lines));
}

function histogram(app: App, row: number): HTMLElement {
  const known = app.model.report.histograms.get(row);
  if (!known) return h("p", {class: "muted"}, t("histogramNone"));
  const bars: [string, number][] = [];
  if (known.zeros > 0) bars.push([t("zero"), known.zeros]);
  known.counts.forEach((n, i) => bars.push(["2^" + (known.first + i), n]));
  const most = Math.max(...bars.map(([, n]) => n), 1), wide = Math.max(6, Math.min(26, 560 / bars.length)),
        height = 120;
  const drawn = bars.map(([name, n], i) => {
    // A single error must still be seen.
    const size = n === 0 ? 0 : Math.max(2, n / most * height);
    return svg(
        "rect", {
          class: i === 0 && known.zeros > 0 ? "bar zero" : "bar",
          x: i * wide + 1,
          y: height - size,
          width: wide - 2,
          height: size
        },
        svg("title", {}, name + ": " + count(n)));
  });
  const every = Math.max(1, Math.ceil(34 / wide));
  const labels =
      bars.map(([name], i) => i % every === 0 ? svg("text", {x: i * wide + 1, y: height + 14}, name) : null);
  const width = bars.length * wide + 40;
  return h(
      "div", {class: "scroll"},
      svg("svg", {
        class: "histogram",
        width,
        height: height + 20,
        viewBox: "0 0 " + width + " " + (height + 20),
        role: "img",
        "aria-label": t("histogram")
      },
          ...drawn, ...labels));
}

function metrics(app: App, row: number): HTMLElement {
  const other = app.model.report.metricNames.filter(
      (name) => !/^(target|golden)_/.test(name) || name === "golden_zero_mismatch");
  return facts(other.map((name) => [name, metricText(app.model, name, row)]));
}

function outcome(app: App, row: number): HTMLElement {
  const {report} = app.model, verdict = report.integer("verdict")[row]!,
        judged = report.integer("judged")[row]!;
  const cause = causeText(report.integer("cause")[row]!), flags = report.integer("flags")[row]!;
  return h(
      "div", {},
      h("p", {class: "tags"},
        h("span", {class: "tag " + VERDICTS[verdict]!}, SYMBOLS[verdict]! + " " + t(VERDICTS[verdict]!)),
        h("span", {class: "tag"},
          t("judged") + ": " + t(VERDICTS[judged]!) + " (" + report.text("judgement", row) + ")"),
        cause === "" ? null : h("span", {class: "tag"}, t("cause") + ": " + cause),
        h("span", {class: "tag"},
          place(report.integer("step")[row]!, report.integer("rank")[row]!, report.integer("token")[row]!)),
        flags & UNREADABLE ? h("span", {class: "tag fail"}, t("unreadable")) : null,
        flags & BIT_IDENTICAL ? h("span", {class: "tag pass"}, t("bitIdentical")) : null),
      facts([
        [t("message"), report.text("message", row)], [t("module"), report.text("module", row)],
        [t("match"), report.text("match", row)], [t("mode"), report.text("mode", row)],
        [t("absent"), report.text("absent", row)], [t("row"), String(report.integer("row")[row]!)]
      ]));
}

function culpritPart(app: App, row: number): HTMLElement|null {
  const {head} = app.model.report;
  for (const [told, list] of [
           [head.page.culprits, head.localisation.culprits],
           [head.page.suspects, head.localisation.suspects]] as const) {
    const at = told.rows.indexOf(row);
    if (at >= 0) return worstTable(list[at]!);
  }
  return null;
}

export function detailView(app: App, beside: (row: number, by: number) => number): HTMLDialogElement {
  const dialog = h("dialog", {class: "detail", "aria-label": t("table")});
  let current = -1;
  const show = (row: number) => {
    if (row < 0 || row >= app.model.report.count) return;
    current = row;
    clear(dialog);
    const step = (by: number) => () => show(beside(current, by));
    dialog.append(
        h("form", {method: "dialog", class: "buttons"},
          h("button", {type: "button", click: step(-1)}, "← " + t("previous")),
          h("button", {type: "button", click: step(1)}, t("following") + " →"),
          h("button", {
            type: "button",
            click: () => {
              dialog.close();
              app.showOp(app.model.opOfRow[row]!);
              document.getElementById("graph")?.scrollIntoView();
            }
          },
            t("showGraph")),
          h("button", {class: "close"}, t("close") + " ✕")),
        h("h3", {class: "name"}, app.model.opName(row) + "  " + app.model.tensorName(row)), outcome(app, row),
        h("h4", {}, t("statistics")), sides(app, row), h("h4", {}, t("histogram")), histogram(app, row));
    const worst = culpritPart(app, row);
    if (worst) dialog.append(worst);
    dialog.append(h("h4", {}, t("metrics")), metrics(app, row));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  };
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") show(beside(current, 1));
    if (event.key === "ArrowLeft") show(beside(current, -1));
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  app.showRow = show;
  return dialog;
}
