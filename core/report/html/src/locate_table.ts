// The operators that differ, of every step of a localisation, in the table of the page.
import {metricOf, section} from "./app.ts";
import {LocateHead, Report} from "./data.ts";
import {h} from "./dom.ts";
import {byNumber, byText, numberKey, Sort} from "./filter.ts";
import {columnChoice, Grid, GridSource} from "./grid.ts";
import {stepName} from "./locate_model.ts";
import {count, t} from "./text.ts";

export interface OperatorFilter {
  search: string;
  step: number|null;  // the place of a step in the list
  inputs: string;     // good, bad, unknown; empty: all
}
export const emptyOperatorFilter = (): OperatorFilter => ({search: "", step: null, inputs: ""});

const SEARCHED = ["op", "op_type", "original"];
const TONES = ["inherited", "pass", "warning", "fail"];

export function filterOperators(report: Report<LocateHead>, filter: OperatorFilter): Int32Array {
  const words = filter.search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const matches = words.map((word) => report.texts.map((text) => text.toLowerCase().includes(word)));
  const columns = SEARCHED.map((name) => report.integer(name)), step = report.integer("step_index");
  const found = new Int32Array(report.count);
  let size = 0;
  for (let row = 0; row < report.count; ++row) {
    if (filter.step !== null && step[row] !== filter.step) continue;
    if (filter.inputs !== "" && report.text("inputs", row) !== filter.inputs) continue;
    if (!matches.every((hit) => columns.some((column) => column[row]! >= 0 && hit[column[row]!]))) continue;
    found[size++] = row;
  }
  return found.subarray(0, size);
}

export function sortOperators(report: Report<LocateHead>, rows: Int32Array, sort: Sort|null): Int32Array {
  if (sort === null) return rows;
  const metric = report.metric(sort.column);
  if (sort.column === "cosine")
    return metric ? byNumber(rows, (row) => numberKey(metric, row), sort.down) : rows;
  const column = report.integer(sort.column);
  if (["step_index", "order"].includes(sort.column)) return byNumber(rows, (row) => column[row]!, sort.down);
  return byText(report.texts, rows, (row) => column[row]!, sort.down);
}

export interface OperatorTable {
  element: HTMLElement;
  showStep: (step: number) => void;
  beside: (row: number, by: number) => number;
  open: (row: number) => void;
}

function stepText(report: Report<LocateHead>, index: number): string {
  const step = report.head.steps[index]!;
  return stepName(step) + (step.round > 0 ? " · " + t("round", String(step.round)) : "");
}

function cellText(report: Report<LocateHead>, column: string, row: number): string {
  switch (column) {
    case "step_index":
      return stepText(report, report.integer("step_index")[row]!);
    case "order":
      return String(report.integer("order")[row]! + 1);
    case "cosine":
      return metricOf(report, "cosine", row);
    case "inputs": {
      const inputs = report.text("inputs", row);
      return (inputs === "good" ? "✗ " : inputs === "bad" ? "– " : "! ") + t("inputs_" + inputs);
    }
    default:
      return report.text(column, row);
  }
}

export function operatorTable(report: Report<LocateHead>): OperatorTable {
  let filter = emptyOperatorFilter();
  const {rows, all_rows} = report.head.page, verdict = report.integer("verdict"),
               first = report.integer("first");
  const columns = ["step_index", "order", "op", "op_type", "cosine", "inputs", "original"];
  const table: OperatorTable =
      {element: h("section"), showStep: () => undefined, beside: () => -1, open: () => undefined};
  const source: GridSource = {
    columns,
    all: columns,
    widths: {step_index: 120, order: 64, op: 280, op_type: 140, cosine: 110, inputs: 240, original: 240},
    growing: new Set(["op", "original"]),
    isNumber: (column) => column === "cosine" || column === "order",
    largestFirst: () => false,
    text: (column, row) => cellText(report, column, row),
    rowClass: (row) => TONES[verdict[row]!]! +
        (first[row] === 1       ? " cause1" :
             verdict[row] === 0 ? " cause3" :
                                  ""),
    rows: (sort) => sortOperators(report, filterOperators(report, filter), sort),
    status: (shown) => count(shown) + " " + t("of") + " " + count(rows) + " " + t("rows") +
        (rows < all_rows ? " (" + count(all_rows) + ")" : ""),
    open: (row) => table.open(row),
  };
  const grid = new Grid(source, t("operators"));
  const search = h(
      "input", {type: "search", placeholder: t("search") + " (/)", "aria-label": t("search"), id: "search"});
  const steps = report.head.steps.map((step, i) => ({step, i})).filter(({step}) => step.differing > 0);
  const step =
      h("select", {"aria-label": t("step")}, h("option", {value: ""}, t("step") + ": " + t("all")),
        ...steps.map(({i}) => h("option", {value: i}, stepText(report, i))));
  const inputs =
      h("select", {"aria-label": t("inputs")}, h("option", {value: ""}, t("inputs") + ": " + t("all")),
        ...["good", "bad", "unknown"].map((value) => h("option", {value}, t("inputs_" + value))));
  const changed = (next: OperatorFilter) => {
    filter = next;
    if (search.value !== next.search) search.value = next.search;
    step.value = next.step === null ? "" : String(next.step);
    inputs.value = next.inputs;
    grid.update();
  };
  search.addEventListener("input", () => changed({...filter, search: search.value}));
  step.addEventListener(
      "change", () => changed({...filter, step: step.value === "" ? null : Number(step.value)}));
  inputs.addEventListener("change", () => changed({...filter, inputs: inputs.value}));
  const reset =
      h("button", {
        type: "button",
        click: () => {
          grid.sort = null;
          changed(emptyOperatorFilter());
        }
      },
        t("reset"));
  table.element = section(
      "table", t("operators"), h("p", {class: "muted"}, t("operatorsHelp")),
      h("div", {class: "bar"}, search, step, inputs, reset, columnChoice(grid, source), grid.status),
      grid.box);
  table.showStep = (index) => {
    changed({...emptyOperatorFilter(), step: index});
    document.getElementById("table")?.scrollIntoView({behavior: "auto", block: "start"});
  };
  table.beside = (row, by) => grid.beside(row, by);
  grid.update();
  return table;
}
