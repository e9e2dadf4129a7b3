// Diagnostics, and what was run: both sides beside each other.
import {App, section} from "./app.ts";
import {Side} from "./data.ts";
import {h} from "./dom.ts";
import {count, t} from "./text.ts";

export function diagnosticsView(app: App): HTMLElement {
  const {diagnostics, summary, notices} = app.model.report.head;
  const symbols: Record<string, string> = {error: "✗", warning: "!", notice: "–"};
  const tones: Record<string, string> = {error: "fail", warning: "warning", notice: "skip"};
  const rows = diagnostics.map(
      (d) =>
          h("tr", {},
            h("td", {class: "symbol " + (tones[d.severity] ?? "skip")},
              (symbols[d.severity] ?? "–") + " " + d.severity),
            h("td", {}, d.code), h("td", {class: "name wrap"}, d.where), h("td", {class: "wrap"}, d.text)));
  const head = ["severity", "code", "where", "message"].map((key) => h("th", {scope: "col"}, t(key)));
  const more = (summary["diagnostics"] ?? 0) - diagnostics.length;
  return section(
      "diagnostics", t("diagnostics"), ...notices.map((notice) => h("p", {class: "notice"}, notice)),
      rows.length === 0 ?
          h("p", {class: "muted"}, t("noDiagnostics")) :
          h("div", {class: "scroll"},
            h("table", {class: "facts full"}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows))),
      more > 0 ? h("p", {}, t("truncated", count(more))) : null);
}

export function runView(app: App): HTMLElement {
  const {head} = app.model.report,
        keys: (keyof Side)[] = ["path", "source", "task", "level", "ops", "tensors"];
  const text = (side: Side, key: keyof Side) =>
      typeof side[key] === "number" ? count(side[key] as number) : String(side[key]);
  const sides = [head.target, head.golden, ...(head.reference ? [head.reference] : [])];
  const differs = (key: keyof Side) =>
      key !== "path" && sides.some((side) => text(side, key) !== text(head.target, key));
  const rows = keys.map(
      (key) =>
          h("tr", {class: differs(key) ? "differs" : ""}, h("th", {scope: "row"}, t(key)),
            ...sides.map((side) => h("td", {class: "wrap"}, text(side, key)))));
  const other: [string, string][] = [
    ["command", head.command.join(" ")], ["version", "ulpscope " + head.version + " (" + head.schema + ")"],
    ["policy", [head.policy.profile, head.policy.file ?? ""].filter((x) => x !== "").join(" · ")],
    ["pairs", count(head.summary["pairs"] ?? 0)], ["only_target", count(head.summary["only_target"] ?? 0)],
    ["only_golden", count(head.summary["only_golden"] ?? 0)],
    ["unreadable", count(head.summary["unreadable"] ?? 0)]
  ];
  return section(
      "run", t("run"),
      h("div", {class: "scroll"},
        h("table", {class: "facts sides"},
          h("thead", {},
            h("tr", {}, h("th", {}, ""),
              ...["target", "golden", "reference"]
                  .slice(0, sides.length)
                  .map((name) => h("th", {scope: "col"}, t(name))))),
          h("tbody", {}, ...rows))),
      h("table", {class: "facts"},
        h("tbody", {},
          ...other.map(
              ([key, value]) =>
                  h("tr", {}, h("th", {scope: "row"}, t(key)), h("td", {class: "wrap"}, value))))));
}
