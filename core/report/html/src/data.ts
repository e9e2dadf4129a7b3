// Reads the blocks that core/report/page_data.hpp describes. Columns are unpacked when they are first asked
// for.
import {unzlibSync} from "fflate";

export interface Side {
  path: string;
  source: string;
  task: string;
  level: string;
  ops: number;
  tensors: number
}
export interface Worst {
  index: number[];
  target: number|string;
  golden: number|string
}
export interface Culprit {
  op: string;
  tensor: string;
  kind: string;
  step: number|null;
  rank: number|null;
  token?: number;
  confidence: string;
  module: string|null;
  stack: string[];
  evidence: Record<string, number|string>;
  next: string[];
  worst: Worst[];
}
export interface Told {
  rows: number[];
  sentences: string[][]
}
export interface Diagnostic {
  severity: string;
  code: string;
  where: string;
  text: string
}
export interface ColumnInfo {
  name: string;
  kind: "integer"|"number";
  planes?: number;
  near_one?: boolean
}
// What the header of every kind of report has.
export interface AnyHead {
  schema: string;
  version: string;
  page: {
    rows: number,
    texts: string[],
    histograms: [number, number, number, number[]][],
    columns: ColumnInfo[],
  };
}
export interface Head extends AnyHead {
  command: string[];
  target: Side;
  golden: Side;
  reference: Side|null;
  policy: {file: string|null, profile: string, hash: string};
  summary: Record<string, number>;
  localisation:
      {verdict: string, culprits: Culprit[], suspects: Culprit[], propagated: number, notes: string[]};
  notices: string[];
  diagnostics: Diagnostic[];
  page: AnyHead["page"]&{
    all_rows: number,
    sentences: string[],
    culprits: Told,
    suspects: Told,
  };
}

// Of check and precision-compare (core/report/api_page.cpp).
export interface ApiGroup {
  api: string;
  calls: number;
  error: number;
  warning: number;
  call: string;
  direction: string;
  output: string;
  judgement: string;
  dtype: string;
  shape: string;
  message: string;
  metric: string;
  value?: number|string;
  reference?: number|string;
  ratio?: number|string;
  next: string;
}
export interface ApiHead extends AnyHead {
  command: string[];
  notices: string[];
  dump: string;
  device: string;
  reference: string;
  policy: string;
  seed: number;
  summary: Record<string, number>;
  page: AnyHead["page"]&{
    all_calls: number,
    calls: number,
    all_groups: number,
    groups: ApiGroup[],
    judgements: [string, number, number, number, number][],
    reasons: [string, number][],
  };
}

// Of locate (core/report/locate_page.cpp).
export interface LocateStep {
  step: string;
  stage: string;
  next: string;
  met_by: string;
  mine: string;
  reference: string;
  round: number;
  final_cosine?: number|string;
  met: boolean|null;
  keep_list: string[];
  notes: string[];
  first?: {
    op: string,
    op_type: string,
    inputs: string,
    output: number,
    cosine?: number|string, original_ops: string[]
  };
  inputs:
      {name: string, problem: string, equal: boolean, cosine?: number|string, max_abs_err?: number|string}[];
  differing: number;
}
export interface LocateHead extends AnyHead {
  outcome: string;
  stage_file: string;
  golden: string;
  keep_list: string[];
  op_limit?: number;
  accuracy_limit?: number;
  stages: {name: string, dump: string, fusion: string, keep: string[]}[];
  steps: LocateStep[];
  ask?: {
    stage: string,
    question: string,
    folder: string,
    options: string[],
    removed_options: string[],
    files: string[],
    keep: string[],
    instructions: string[]
  };
  page: AnyHead["page"]&{all_rows: number, next: string[]};
}

// Numbers of one metric. A value is NaN where the metric is NaN and where there is none: has tells them
// apart.
export class NumberColumn {
  constructor(readonly values: Float64Array, readonly absent: Uint8Array, readonly nearOne: boolean) {}
  has(row: number): boolean { return this.absent[row] === 0; }
  value(row: number): number { return this.nearOne ? 1 - this.values[row]! : this.values[row]!; }
}

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}
export const unpack = (base64: string): Uint8Array => unzlibSync(bytesOf(base64));

export function integersOf(bytes: Uint8Array, count: number): Int32Array {
  const values = new Int32Array(count);
  let before = 0;
  for (let i = 0; i < count; ++i) {
    const step =
        bytes[i]! | bytes[count + i]! << 8 | bytes[2 * count + i]! << 16 | bytes[3 * count + i]! << 24;
    values[i] = before = (before + step) | 0;
  }
  return values;
}

export function numbersOf(bytes: Uint8Array, count: number, planes: number, nearOne: boolean): NumberColumn {
  const values = new Float64Array(count), absent = new Uint8Array(count);
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < count; ++i) {
    for (let plane = 0; plane < planes; ++plane) view.setUint8(plane, bytes[plane * count + i]!);
    // All bits set is a NaN that no arithmetic makes.
    absent[i] = view.getUint32(0) === 0xffffffff ? 1 : 0;
    values[i] = absent[i] ? NaN : view.getFloat64(0);
  }
  return new NumberColumn(values, absent, nearOne);
}

export class Report<H extends AnyHead = Head> {
  readonly head: H;
  readonly count: number;
  readonly texts: string[];
  readonly metricNames: string[];
  readonly histograms = new Map<number, {first: number, zeros: number, counts: number[]}>();
  private readonly integers = new Map<string, Int32Array>();
  private readonly numbers = new Map<string, NumberColumn>();

  // block: the base64 text of a block by its name, "header" or the number of a column.
  constructor(private readonly block: (name: string) => string) {
    this.head = JSON.parse(new TextDecoder().decode(unpack(block("header")))) as H;
    this.count = this.head.page.rows;
    this.texts = this.head.page.texts;
    this.metricNames = this.head.page.columns.filter((c) => c.kind === "number").map((c) => c.name);
    for (const [row, first, zeros, counts] of this.head.page.histograms)
      this.histograms.set(row, {first, zeros, counts});
  }

  integer(name: string): Int32Array {
    let found = this.integers.get(name);
    if (!found) {
      found = integersOf(this.unpacked(name, "integer").bytes, this.count);
      this.integers.set(name, found);
    }
    return found;
  }
  // Null where no row of the page has the metric.
  metric(name: string): NumberColumn|null {
    if (!this.metricNames.includes(name)) return null;
    let found = this.numbers.get(name);
    if (!found) {
      const {bytes, info} = this.unpacked(name, "number");
      found = numbersOf(bytes, this.count, info.planes ?? 8, info.near_one === true);
      this.numbers.set(name, found);
    }
    return found;
  }
  text(name: string, row: number): string {
    const number = this.integer(name)[row]!;
    return number < 0 ? "" : this.texts[number]!;
  }
  private unpacked(name: string, kind: string): {bytes: Uint8Array, info: ColumnInfo} {
    const place = this.head.page.columns.findIndex((c) => c.name === name && c.kind === kind);
    if (place < 0) throw new Error("no column " + name);
    return {bytes: unpack(this.block(String(place))), info: this.head.page.columns[place]!};
  }
}

export type AnyReport = Report<AnyHead>;
