// The rows of a comparison in the table of the page (grid.ts), with their filters.
import {App, causeText, errorText, metricText, section} from "./app.ts";
import {h} from "./dom.ts";
import {emptyFilter, filterRows, sortRows} from "./filter.ts";
import {columnChoice, Grid, GridSource, verdictBoxes} from "./grid.ts";
import {CAUSES, Model, SYMBOLS, VERDICTS} from "./model.ts";
import {count, t} from "./text.ts";

const FIRST = [
  "verdict", "step", "rank", "op", "tensor", "error", "dtype", "shape", "cosine", "max_abs_err", "cause",
  "message"
];
const OTHERS = [
  "row", "token", "golden_op", "golden_tensor", "golden_dtype", "golden_shape", "match", "mode", "judgement",
  "judged", "absent", "module", "value", "golden_value"
];
const WIDTHS: Record<string, number> = {
  verdict: 100,
  judged: 100,
  step: 56,
  rank: 56,
  token: 64,
  row: 72,
  op: 260,
  golden_op: 240,
  module: 240,
  tensor: 140,
  golden_tensor: 140,
  error: 90,
  cause: 90,
  message: 260,
  value: 140,
  golden_value: 140
};
const GROWING = new Set(["op", "message"]);
const NUMBERS = new Set(["row", "step", "rank", "token", "error"]);

export function cellText(model: Model, column: string, row: number): string {
  const {report} = model;
  switch (column) {
    case "verdict":
    case "judged": {
      const verdict = report.integer(column)[row]!;
      return SYMBOLS[verdict]! + " " + t(VERDICTS[verdict]!);
    }
    case "cause":
      return causeText(report.integer("cause")[row]!);
    case "error":
      return errorText(model.errors[row]!);
    case "step":
    case "rank":
    case "token":
    case "row": {
      const value = report.integer(column)[row]!;
      return value < 0 ? "" : String(value);
    }
    case "op":
      return model.opName(row);
    case "tensor":
      return model.tensorName(row);
    default:
      return report.metricNames.includes(column) ? metricText(model, column, row) : report.text(column, row);
  }
}

function gridSource(app: App): GridSource {
  const {model} = app, {report} = model, {rows, all_rows} = report.head.page;
  const columns = FIRST.filter((c) => !(c === "cosine" || c === "max_abs_err") || report.metric(c) !== null);
  if (report.metric("cosine") === null && report.metric("l2norm_rel") !== null)
    columns.splice(8, 0, "max_rel", "l2norm_rel");
  const isMetric = (column: string) => report.metricNames.includes(column);
  const verdict = report.integer("verdict"), cause = report.integer("cause");
  return {
    columns,
    all: [...FIRST, ...OTHERS, ...report.metricNames].filter((c, i, list) => list.indexOf(c) === i),
    widths: WIDTHS,
    growing: GROWING,
    isNumber: (column) => NUMBERS.has(column) || isMetric(column),
    largestFirst: (column) => NUMBERS.has(column) || column === "verdict" || isMetric(column),
    text: (column, row) => cellText(model, column, row),
    rowClass: (row) => VERDICTS[verdict[row]!]! + " cause" + cause[row]!,
    rows: (sort) => sortRows(model, filterRows(model, app.filter), sort),
    status: (shown) => count(shown) + " " + t("of") + " " + count(rows) + " " + t("rows") +
        (rows < all_rows ? " (" + count(all_rows) + ")" : ""),
    open: (row) => app.showRow(row),
  };
}

function places(app: App, by: "step"|"rank"): HTMLSelectElement {
  const values = [...new Set(app.model.lanes.map((lane) => lane[by]))].sort((a, b) => a - b);
  const select =
      h("select", {"aria-label": t(by)}, h("option", {value: ""}, t(by) + ": " + t("all")),
        ...values.map((value) => h("option", {value}, t(by) + " " + (value < 0 ? "–" : value))));
  select.addEventListener(
      "change", () => app.setFilter({[by]: select.value === "" ? null : Number(select.value)}));
  app.onFilter.push(() => {
    select.value = app.filter[by] === null ? "" : String(app.filter[by]);
  });
  return select;
}

function filterBar(app: App, table: Grid, source: GridSource): HTMLElement {
  const search = h(
      "input", {type: "search", placeholder: t("search") + " (/)", "aria-label": t("search"), id: "search"});
  search.addEventListener("input", () => app.setFilter({search: search.value}));
  const [verdicts, showVerdicts] = verdictBoxes(
      () => app.filter.verdicts, (chosen) => app.setFilter({verdicts: chosen}), SYMBOLS, VERDICTS,
      (verdict) => t(VERDICTS[verdict]!));
  app.onFilter.push(showVerdicts);
  const cause =
      h("select", {"aria-label": t("cause")}, h("option", {value: ""}, t("cause") + ": " + t("all")),
        ...CAUSES.map((name, i) => h("option", {value: i}, name === "" ? t("none") : causeText(i))));
  cause.addEventListener(
      "change", () => app.setFilter({cause: cause.value === "" ? null : Number(cause.value)}));
  const only = h("button", {type: "button", class: "only", hidden: true});
  only.addEventListener("click", () => app.setFilter({only: null, onlyText: ""}));
  app.onFilter.push(() => {
    if (search.value !== app.filter.search) search.value = app.filter.search;
    cause.value = app.filter.cause === null ? "" : String(app.filter.cause);
    only.hidden = app.filter.only === null;
    only.replaceChildren(h("span", {}, app.filter.onlyText + " ✕"));
  });
  const reset =
      h("button", {
        type: "button",
        click: () => {
          table.sort = null;
          app.setFilter(emptyFilter());
        }
      },
        t("reset"));
  return h(
      "div", {class: "bar"}, search, ...verdicts, cause, places(app, "step"), places(app, "rank"), only,
      reset, columnChoice(table, source), table.status);
}

export function tableView(app: App): {element: HTMLElement, beside: (row: number, by: number) => number} {
  // A run with failures opens on them; a healthy one on everything.
  if ((app.model.report.head.summary["fail"] ?? 0) > 0) app.filter.verdicts = new Set([3, 2]);
  const source = gridSource(app), table = new Grid(source, t("table"));
  const element = section("table", t("table"), filterBar(app, table, source), table.box);
  app.onFilter.push(() => table.update());
  table.update();
  return {element, beside: (row, by) => table.beside(row, by)};
}
