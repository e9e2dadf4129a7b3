// What the views know of a check or of two devices' checks: its calls, the output of each that says most, and
// which calls are shown. Pure.
import {ApiHead, Report} from "./data.ts";
import {byNumber, byText, numberKey, Sort} from "./filter.ts";

// A call with its rows, one an output; a call without outputs has one row that says so.
export interface Call {
  index: number;
  first: number;
  end: number;
  verdict: number;
  speaker: number;  // the row that is shown for it: the first of those with the worst verdict
}

// Of a call: "forward" and "backward" are -1 where they were not run.
export class ApiModel {
  readonly calls: Call[] = [];
  readonly callOfRow: Int32Array;
  readonly isPair: boolean;  // two devices: a number has two sides and their ratio

  constructor(readonly report: Report<ApiHead>) {
    this.isPair = report.head.schema.startsWith("ulpscope.precision_compare/");
    this.callOfRow = new Int32Array(report.count);
    const call = report.integer("call"), verdict = report.integer("verdict");
    for (let row = 0; row < report.count; ++row) {
      if (row === 0 || call[row] !== call[row - 1]) this.startCall(row);
      const last = this.calls[this.calls.length - 1]!;
      last.end = row + 1;
      this.callOfRow[row] = last.index;
      if (verdict[row]! > verdict[last.speaker]!) last.speaker = row;
    }
  }

  // The metrics that a reader wants first, where the run has them.
  metrics(): string[] {
    const first = this.isPair ? ["ratio.rmse", "ratio.max_relative_error", "ratio.mean_relative_error"] :
                                ["cosine", "max_abs_error", "max_relative_error", "ulp_over_threshold_rate"];
    return first.filter((name) => this.report.metricNames.includes(name));
  }
  // Names without their side: "rmse" for "rmse", "reference.rmse" and "ratio.rmse".
  plainMetrics(): string[] {
    const plain = this.report.metricNames.map((name) => name.replace(/^(reference|ratio)\./, ""));
    return plain.filter((name, i) => plain.indexOf(name) === i);
  }
  // The status of one number alone; -1 where it has none.
  numberStatus(metric: string, row: number): number {
    const name = "status." + metric;
    return this.report.head.page.columns.some((c) => c.name === name && c.kind === "integer") ?
        this.report.integer(name)[row]! :
        -1;
  }
  message(call: Call): string {
    return this.report.text("message", call.speaker) || this.report.text("call_message", call.first);
  }

  private startCall(row: number): void {
    const {report} = this, forward = report.integer("forward")[row]!,
          backward = report.integer("backward")[row]!;
    this.calls.push({
      index: this.calls.length,
      first: row,
      end: row + 1,
      verdict: Math.max(0, forward, backward),
      speaker: row
    });
  }
}

export interface ApiFilter {
  search: string;
  verdicts: Set<number>;
  direction: string;  // "forward": only calls in which it does not pass
  judgement: string;  // a name, or empty
  only: ((call: number) => boolean)|null;
  onlyText: string;
}
export const emptyApiFilter = (): ApiFilter =>
    ({search: "", verdicts: new Set([0, 1, 2, 3]), direction: "", judgement: "", only: null, onlyText: ""});

const SEARCHED = ["api", "name", "judgement", "dtype", "device_dtype", "shape", "message", "call_message"];

export function filterCalls(model: ApiModel, filter: ApiFilter): Int32Array {
  const {report, calls} = model;
  const words = filter.search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const matches = words.map((word) => report.texts.map((text) => text.toLowerCase().includes(word)));
  const columns = SEARCHED.map((name) => report.integer(name)), judgement = report.integer("judgement");
  const status = filter.direction === "" ? null : report.integer(filter.direction);
  const found = new Int32Array(calls.length);
  let size = 0;
  for (const call of calls) {
    if (!filter.verdicts.has(call.verdict)) continue;
    if (status !== null && status[call.first]! < 2) continue;
    if (filter.only !== null && !filter.only(call.index)) continue;
    const rows = Array.from({length: call.end - call.first}, (_, i) => call.first + i);
    if (filter.judgement !== "" &&
        !rows.some((row) => judgement[row]! >= 0 && report.texts[judgement[row]!] === filter.judgement))
      continue;
    const hits = (hit: boolean[]) =>
        rows.some((row) => columns.some((column) => column[row]! >= 0 && hit[column[row]!]));
    if (!matches.every(hits)) continue;
    found[size++] = call.index;
  }
  return found.subarray(0, size);
}

export function sortCalls(model: ApiModel, calls: Int32Array, sort: Sort|null): Int32Array {
  if (sort === null) return calls;
  const {report} = model, of = (call: number) => model.calls[call]!;
  if (sort.column === "verdict") return byNumber(calls, (call) => of(call).verdict, sort.down);
  if (sort.column === "outputs") return byNumber(calls, (call) => of(call).end - of(call).first, sort.down);
  const metric = report.metric(sort.column);
  if (metric) return byNumber(calls, (call) => numberKey(metric, of(call).speaker), sort.down);
  const column = report.integer(sort.column);
  if (sort.column === "forward" || sort.column === "backward")
    return byNumber(calls, (call) => column[of(call).first]!, sort.down);
  return byText(report.texts, calls, (call) => column[of(call).speaker]!, sort.down);
}
