// The first thing that a reader sees: verdict, culprit, why, where, what next.
import {App, place} from "./app.ts";
import {Culprit, Told} from "./data.ts";
import {Child, h} from "./dom.ts";
import {SYMBOLS, VERDICTS} from "./model.ts";
import {count, number, sentence, t} from "./text.ts";

const TONES: Record<string, string> = {
  compute_fault: "fail",
  input_fault: "fail",
  identical: "pass",
  rounding: "pass",
  structure_only: "warning",
  inconclusive: "warning"
};
const MOST_LISTED = 200;

export function copyable(text: string): HTMLElement {
  const button = h("button", {type: "button", class: "small"}, t("copy"));
  button.addEventListener("click", () => {
    void navigator.clipboard?.writeText(text).then(() => {
      button.textContent = t("copied");
    });
  });
  return h("div", {class: "command"}, h("code", {}, text), button);
}

function evidenceTable(culprit: Culprit): HTMLElement {
  const rows =
      Object.entries(culprit.evidence)
          .map(([name, value]) => h("tr", {}, h("th", {scope: "row"}, name), h("td", {}, number(value))));
  return h(
      "details", {}, h("summary", {}, t("numbers")), h("table", {class: "facts"}, h("tbody", {}, ...rows)));
}

export function worstTable(culprit: Culprit): HTMLElement|null {
  if (culprit.worst.length === 0) return null;
  const difference = (target: number|string, golden: number|string) =>
      typeof target === "number" && typeof golden === "number" ? number(target - golden) : "";
  const rows = culprit.worst.map(
      (w) =>
          h("tr", {}, h("td", {}, "[" + w.index.join(", ") + "]"),
            h("td", {class: "number"}, number(w.target)), h("td", {class: "number"}, number(w.golden)),
            h("td", {class: "number"}, difference(w.target, w.golden))));
  const head = ["index", "target", "golden", "difference"].map((key) => h("th", {scope: "col"}, t(key)));
  return h(
      "div", {}, h("h4", {}, t("worst")),
      h("table", {class: "facts"}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)));
}

function stackList(stack: string[]): Child {
  if (stack.length === 0) return null;
  const frames = stack.map((frame) => h("li", {}, frame.replace(/\s*\n\s*/g, "  ")));
  return h("details", {}, h("summary", {}, t("stack")), h("ol", {class: "stack"}, ...frames));
}

function culpritCard(app: App, culprit: Culprit, told: Told, number_: number): HTMLElement {
  const row = told.rows[number_] ?? -1, sentences = told.sentences[number_] ?? [];
  const buttons = row < 0 ?
      null :
      h("p", {class: "buttons"}, h("button", {type: "button", click: () => app.showRow(row)}, t("open")),
        h("button", {
          type: "button",
          click: () => {
            app.showOp(app.model.opOfRow[row]!);
            document.getElementById("graph")?.scrollIntoView();
          }
        },
          t("showGraph")));
  return h(
      "article", {class: "culprit"},
      h("h3", {}, h("span", {class: "name"}, culprit.op), " ",
        h("span", {class: "name tensor"}, culprit.tensor)),
      h("p", {class: "tags"}, h("span", {class: "tag fail"}, t(culprit.kind)),
        h("span", {class: "tag"}, t("confidence") + ": " + t(culprit.confidence)),
        h("span", {class: "tag"}, place(culprit.step, culprit.rank, culprit.token)),
        culprit.module ? h("span", {class: "tag name"}, culprit.module) : null),
      h("ul", {class: "evidence"}, ...sentences.map((text) => h("li", {}, sentence(text)))),
      culprit.next.length > 0 ? h("h4", {}, t("next")) : null, ...culprit.next.map(copyable),
      worstTable(culprit), stackList(culprit.stack), evidenceTable(culprit), buttons);
}

function culpritList(app: App, title: string, culprits: Culprit[], told: Told, from: number): Child {
  if (culprits.length <= from) return null;
  const items =
      culprits.slice(from, MOST_LISTED)
          .map(
              (culprit, i) =>
                  h("details", {class: "other"},
                    h("summary", {}, h("span", {class: "name"}, culprit.op + " " + culprit.tensor), " ",
                      h("small", {},
                        place(culprit.step, culprit.rank, culprit.token) + " · " + t(culprit.confidence))),
                    culpritCard(app, culprit, told, from + i)));
  const hidden = culprits.length - Math.max(from, MOST_LISTED);
  return h(
      "details", {class: "list"}, h("summary", {}, title + " (" + count(culprits.length - from) + ")"),
      ...items, hidden > 0 ? h("p", {}, t("truncated", count(hidden))) : null);
}

function counts(app: App): HTMLElement {
  const summary = app.model.report.head.summary;
  const tiles = [3, 2, 1, 0].map((verdict) => {
    const name = VERDICTS[verdict]!;
    return h(
        "button", {
          type: "button",
          class: "tile " + name,
          click: () => app.setFilter({verdicts: new Set([verdict])}, true)
        },
        h("strong", {}, SYMBOLS[verdict]! + " " + count(summary[name] ?? 0)), h("span", {}, t(name)));
  });
  for (const side of ["only_target", "only_golden"])
    if ((summary[side] ?? 0) > 0)
      tiles.push(
          h("button",
            {type: "button", class: "tile", click: () => app.setFilter({verdicts: new Set([0, 3])}, true)},
            h("strong", {}, count(summary[side]!)), h("span", {}, t(side))));
  return h("div", {class: "tiles"}, ...tiles);
}

export function findingView(app: App): HTMLElement {
  const {head} = app.model.report, {localisation, page} = head;
  const tone = TONES[localisation.verdict] ?? "warning",
        symbol = tone === "pass" ? "✓" :
      tone === "fail"            ? "✗" :
                                   "!";
  const first = localisation.culprits[0];
  return h(
      "section", {id: "finding", class: "finding " + tone},
      h("h1", {}, h("span", {class: "symbol", "aria-hidden": "true"}, symbol), " ", t(localisation.verdict)),
      h("p", {class: "sides"}, h("span", {class: "name"}, head.target.path), " ↔ ",
        h("span", {class: "name"}, head.golden.path)),
      ...page.sentences.map((text) => h("p", {class: "said"}, sentence(text))),
      ...localisation.notes.map((text) => h("p", {class: "said"}, sentence(text))),
      first ? culpritCard(app, first, page.culprits, 0) : null,
      first && localisation.propagated > 0 ?
          h("p", {}, count(localisation.propagated) + " " + t("propagated")) :
          null,
      counts(app),
      page.rows < page.all_rows ?
          h("p", {class: "partly"}, t("partly", count(page.rows), count(page.all_rows))) :
          null,
      culpritList(app, t("culprits"), localisation.culprits, page.culprits, 1),
      culpritList(app, t("suspects"), localisation.suspects, page.suspects, 0));
}
