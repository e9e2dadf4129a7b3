// Which rows the table shows and in what order, and what other limits would change. Pure.
import {AnyReport, NumberColumn} from "./data.ts";
import {FAIL, Model, PASS, SKIP} from "./model.ts";

export interface Filter {
  search: string;
  verdicts: Set<number>;
  cause: number|null;
  step: number|null;
  rank: number|null;
  only: ((row: number) => boolean)|null;
  onlyText: string;
}
export const emptyFilter = (): Filter => ({
  search: "",
  verdicts: new Set([0, 1, 2, 3]),
  cause: null,
  step: null,
  rank: null,
  only: null,
  onlyText: ""
});

const SEARCHED = ["op", "tensor", "golden_op", "golden_tensor", "message", "module", "dtype", "shape"];

export function filterRows(model: Model, filter: Filter): Int32Array {
  const {report} = model, count = report.count, verdict = report.integer("verdict");
  const cause = report.integer("cause"), step = report.integer("step"), rank = report.integer("rank");
  const words = filter.search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const matches = words.map((word) => report.texts.map((text) => text.toLowerCase().includes(word)));
  const columns = SEARCHED.map((name) => report.integer(name));
  const found = new Int32Array(count);
  let size = 0;
  for (let row = 0; row < count; ++row) {
    if (!filter.verdicts.has(verdict[row]!)) continue;
    if (filter.cause !== null && cause[row] !== filter.cause) continue;
    if (filter.step !== null && step[row] !== filter.step) continue;
    if (filter.rank !== null && rank[row] !== filter.rank) continue;
    if (filter.only !== null && !filter.only(row)) continue;
    if (!matches.every((hit) => columns.some((column) => column[row]! >= 0 && hit[column[row]!]))) continue;
    found[size++] = row;
  }
  return found.subarray(0, size);
}

export interface Sort {
  column: string;
  down: boolean
}

export function byNumber(rows: Int32Array, key: (row: number) => number, down: boolean): Int32Array {
  const keys = new Float64Array(rows.length), order = new Int32Array(rows.length);
  for (let i = 0; i < rows.length; ++i) {
    keys[i] = key(rows[i]!);
    order[i] = i;
  }
  const sign = down ? -1 : 1;
  // Rows without a number stand at the end in both directions.
  order.sort((a, b) => {
    const x = keys[a]!, y = keys[b]!;
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
    return x === y ? a - b : sign * (x < y ? -1 : 1);
  });
  return order.map((i) => rows[i]!);
}

// Sorted copies; rows that are equal keep their order. A NaN that was measured is the largest number.
export function sortRows(model: Model, rows: Int32Array, sort: Sort|null): Int32Array {
  if (sort === null) return rows;
  const {report} = model;
  if (sort.column === "error") return byNumber(rows, (row) => model.errors[row]!, sort.down);
  const metric = report.metric(sort.column);
  if (metric) return byNumber(rows, (row) => numberKey(metric, row), sort.down);
  const column = report.integer(sort.column);
  if (["row", "step", "rank", "token", "verdict", "judged", "cause"].includes(sort.column))
    return byNumber(rows, (row) => column[row]!, sort.down);
  return byText(report.texts, rows, (row) => column[row]!, sort.down);
}

// By texts, which key names by their number; they are ranked once each, in the order that people count in.
export function byText(
    texts: string[], rows: Int32Array, key: (row: number) => number, down: boolean): Int32Array {
  const collator = new Intl.Collator(undefined, {numeric: true});
  const ranks = new Float64Array(texts.length), used = new Set<number>();
  for (const row of rows)
    if (key(row) >= 0) used.add(key(row));
  [...used]
      .sort((a, b) => collator.compare(texts[a]!.slice(0, 500), texts[b]!.slice(0, 500)))
      .forEach((text, place) => {
        ranks[text] = place;
      });
  return byNumber(rows, (row) => key(row) < 0 ? NaN : ranks[key(row)]!, down);
}

export function numberKey(column: NumberColumn, row: number): number {
  if (!column.has(row)) return NaN;
  const value = column.value(row);
  return Number.isNaN(value) ? Infinity : value;
}

export interface Limit {
  metric: string;
  least: boolean;
  value: number;
  on: boolean
}

// What the page offers, where the run has the metric. least: a smaller value fails, as for cosine.
export function offeredLimits(report: AnyReport): Limit[] {
  const offered: Limit[] = [
    {metric: "rel_l2", least: false, value: 1e-3, on: true},
    {metric: "max_abs_err", least: false, value: 1e-3, on: false},
    {metric: "max_rel_err", least: false, value: 1e-2, on: false},
    {metric: "cosine", least: true, value: 0.99, on: false},
    {metric: "within_1e-3", least: true, value: 0.99, on: false},
    {metric: "max_ulp", least: false, value: 4, on: false},
    {metric: "nonfinite_mismatch", least: false, value: 0, on: true},
    {metric: "max_rel", least: false, value: 1e-2, on: false},
    {metric: "l2norm_rel", least: false, value: 1e-2, on: true},
    // Of a check, and of two devices.
    {metric: "max_abs_error", least: false, value: 1e-3, on: true},
    {metric: "max_relative_error", least: false, value: 1e-2, on: false},
    {metric: "mean_relative_error", least: false, value: 1e-3, on: false},
    {metric: "small_value_error_rate", least: false, value: 0, on: false},
    {metric: "ratio_within_0.001", least: true, value: 0.999, on: false},
    {metric: "ulp_over_threshold_rate", least: false, value: 0.05, on: false},
    {metric: "binary_error_rate", least: false, value: 0, on: true},
    {metric: "ratio.rmse", least: false, value: 2, on: true},
    {metric: "ratio.max_relative_error", least: false, value: 10, on: true},
    {metric: "ratio.mean_relative_error", least: false, value: 2, on: true},
  ];
  return offered.filter((limit) => report.metric(limit.metric) !== null);
}

// The verdict of a row under limits; -1 where none of them applies to it. A NaN breaks every limit.
export function verdictUnder(report: AnyReport, limits: Limit[], row: number): number {
  let known = false;
  for (const limit of limits) {
    const column = limit.on ? report.metric(limit.metric) : null;
    if (column === null || !column.has(row)) continue;
    known = true;
    const value = limit.metric === "cosine" || limit.least ? column.value(row) : Math.abs(column.value(row));
    if (limit.least ? !(value >= limit.value) : !(value <= limit.value)) return FAIL;
  }
  return known ? PASS : -1;
}

// Rows whose verdict other limits would change: to fail, and to pass. column: that of their own verdict.
export function changedRows(report: AnyReport, limits: Limit[], column = "judged"):
    {toFail: Set<number>, toPass: Set<number>, judged: number} {
  const judged = report.integer(column), toFail = new Set<number>(), toPass = new Set<number>();
  let count = 0;
  for (let row = 0; row < report.count; ++row) {
    if (judged[row] === SKIP) continue;
    const verdict = verdictUnder(report, limits, row);
    if (verdict < 0) continue;
    ++count;
    if (verdict === FAIL && judged[row] !== FAIL) toFail.add(row);
    if (verdict === PASS && judged[row] !== PASS) toPass.add(row);
  }
  return {toFail, toPass, judged: count};
}
