// The report of locate: outcome, the path through the six steps, each step, and the operators that differ.
import {runFacts} from "./apis.ts";
import {metricOf, section} from "./app.ts";
import {LocateHead, LocateStep, Report} from "./data.ts";
import {Child, clear, h} from "./dom.ts";
import {copyable} from "./finding.ts";
import {culprits, path, Place, PlaceState, stepName} from "./locate_model.ts";
import {operatorTable} from "./locate_table.ts";
import {Drawn} from "./shell.ts";
import {count, nearOne, number, t} from "./text.ts";

const TONES: Record<string, string> = {
  met: "pass",
  asked: "warning",
  nothing_found: "warning",
  no_progress: "warning"
};
const SYMBOLS: Record<PlaceState, string> = {
  right: "✓",
  wrong: "✗",
  fault: "✗",
  asked: "?",
  open: "·",
  spare: "–"
};
const CLASSES: Record<PlaceState, string> = {
  right: "pass",
  wrong: "wrong",
  fault: "fail",
  asked: "warning",
  open: "skip",
  spare: "skip"
};

export function cosineText(value: number|string|undefined): string {
  if (value === undefined) return t("none");
  return typeof value === "number" && Math.abs(1 - value) < 1e-3 ? nearOne(1 - value) : number(value);
}

const endText = (head: LocateHead) => t("end_" + head.outcome, count(head.keep_list.length));
const inputsText = (inputs: string) => t("inputs_" + inputs);

function compared(step: LocateStep): string {
  return step.reference === "" ? step.stage : step.mine + " ↔ " + step.reference;
}

function culpritCard(report: Report<LocateHead>, op: string, step: LocateStep): HTMLElement {
  const first = step.first!, kept = report.head.keep_list.some((name) => first.original_ops.includes(name));
  const others = first.original_ops.filter((name) => name !== op);
  return h(
      "article", {class: "culprit"},
      h("h3", {}, h("span", {class: "name"}, op), " ",
        h("span", {class: "name tensor"}, "output." + first.output)),
      h("p", {class: "tags"}, h("span", {class: "tag"}, first.op_type),
        h("span", {class: "tag " + (first.inputs === "good" ? "fail" : "warning")}, inputsText(first.inputs)),
        h("span", {class: "tag"},
          stepName(step) + (step.round > 0 ? " · " + t("round", String(step.round)) : "")),
        kept ? h("span", {class: "tag"}, t("inKeepList")) : null),
      h("ul", {class: "evidence"},
        h("li", {}, t("firstBelow", compared(step), cosineText(first.cosine), number(report.head.op_limit))),
        step.differing > 1 ? h("li", {}, t("laterDiffer", count(step.differing - 1))) : null,
        others.length > 0 ? h("li", {}, t("originals") + " " + others.join(", ")) : null,
        ...step.notes.map((note) => h("li", {}, note))));
}

// What to do now: the request of the flow, or what its end means, and a closer look at the last culprit.
function nextPart(head: LocateHead): Child[] {
  const {ask} = head, parts: Child[] = [h("h4", {}, t("next"))];
  if (ask && ask.question !== "") {
    parts.push(h("p", {class: "said"}, ask.question));
  } else if (ask) {
    parts.push(h("pre", {class: "request"}, ...ask.instructions.map((line) => h("div", {}, line))));
  } else {
    parts.push(h("p", {class: "said"}, t("do_" + head.outcome)));
  }
  return [...parts, ...head.page.next.map(copyable)];
}

function finding(report: Report<LocateHead>): HTMLElement {
  const {head} = report, tone = TONES[head.outcome] ?? "fail", found = culprits(head);
  const symbol = tone === "pass" ? "✓" : tone === "fail" ? "✗" : "!";
  const more = found.slice(4);
  return h(
      "section", {id: "finding", class: "finding " + tone},
      h("h1", {}, h("span", {class: "symbol", "aria-hidden": "true"}, symbol), " ", endText(head)),
      h("p", {class: "sides"}, h("span", {class: "name"}, head.stage_file)),
      ...found.slice(0, 4).map(({op, step}) => culpritCard(report, op, step)),
      more.length === 0 ?
          null :
          h("details", {class: "list"}, h("summary", {}, t("culprits") + " (" + count(more.length) + ")"),
            ...more.map(({op, step}) => culpritCard(report, op, step))),
      head.keep_list.length === 0 ?
          null :
          h("p", {}, t("keepList") + " ", h("span", {class: "name"}, head.keep_list.join(", "))),
      ...nextPart(head));
}

function placeText(place: Place): string {
  if (place.state === "spare" || place.state === "open" || place.state === "asked")
    return t("place_" + place.state);
  if (place.number === 1) return t(place.state === "right" ? "met" : "notMet");
  if (place.number === 5) return t(place.state === "right" ? "dataRight" : "dataWrong");
  if (place.number === 6) return t("listed");
  return t(place.state === "wrong" ? "curesNot" : place.state === "fault" ? "cures" : "met");
}

function pathView(report: Report<LocateHead>): HTMLElement {
  const items = path(report.head).map((place) => {
    const judged = [...place.steps].reverse().find((step) => step.final_cosine !== undefined);
    return h(
        "li", {class: "place " + CLASSES[place.state] + (place.state === "spare" ? " spare" : "")},
        h("a", {href: place.steps.length > 0 ? "#step-" + place.steps[0]!.step : "#steps"},
          h("strong", {}, h("span", {class: "symbol", "aria-hidden": "true"}, SYMBOLS[place.state]),
            " S" + place.number),
          h("span", {}, t("place" + place.number)), h("em", {}, placeText(place)),
          judged ? h("small", {}, t("finalCosine") + " " + cosineText(judged.final_cosine)) : null));
  });
  return section("path", t("path_"), h("ol", {class: "path"}, ...items));
}

function inputsTable(step: LocateStep): Child {
  if (step.inputs.length === 0) return null;
  const lines = step.inputs.map(
      (input) =>
          h("tr", {class: input.equal ? "" : "differs"}, h("th", {scope: "row"}, input.name),
            h("td", {}, t(input.equal ? "equal" : "differs")),
            h("td", {class: "number"}, cosineText(input.cosine)),
            h("td", {class: "number"}, number(input.max_abs_err)), h("td", {class: "wrap"}, input.problem)));
  const head =
      ["input", "verdict", "cosine", "max_abs_err", "message"].map((key) => h("th", {scope: "col"}, t(key)));
  return h("table", {class: "facts"}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...lines));
}

function stepCard(step: LocateStep, index: number, showStep: (step: number) => void): HTMLElement {
  const tone = step.met === null ? "" : step.met ? "pass" : "fail";
  const verdict = step.met === null ? null :
                                      h("span", {class: "tag " + tone},
                                        (step.met ? "✓ " + t("met") : "✗ " + t("notMet")) + " (" +
                                            t(step.met_by === "user" ? "byUser" : "byGolden") + ")");
  return h(
      "li", {
        class: "step",
        id: index === 0 || step.round < 2 ? "step-" + step.step : "step-" + step.step + "-" + step.round
      },
      h("h3", {}, stepName(step) + (step.round > 0 ? " · " + t("round", String(step.round)) : "") + "  ",
        h("span", {class: "name tensor"}, compared(step))),
      h("p", {class: "tags"}, verdict,
        step.final_cosine === undefined ?
            null :
            h("span", {class: "tag"}, t("finalCosine") + " " + cosineText(step.final_cosine)),
        h("span", {class: "tag"},
          step.next === "" ? "" : t("goesTo") + " " + t("to_" + step.next.replace(/ /g, "_")))),
      step.first ? h("p", {}, t("firstDiffers") + " ", h("span", {class: "name"}, step.first.op),
                     " · cosine " + cosineText(step.first.cosine) + " · " + inputsText(step.first.inputs)) :
          step.reference === "" ? null :
                                  h("p", {}, t("noneDiffers")),
      step.differing > 0 ? h("p", {class: "buttons"},
                             h("button", {type: "button", click: () => showStep(index)},
                               t("showDiffering", count(step.differing)))) :
                           null,
      step.keep_list.length > 0 ?
          h("p", {}, t("keepList") + " ", h("span", {class: "name"}, step.keep_list.join(", "))) :
          null,
      inputsTable(step), ...step.notes.map((note) => h("p", {class: "notice"}, note)));
}

function runView(head: LocateHead): HTMLElement {
  const lines = head.stages.map(
      (stage) => h(
          "tr", {}, h("th", {scope: "row"}, stage.name), h("td", {class: "wrap name"}, stage.dump),
          h("td", {class: "wrap name"}, stage.fusion), h("td", {class: "wrap name"}, stage.keep.join(", "))));
  const titles = ["stage", "path", "fusionFile", "keptOps"].map((key) => h("th", {scope: "col"}, t(key)));
  return section(
      "run", t("run"),
      h("div", {class: "scroll"},
        h("table", {class: "facts full"}, h("thead", {}, h("tr", {}, ...titles)), h("tbody", {}, ...lines))),
      runFacts([
        ["stageFile", head.stage_file], ["golden", head.golden], ["opLimit", number(head.op_limit)],
        ["accuracyLimit", number(head.accuracy_limit)],
        ["version", "ulpscope " + head.version + " (" + head.schema + ")"]
      ]));
}

// Everything of one operator of one step.
function detailOf(report: Report<LocateHead>, beside: (row: number, by: number) => number):
    [HTMLDialogElement, (row: number) => void] {
  const dialog = h("dialog", {class: "detail", "aria-label": t("operators")});
  let current = -1;
  const show = (row: number) => {
    if (row < 0 || row >= report.count) return;
    current = row;
    const step = report.head.steps[report.integer("step_index")[row]!]!,
          by = (n: number) => () => show(beside(current, n));
    clear(dialog);
    dialog.append(
        h("form", {method: "dialog", class: "buttons"},
          h("button", {type: "button", click: by(-1)}, "← " + t("previous")),
          h("button", {type: "button", click: by(1)}, t("following") + " →"),
          h("button", {class: "close"}, t("close") + " ✕")),
        h("h3", {class: "name"}, report.text("op", row)), runFacts([
          ["step", stepName(step) + (step.round > 0 ? " · " + t("round", String(step.round)) : "")],
          ["compared", compared(step)], ["op_type", report.text("op_type", row)],
          ["cosine", metricOf(report, "cosine", row)], ["opLimit", number(report.head.op_limit)],
          ["inputs", inputsText(report.text("inputs", row))], ["original", report.text("original", row)]
        ]));
    if (!dialog.open) dialog.showModal();
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

export function drawLocate(report: Report<LocateHead>): Drawn {
  const table = operatorTable(report), [dialog, open] = detailOf(report, table.beside);
  table.open = open;
  return {
    title: endText(report.head),
    sections: [
      ["finding", "finding"], ["path", "path_"], ["steps", "steps"], ["table", "operators"], ["run", "run"]
    ],
    parts: [
      finding(report), pathView(report),
      section(
          "steps", t("steps"),
          h("ol", {class: "steps"},
            ...report.head.steps.map((step, i) => stepCard(step, i, table.showStep)))),
      table.element, runView(report.head)
    ],
    dialog
  };
}
