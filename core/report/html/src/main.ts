// Puts the page together, and again when its language changes.
import {makeApp} from "./app.ts";
import {curveView} from "./curve.ts";
import {Report} from "./data.ts";
import {detailView} from "./detail.ts";
import {clear, h, visible} from "./dom.ts";
import {findingView} from "./finding.ts";
import {graphView} from "./graph.ts";
import {heatmapView} from "./heatmap.ts";
import {limitsView} from "./limits.ts";
import {CULPRIT, Model} from "./model.ts";
import {diagnosticsView, runView} from "./run.ts";
import {tableView} from "./table.ts";
import {currentLanguage, setLanguage, t} from "./text.ts";
import {treeView} from "./tree.ts";

const SECTIONS = ["finding", "curve", "map", "graph", "tree", "table", "limits", "diagnostics", "run"];

function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function topBar(model: Model, themeChanged: () => void): HTMLElement {
  const language =
      h("button", {type: "button", lang: currentLanguage() === "zh" ? "en" : "zh"},
        currentLanguage() === "zh" ? "English" : "中文");
  language.addEventListener("click", () => {
    setLanguage(currentLanguage() === "zh" ? "en" : "zh");
    render(model);
  });
  const theme = h("button", {type: "button", title: t("theme"), "aria-label": t("theme")}, "◐");
  theme.addEventListener("click", () => {
    document.documentElement.dataset["theme"] = isDark() ? "light" : "dark";
    themeChanged();
  });
  return h(
      "header", {class: "top"}, h("strong", {}, "ulpscope"),
      h("nav", {}, ...SECTIONS.map((id) => h("a", {href: "#" + id}, t(id)))), language, theme);
}

function render(model: Model): void {
  const root = document.getElementById("app")!, app = makeApp(model);
  document.documentElement.lang = currentLanguage();
  document.title = visible(t(model.report.head.localisation.verdict) + " · ulpscope");
  const culprit = model.ops.find((op) => op.cause === CULPRIT);
  const worst =
      model.ops.reduce((best, op) => op.verdict > (model.ops[best]?.verdict ?? -1) ? op.index : best, 0);
  app.op = model.ops.length === 0 ? -1 : culprit?.index ?? worst;
  clear(root);
  const table = tableView(app), dialog = detailView(app, table.beside);
  root.append(
      topBar(
          model,
          () => {
            for (const told of app.onTheme) told();
          }),
      h("main", {}, findingView(app), curveView(app),
        h("div", {class: "pair"}, heatmapView(app), treeView(app)), graphView(app), table.element,
        h("div", {class: "pair"}, limitsView(app), h("div", {}, diagnosticsView(app), runView(app)))),
      dialog);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const told of app.onTheme) told();
  });
  const linked = /^#row=(\d+)$/.exec(location.hash);
  if (linked) app.showRow(Number(linked[1]));
}

document.addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  if (event.key === "/" && !["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName)) {
    event.preventDefault();
    document.getElementById("search")?.focus();
  }
});

try {
  setLanguage(document.documentElement.lang === "zh" ? "zh" : "en");
  render(new Model(new Report((name) => document.getElementById("block-" + name)!.textContent!)));
  document.documentElement.dataset["ready"] = "yes";
} catch (error) {
  document.getElementById("app")!.append(
      h("p", {class: "fail"}, "The report cannot be shown: " + String(error)));
}
