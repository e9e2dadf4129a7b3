// What the views know of a run beyond its rows: ops, lanes, errors, layers, modules, and who produced what.
// Pure.
import {NumberColumn, Report} from "./data.ts";

export const VERDICTS = ["skip", "pass", "warning", "fail"] as const;
export const CAUSES = ["", "culprit", "rounding", "inherited"] as const;
export const CULPRIT = 1, ROUNDING = 2, INHERITED = 3;
export const FAIL = 3, WARNING = 2, PASS = 1, SKIP = 0;
export const UNREADABLE = 1, BIT_IDENTICAL = 2, TENSOR = 4;
// Symbols, so that no verdict is told by colour alone.
export const SYMBOLS = ["–", "✓", "!", "✗"] as const;

export interface Op {
  index: number;
  first: number;
  end: number;
  name: string;
  module: string;
  step: number;
  rank: number;
  lane: number;
  place: number;  // place: its number among the ops of its lane
  verdict: number;
  cause: number;
  error: number;  // the largest of its outputs: NaN where nothing was measured, Infinity where nothing can be
}
export interface Lane {
  step: number;
  rank: number;
  ops: number[]
}

const ERRORS = ["rel_l2", "max_rel", "min_rel", "mean_rel", "l2norm_rel"];

export class Model {
  readonly ops: Op[] = [];
  readonly lanes: Lane[] = [];
  readonly opOfRow: Int32Array;
  readonly errors: Float64Array;  // by row
  private consumerLists: Map<number, number[]>|null = null;

  constructor(readonly report: Report) {
    this.opOfRow = new Int32Array(report.count);
    this.errors = rowErrors(report);
    this.collectOps();
  }

  // The side that names a row: the target where there is one.
  opName(row: number): string { return this.report.text("op", row) || this.report.text("golden_op", row); }
  tensorName(row: number): string {
    return this.report.text("tensor", row) || this.report.text("golden_tensor", row);
  }

  // Ops whose outputs an op read, and with which rows.
  producers(op: number): {op: number, row: number}[] {
    const from = this.report.integer("producer"), found: {op: number, row: number}[] = [];
    for (let row = this.ops[op]!.first; row < this.ops[op]!.end; ++row)
      if (from[row]! >= 0) found.push({op: this.opOfRow[from[row]!]!, row: from[row]!});
    return found;
  }
  consumers(op: number): {op: number, row: number}[] {
    const all = this.consumerRows(), found: {op: number, row: number}[] = [];
    for (let row = this.ops[op]!.first; row < this.ops[op]!.end; ++row)
      for (const reader of all.get(row) ?? []) found.push({op: this.opOfRow[reader]!, row});
    return found;
  }

  private consumerRows(): Map<number, number[]> {
    if (this.consumerLists) return this.consumerLists;
    const from = this.report.integer("producer"), lists = new Map<number, number[]>();
    for (let row = 0; row < from.length; ++row) {
      if (from[row]! < 0) continue;
      const list = lists.get(from[row]!);
      if (list)
        list.push(row);
      else
        lists.set(from[row]!, [row]);
    }
    return this.consumerLists = lists;
  }

  private collectOps(): void {
    const {report} = this, pair = report.integer("op_pair"), lanes = new Map<string, number>();
    for (let row = 0; row < report.count; ++row) {
      if (row === 0 || pair[row] !== pair[row - 1]) this.startOp(row, lanes);
      const op = this.ops[this.ops.length - 1]!;
      this.opOfRow[row] = op.index;
      op.end = row + 1;
    }
    for (const op of this.ops) this.measureOp(op);
  }

  private startOp(row: number, lanes: Map<string, number>): void {
    const {report} = this;
    const step = report.integer("step")[row]!, rank = report.integer("rank")[row]!, key = step + "/" + rank;
    let lane = lanes.get(key);
    if (lane === undefined) {
      lane = this.lanes.length;
      lanes.set(key, lane);
      this.lanes.push({step, rank, ops: []});
    }
    const index = this.ops.length, list = this.lanes[lane]!.ops;
    this.ops.push({
      index,
      first: row,
      end: row,
      name: this.opName(row),
      module: report.text("module", row),
      step,
      rank,
      lane,
      place: list.length,
      verdict: SKIP,
      cause: 0,
      error: NaN
    });
    list.push(index);
  }

  private measureOp(op: Op): void {
    const verdict = this.report.integer("verdict"), cause = this.report.integer("cause");
    const rank = (c: number) => c === CULPRIT ? 3 : c === INHERITED ? 2 : c === ROUNDING ? 1 : 0;
    let hasOutput = false;
    for (let row = op.first; row < op.end; ++row) {
      op.verdict = Math.max(op.verdict, verdict[row]!);
      if (rank(cause[row]!) > rank(op.cause)) op.cause = cause[row]!;
      const output = this.tensorName(row).startsWith("output"), error = this.errors[row]!;
      if (Number.isNaN(error)) continue;
      // Outputs speak for an op; inputs only where no output was measured, or where one of them is the
      // culprit.
      if (cause[row] === CULPRIT || output && !hasOutput)
        op.error = error;
      else if (output === hasOutput && !(error <= op.error))
        op.error = error;
      hasOutput = hasOutput || output;
    }
  }
}

export function rowErrors(report: Report): Float64Array {
  const errors = new Float64Array(report.count).fill(NaN);
  const columns = ERRORS.map((name) => report.metric(name)).filter((c): c is NumberColumn => c !== null);
  const verdict = report.integer("verdict"), flags = report.integer("flags");
  for (let row = 0; row < errors.length; ++row) {
    let worst = -1;
    for (const column of columns) {
      if (!column.has(row)) continue;
      const size = Math.abs(column.value(row));
      worst = Number.isNaN(size) ? Infinity : Math.max(worst, size);
    }
    if (worst >= 0)
      errors[row] = worst;
    else if (flags[row]! & BIT_IDENTICAL)
      errors[row] = 0;
    else if (flags[row]! & TENSOR && verdict[row]! >= WARNING)
      errors[row] = Infinity;
  }
  return errors;
}

// "layers.12" from a module or op name; empty where there is none.
export function layerOf(op: Op): string {
  for (const name of [op.module, op.name]) {
    const found = /(?:^|[._/])((?:layers?|blocks?|h|decoder|encoder)[._]?\d+)(?=[._/]|$)/i.exec(name);
    if (found) return found[1]!;
  }
  return "";
}

// "Torch.matmul" from "Torch.matmul.2.forward": a name without its call number.
export function kindOf(name: string): string {
  const plain = name.replace(/\.(forward|backward)(\.\d+)?$/, "").replace(/\.\d+$/, "");
  return plain.split("/").pop()! || name;
}

// Where an op stands in the tree: ["layers", "0", "attn"] and then its own name.
export function treePath(op: Op): string[] {
  const isModule = op.name.startsWith("Module.") || op.name.startsWith("Cell.");
  const name = isModule ? op.name : op.module;
  if (name === "") return op.name.includes("/") ? op.name.split("/") : [kindOf(op.name), op.name];
  const parts = name.replace(/^(Module|Cell)\./, "")
                    .replace(/\.(forward|backward)(\.\d+)?$/, "")
                    .split(/[./]/)
                    .filter((part) => part !== "");
  return isModule ? parts : [...parts, op.name];
}
