// The logic of the page without a browser: unpacking, errors, filters, sorting, limits, flow, texts.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import test from "node:test";

import {ApiModel, emptyApiFilter, filterCalls, sortCalls} from "../src/api_model.ts";
import {AnyHead, ApiHead, Head, integersOf, LocateHead, numbersOf, Report} from "../src/data.ts";
import {visible} from "../src/dom.ts";
import {changedRows, emptyFilter, filterRows, Limit, sortRows, verdictUnder} from "../src/filter.ts";
import {flowAround} from "../src/graph.ts";
import {heat} from "../src/heatmap.ts";
import {culprits, path, placeOfStage} from "../src/locate_model.ts";
import {emptyOperatorFilter, filterOperators, sortOperators} from "../src/locate_table.ts";
import {CULPRIT, kindOf, layerOf, Model, Op, treePath} from "../src/model.ts";
import {nearOne, number, sentence, setLanguage, t} from "../src/text.ts";

// A report that the program wrote: two ops, of which the second reads the first.
function reportOf<H extends AnyHead = Head>(path: string): Report<H> {
  const html = readFileSync(path, "utf8");
  return new Report<H>((name) => new RegExp(`id="block-${name}">([^<]*)<`).exec(html)![1]!);
}
const folder = process.env["ULPSCOPE_PAGE_SAMPLES"]!;
const flowing = () => new Model(reportOf(folder + "/flow.html"));

test("integers are differences in planes of bytes", () => {
  // 5, 3, -1, 70000 are the differences 5, -2, -4, 70001 = 0x11171.
  const planes = [5, 254, 252, 0x71, 0, 255, 255, 0x11, 0, 255, 255, 1, 0, 255, 255, 0];
  assert.deepEqual([...integersOf(Uint8Array.from(planes), 4)], [5, 3, -1, 70000]);
});

test("numbers: a half, an absent one and an infinity in four planes", () => {
  // 0x3fe00000, 0xffffffff, 0x7ff00000, highest bytes first
  const column =
      numbersOf(Uint8Array.from([0x3f, 0xff, 0x7f, 0xe0, 0xff, 0xf0, 0, 0xff, 0, 0, 0xff, 0]), 3, 4, false);
  assert.equal(column.value(0), 0.5);
  assert.equal(column.has(1), false);
  assert.equal(column.value(2), Infinity);
});

test("a measured NaN is there, and near one is the distance from one", () => {
  const column = numbersOf(Uint8Array.from([0x7f, 0x3f, 0xf8, 0xd0, 0, 0, 0, 0]), 2, 4, true);
  assert.equal(column.has(0), true);
  assert.ok(Number.isNaN(column.value(0)));
  assert.equal(column.value(1), 0.75);
});

test("a report of the program: head, rows, texts", () => {
  const model = flowing();
  assert.equal(model.report.head.localisation.verdict, "compute_fault");
  assert.equal(model.report.count, 4);
  assert.deepEqual(
      model.ops.map((op) => [op.name, op.first, op.end]),
      [["Torch.matmul.0.forward", 0, 2], ["Torch.relu.0.forward", 2, 4]]);
  assert.equal(model.tensorName(3), "output.0");
  assert.equal(model.report.text("shape", 1), "[2, 5]");
  assert.deepEqual(model.report.histograms.get(1), {first: -7, zeros: 1, counts: [4, 5]});
});

test("an op has the error of its output, the culprit that of its row", () => {
  const model = flowing();
  assert.equal(model.ops[0]!.cause, CULPRIT);
  assert.equal(model.ops[0]!.error, 0.25);
  assert.equal(model.ops[1]!.error, 0.5);
});

test("data flow leads from producer to consumer", () => {
  const flow = flowAround(flowing(), 0, 2);
  assert.equal(flow.known, true);
  assert.deepEqual(flow.edges, [{from: 0, to: 1, row: 1}]);
  assert.equal(flow.nodes.get(1)!.column, 1);
});

test("filters: search in any text, verdict, cause", () => {
  const model = flowing();
  assert.deepEqual([...filterRows(model, {...emptyFilter(), search: "RELU out"})], [3]);
  assert.deepEqual([...filterRows(model, {...emptyFilter(), verdicts: new Set([3])})], [1, 3]);
  assert.deepEqual([...filterRows(model, {...emptyFilter(), cause: CULPRIT})], [1]);
  assert.deepEqual([...filterRows(model, {...emptyFilter(), rank: 7})], []);
});

test("sorting: numbers, texts, and rows without a number last", () => {
  const model = flowing(), all = filterRows(model, emptyFilter());
  assert.deepEqual([...sortRows(model, all, {column: "rel_l2", down: true})], [3, 1, 2, 0]);
  assert.deepEqual([...sortRows(model, all, {column: "rel_l2", down: false})], [2, 1, 3, 0]);
  assert.deepEqual([...sortRows(model, all, {column: "tensor", down: true})], [1, 3, 0, 2]);
});

test(
    "limits: a larger value fails, a smaller cosine fails, a NaN fails, without a metric nothing is said",
    () => {
      const {report} = flowing();
      const limit = (metric: string, value: number, least = false): Limit =>
          ({metric, value, least, on: true});
      assert.equal(verdictUnder(report, [limit("rel_l2", 0.3)], 1), 1);
      assert.equal(verdictUnder(report, [limit("rel_l2", 0.2)], 1), 3);
      assert.equal(verdictUnder(report, [limit("cosine", 0.99, true)], 1), 3);
      assert.equal(verdictUnder(report, [limit("rel_l2", 0.3)], 0), -1);
      assert.equal(verdictUnder(report, [{...limit("rel_l2", 0.2), on: false}], 1), -1);
      const changed = changedRows(report, [limit("rel_l2", 0.3)]);
      assert.deepEqual([[...changed.toFail], [...changed.toPass], changed.judged], [[], [1], 3]);
    });

test("hostile names are shown, not obeyed", () => {
  const model = new Model(reportOf(folder + "/hostile.html"));
  assert.equal(model.opName(0), "=cmd|' /C calc'!A0");
  assert.equal(visible("a\u202eb\u200bc\nd"), "a\\u202eb\\u200bc\\u000ad");
});

test("an empty run has nothing and breaks nothing", () => {
  const model = new Model(reportOf(folder + "/empty.html"));
  assert.equal(model.report.count, 0);
  assert.equal(filterRows(model, emptyFilter()).length, 0);
});

test("names: layers, kinds, places in the tree", () => {
  const op = (name: string, module = "") => ({name, module}) as Op;
  assert.equal(
      layerOf(op("Torch.matmul.2.forward", "Module.model.layers.12.attn.Attention.forward.0")), "layers.12");
  assert.equal(layerOf(op("Torch.matmul.2.forward")), "");
  assert.equal(kindOf("Torch.matmul.2.forward"), "Torch.matmul");
  assert.deepEqual(
      treePath(op("Torch.matmul.2.forward", "Module.layers.0.Linear.forward.1")),
      ["layers", "0", "Linear", "Torch.matmul.2.forward"]);
  assert.deepEqual(treePath(op("0_layer/1_attn")), ["0_layer", "1_attn"]);
});

test("numbers for people", () => {
  assert.equal(number(0.0297), "0.0297");
  assert.equal(number(1.23456e-7), "1.235e-7");
  assert.equal(number(-0), "-0");
  assert.equal(number(NaN), "NaN");
  assert.equal(number(1234567), "1\u2009234\u2009567");
  assert.equal(nearOne(3e-6), "1 - 3e-6");
  assert.equal(nearOne(0), "1");
  assert.equal(nearOne(0.25), "0.75");
});

test("heat: zero is cold, a millionth is warm, one and infinity are hot", () => {
  assert.deepEqual([heat(0), heat(1e-6), heat(1), heat(Infinity), heat(NaN)], [0, 3, 9, 9, 0]);
});

test("two languages", () => {
  setLanguage("zh");
  assert.equal(t("compute_fault"), "计算错误");
  assert.equal(
      sentence("steps 1, 2 are only in golden: their 272 rows were not compared"),
      "步骤 1, 2 仅标杆有：其 272 行未比较");
  assert.equal(
      sentence(
          "no recorded operation produced this input, and it differs; target reads here what golden reads as " +
          "input.1 of Functional.linear.1.forward, and there what golden reads here: the two were exchanged"),
      "没有已记录的算子产生该输入；目标在此读取标杆 Functional.linear.1.forward 的 input.1，在彼处读取标杆此处的值：两者被互换");
  assert.equal(
      sentence("inputs are bit-identical; output differs in 100 % of 50 elements"),
      "输入逐位相同；输出 50 个元素中 100 % 不同");
  setLanguage("en");
  assert.equal(t("truncated", "5"), "5 more are not shown");
});

const checked = (name = "check") => new ApiModel(reportOf<ApiHead>(folder + "/" + name + ".html"));

test("a check: calls with their rows; the worst output speaks for its call", () => {
  const model = checked();
  assert.deepEqual(
      model.calls.map((call) => [call.first, call.end, call.verdict, call.speaker]),
      [[0, 2, 1, 0], [2, 4, 3, 2], [4, 5, 2, 4], [5, 6, 1, 5], [6, 7, 0, 6]]);
  assert.equal(model.message(model.calls[1]!), "cosine is too low");
  assert.equal(model.message(model.calls[4]!), "random");
});

test("a check: filters by verdict, direction, judgement, words of any output", () => {
  const model = checked(),
        calls = (change: object) => [...filterCalls(model, {...emptyApiFilter(), ...change})];
  assert.deepEqual(calls({verdicts: new Set([3, 2])}), [1, 2]);
  assert.deepEqual(calls({direction: "backward"}), [1]);
  assert.deepEqual(calls({direction: "forward"}), [1, 2]);
  assert.deepEqual(calls({judgement: "ulp"}), [0, 1]);
  assert.deepEqual(calls({search: "matmul backward"}), [0, 1]);
  assert.deepEqual(calls({search: "random"}), [4]);
});

test("a check: sorting by a metric puts calls without it last, both ways", () => {
  const model = checked(), all = filterCalls(model, emptyApiFilter());
  assert.deepEqual([...sortCalls(model, all, {column: "max_abs_error", down: true})], [1, 2, 0, 3, 4]);
  assert.deepEqual([...sortCalls(model, all, {column: "max_abs_error", down: false})], [0, 2, 1, 3, 4]);
  assert.deepEqual([...sortCalls(model, all, {column: "api", down: false})], [3, 0, 1, 4, 2]);
  assert.deepEqual([...sortCalls(model, all, {column: "backward", down: true})], [1, 0, 2, 3, 4]);
});

test("a check: limits judge outputs by their own verdicts", () => {
  const {report} = checked();
  const changed = changedRows(report, [{metric: "cosine", least: true, value: 0.9995, on: true}], "verdict");
  assert.deepEqual([[...changed.toFail], [...changed.toPass], changed.judged], [[4], [], 5]);
});

test("two devices: a number has two sides, a ratio and a verdict", () => {
  const model = checked("precision");
  assert.ok(model.isPair);
  assert.deepEqual(model.plainMetrics(), ["rmse", "max_relative_error"]);
  assert.equal(model.report.metric("ratio.max_relative_error")!.value(0), 1000);
  assert.equal(model.numberStatus("max_relative_error", 0), 3);
  assert.equal(model.numberStatus("max_relative_error", 1), -1);
  assert.equal(model.numberStatus("cosine", 0), -1);
});

const located = () => reportOf<LocateHead>(folder + "/locate.html");

test("locate: the path says where the flow stands", () => {
  const {head} = located();
  assert.deepEqual(path(head).map((p) => p.state), ["wrong", "asked", "open", "open", "open", "open"]);
  const ended = {...head, ask: undefined, outcome: "cured_by_keep"};
  assert.deepEqual(path(ended).map((p) => p.state), ["wrong", "fault", "spare", "spare", "spare", "spare"]);
  assert.deepEqual(culprits(head).map((c) => c.op), ["enc/LayerNorm"]);
  assert.deepEqual(
      ["origin", "keep_12", "cache_off", "fusion_off", "data_check", "golden", "x"].map(placeOfStage),
      [1, 2, 3, 4, 5, 6, 0]);
});

test("locate: operators are filtered by words and inputs, and sorted by cosine", () => {
  const report = located(),
        rows = (change: object) => [...filterOperators(report, {...emptyOperatorFilter(), ...change})];
  assert.deepEqual(rows({}), [0, 1, 2]);
  assert.deepEqual(rows({inputs: "bad"}), [1]);
  assert.deepEqual(rows({search: "enc/k"}), [1]);
  assert.deepEqual(rows({step: 0}), []);
  const all = filterOperators(report, emptyOperatorFilter());
  assert.deepEqual([...sortOperators(report, all, {column: "cosine", down: false})], [1, 0, 2]);
});
