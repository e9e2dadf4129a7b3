// Everything of one call, in a dialog: each output with all its numbers, and what they are held against.
import {outcomeName} from "./api_finding.ts";
import {ApiApp} from "./apis.ts";
import {metricOf} from "./app.ts";
import {Child, clear, h} from "./dom.ts";
import {SYMBOLS, VERDICTS} from "./model.ts";
import {t} from "./text.ts";

const MOST_OUTPUTS = 200;

function tag(label: string, verdict: number): Child {
  if (verdict < 0) return null;
  const text = SYMBOLS[verdict]! + " " + outcomeName(verdict);
  return h("span", {class: "tag " + VERDICTS[verdict]!}, (label === "" ? "" : label + ": ") + text);
}

function pairTable(app: ApiApp, row: number, names: string[]): HTMLElement {
  const {report} = app.model;
  const lines = names.map((name) => {
    const status = app.model.numberStatus(name, row);
    return h(
        "tr", {class: status >= 2 ? "differs" : ""}, h("th", {scope: "row"}, name),
        ...["", "reference.", "ratio."].map(
            (side) => h("td", {class: "number"}, metricOf(report, side + name, row))),
        h("td", {class: status < 0 ? "" : "symbol " + VERDICTS[status]!},
          status < 0 ? "" : SYMBOLS[status]! + " " + outcomeName(status)));
  });
  const head =
      ["metric", "device", "reference", "ratio", "verdict"].map((key) => h("th", {scope: "col"}, t(key)));
  return h("table", {class: "facts"}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...lines));
}

function numbers(app: ApiApp, row: number): Child {
  const {report, isPair} = app.model;
  const has = (name: string) => report.metric(name)?.has(row) ?? false;
  const names = app.model.plainMetrics().filter(
      (name) => has(name) || has("reference." + name) || app.model.numberStatus(name, row) >= 0);
  if (names.length === 0) return h("p", {class: "muted"}, t("noNumbers"));
  if (isPair) return pairTable(app, row, names);
  const lines = names.map(
      (name) => h(
          "tr", {}, h("th", {scope: "row"}, name), h("td", {class: "number"}, metricOf(report, name, row))));
  return h("table", {class: "facts"}, h("tbody", {}, ...lines));
}

function outputPart(app: ApiApp, row: number): HTMLElement {
  const {report} = app.model, golden = report.text("dtype", row), device = report.text("device_dtype", row);
  const name = [report.text("direction", row), report.text("output", row)].join(" ").trim();
  return h(
      "article", {}, h("h4", {class: "name"}, name),
      h("p", {class: "tags"}, tag("", report.integer("verdict")[row]!),
        h("span", {class: "tag"}, report.text("judgement", row)),
        h("span", {class: "tag"}, report.text("shape", row)),
        h("span", {class: "tag"}, device === "" ? "" : t("device") + " " + device),
        h("span", {class: "tag"}, golden === "" ? "" : t("golden") + " " + golden)),
      report.text("message", row) === "" ? null : h("p", {class: "wrap"}, report.text("message", row)),
      numbers(app, row));
}

// The dialog, and what opens it.
export function detailOf(
    app: ApiApp, beside: (call: number, by: number) => number): [HTMLElement, (call: number) => void] {
  const dialog = h("dialog", {class: "detail", "aria-label": t("calls")});
  let current = -1;
  const show = (index: number) => {
    const call = app.model.calls[index], {report} = app.model;
    if (!call) return;
    current = index;
    clear(dialog);
    const step = (by: number) => () => show(beside(current, by));
    const rows = Array.from({length: call.end - call.first}, (_, i) => call.first + i)
                     .filter((row) => report.text("name", row) !== "");
    const message = report.text("call_message", call.first);
    dialog.append(
        h("form", {method: "dialog", class: "buttons"},
          h("button", {type: "button", click: step(-1)}, "← " + t("previous")),
          h("button", {type: "button", click: step(1)}, t("following") + " →"),
          h("button", {class: "close"}, t("close") + " ✕")),
        h("h3", {class: "name"}, report.text("api", call.first)),
        h("p", {class: "tags"}, tag(t("forward"), report.integer("forward")[call.first]!),
          tag(t("backward"), report.integer("backward")[call.first]!)),
        h("p", {class: "wrap"}, message), ...rows.slice(0, MOST_OUTPUTS).map((row) => outputPart(app, row)),
        h("p", {class: "muted"},
          rows.length > MOST_OUTPUTS ? t("truncated", String(rows.length - MOST_OUTPUTS)) : ""),
        h("h4", {}, t("limitsOf")),
        h("p", {class: "muted"}, t(app.model.isPair ? "limitsPair" : "limitsCheck")));
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
  return [dialog, show];
}
