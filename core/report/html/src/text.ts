// Words of the page in English and Chinese, and numbers as people read them.

export type Language = "en"|"zh";

const WORDS: Record<string, [string, string]> = {
  finding: ["Finding", "结论"],
  curve: ["Error over execution order", "误差随执行顺序的变化"],
  map: ["Map", "热力图"],
  graph: ["Data flow", "数据流"],
  tree: ["Modules", "模块树"],
  table: ["Rows", "明细"],
  limits: ["Thresholds", "阈值试算"],
  diagnostics: ["Diagnostics", "诊断信息"],
  run: ["Run", "运行信息"],
  compute_fault: ["Compute fault", "计算错误"],
  input_fault: ["Input fault", "输入错误"],
  identical: ["Identical", "完全一致"],
  rounding: ["Rounding only", "仅舍入差异"],
  byRounding: ["rounding", "舍入"],
  opsCount: ["ops", "个算子"],
  opFails: ["op fails", "个算子失败"],
  opsFail: ["ops fail", "个算子失败"],
  structure_only: ["Structure differs", "仅结构不同"],
  inconclusive: ["Inconclusive", "无法定论"],
  pass: ["pass", "通过"],
  warning: ["warning", "警告"],
  fail: ["fail", "失败"],
  skip: ["skip", "跳过"],
  culprit: ["culprit", "根因"],
  inherited: ["inherited", "传播"],
  none: ["none", "无"],
  cause: ["cause", "原因"],
  certain: ["certain", "确定"],
  strong: ["strong", "较强"],
  weak: ["weak", "较弱"],
  confidence: ["confidence", "置信度"],
  step: ["step", "步"],
  rank: ["rank", "卡"],
  token: ["token", "token"],
  evidence: ["Evidence", "证据"],
  worst: ["Worst elements", "误差最大的元素"],
  index: ["index", "下标"],
  target: ["target", "目标"],
  golden: ["golden", "标杆"],
  reference: ["reference", "参考"],
  error: ["error", "误差"],
  stack: ["Call site", "调用栈"],
  next: ["Next step", "下一步"],
  copy: ["copy", "复制"],
  copied: ["copied", "已复制"],
  numbers: ["The numbers that decided", "判定依据的数值"],
  suspects: ["Suspects, most suspicious first", "可疑算子（由高到低）"],
  propagated: ["later tensors differ because of it", "个后续张量因此不同"],
  culprits: ["Culprits", "根因列表"],
  module: ["module", "模块"],
  op: ["op", "算子"],
  tensor: ["tensor", "张量"],
  verdict: ["verdict", "结论"],
  judged: ["judged", "单行判定"],
  message: ["message", "说明"],
  match: ["match", "匹配"],
  dtype: ["dtype", "类型"],
  shape: ["shape", "形状"],
  golden_op: ["golden op", "标杆算子"],
  golden_tensor: ["golden tensor", "标杆张量"],
  golden_dtype: ["golden dtype", "标杆类型"],
  golden_shape: ["golden shape", "标杆形状"],
  mode: ["mode", "数据来源"],
  judgement: ["judgement", "算法"],
  absent: ["absent", "缺失原因"],
  value: ["value", "值"],
  golden_value: ["golden value", "标杆值"],
  search: ["Search", "搜索"],
  columns: ["Columns", "列"],
  all: ["all", "全部"],
  reset: ["Reset", "重置"],
  rows: ["rows", "行"],
  of: ["of", "/"],
  clear: ["clear", "清除"],
  close: ["Close", "关闭"],
  previous: ["Previous", "上一行"],
  following: ["Next", "下一行"],
  showGraph: ["Data flow", "数据流"],
  statistics: ["Statistics", "统计量"],
  metrics: ["Metrics", "指标"],
  histogram: ["Errors by powers of two", "误差分布（按 2 的幂）"],
  histogramNone: ["no distribution was measured for this row", "该行没有测量误差分布"],
  zero: ["0", "0"],
  difference: ["difference", "差"],
  unreadable: ["unreadable", "不可读"],
  bitIdentical: ["both sides hold the same bytes", "两侧逐位相同"],
  more: ["more", "更多"],
  fewer: ["fewer", "更少"],
  levels: ["levels", "层数"],
  centre: ["centre", "居中"],
  flowUnknown: [
    "No data flow is known here: the calls before and after it in execution order",
    "此处数据流未知：显示执行顺序上的前后调用"
  ],
  partly: [
    "This page holds {0} of {1} rows: the worst and an even sample of the others. Counts are of the whole run; " +
        "all rows are in the other formats (ulpscope report DIR --format sqlite,csv).",
    "本页只含 {1} 行中的 {0} 行：最差的行和其余行的均匀抽样。计数为整个运行的计数；全部行见其他格式（ulpscope report DIR --format sqlite,csv）。"
  ],
  nothing: ["nothing to show", "没有内容"],
  byRank: ["by rank", "按卡"],
  byStep: ["by step", "按步"],
  lanesAll: ["all lanes", "全部"],
  dragZoom: ["drag to zoom, double click to reset, arrow keys to walk", "拖动缩放，双击还原，方向键移动"],
  limitsHelp: [
    "Move a limit: which rows would be judged otherwise by these limits alone",
    "移动阈值：仅按这些阈值，哪些行的判定会改变"
  ],
  toFail: ["would fail", "将失败"],
  toPass: ["would pass", "将通过"],
  judgedRows: ["rows have these metrics", "行有这些指标"],
  showRows: ["show rows", "显示行"],
  metadata: ["Run", "运行信息"],
  command: ["command", "命令"],
  version: ["version", "版本"],
  policy: ["policy", "策略"],
  path: ["path", "路径"],
  source: ["source", "来源"],
  task: ["task", "任务"],
  level: ["level", "级别"],
  ops: ["ops", "算子数"],
  tensors: ["tensors", "张量数"],
  pairs: ["pairs", "对"],
  only_target: ["only in target", "仅目标"],
  only_golden: ["only in golden", "仅标杆"],
  notices: ["Notices", "提示"],
  where: ["where", "位置"],
  severity: ["severity", "级别"],
  code: ["code", "代码"],
  theme: ["Light or dark", "明暗主题"],
  noDiagnostics: ["no diagnostics", "没有诊断信息"],
  placeMap: ["layer", "层"],
  worstFirst: ["worst first", "最差优先"],
  inOrder: ["in execution order", "按执行顺序"],
  truncated: ["{0} more are not shown", "另有 {0} 项未显示"],
  row: ["row", "行号"],
  hint: ["click a cell to filter the rows", "点击单元格筛选明细"],
  percentiles: ["percentiles", "分位数"],
  open: ["Open", "打开"],

  // locate
  path_: ["Path", "定位路径"],
  steps: ["Steps", "步骤"],
  operators: ["Operators that differ", "有差异的算子"],
  operatorsHelp: [
    "Good inputs and a bad output: the error arises there. Bad inputs: it came with them.",
    "输入正常而输出异常：误差在此产生。输入异常：误差由上游传入。"
  ],
  inputs: ["inputs", "输入"],
  input: ["input", "输入"],
  inputs_good: ["inputs good: arises here", "输入正常：误差在此产生"],
  inputs_bad: ["inputs bad: inherited", "输入异常：误差由上游传入"],
  inputs_unknown: ["inputs not compared", "输入未比对"],
  step_index: ["step", "步骤"],
  order: ["no.", "序号"],
  op_type: ["type", "类型"],
  original: ["original operators", "原图算子"],
  originals: ["fused from", "融合自"],
  compared: ["compared", "比对"],
  round: ["round {0}", "第 {0} 轮"],
  stage: ["stage", "阶段"],
  stageFile: ["stage file", "阶段文件"],
  fusionFile: ["fusion json", "融合 json"],
  opLimit: ["operator limit (cosine)", "算子阈值（余弦）"],
  accuracyLimit: ["accuracy limit (cosine)", "精度阈值（余弦）"],
  keepList: ["kept in high precision:", "保持高精度："],
  keptOps: ["kept in high precision", "保持高精度"],
  inKeepList: ["in the keep list", "在保持列表中"],
  finalCosine: ["final cosine", "最终余弦"],
  firstBelow: ["first operator of {0} with a cosine below {2}: {1}", "{0} 中第一个余弦低于 {2} 的算子：{1}"],
  firstDiffers: ["first:", "首个："],
  laterDiffer: ["{0} later operators differ", "之后另有 {0} 个算子有差异"],
  noneDiffers: ["no operator differs", "没有算子有差异"],
  showDiffering: ["Show operators that differ ({0})", "显示有差异的算子（{0}）"],
  met: ["accuracy met", "精度达标"],
  notMet: ["accuracy not met", "精度不达标"],
  byUser: ["said by you", "用户给出"],
  byGolden: ["computed", "计算得出"],
  cures: ["cures: at fault", "恢复正常：问题所在"],
  curesNot: ["does not cure", "未恢复"],
  dataRight: ["agrees", "一致"],
  dataWrong: ["differs: at fault", "不一致：问题所在"],
  listed: ["operators listed", "已列出算子"],
  equal: ["equal", "相等"],
  differs: ["differs", "不同"],
  place_spare: ["not needed", "不需要"],
  place_open: ["not reached", "尚未到达"],
  place_asked: ["needed next", "下一步需要"],
  place1: ["origin", "原始模型"],
  place2: ["high precision", "高精度"],
  place3: ["data cache off", "关闭数据缓存"],
  place4: ["fusion off", "关闭融合"],
  place5: ["data and configuration", "数据与配置"],
  place6: ["golden", "标杆"],
  goesTo: ["goes to", "下一步"],
  to_end: ["the end", "结束"],
  to_2a: ["S2a high precision", "S2a 高精度"],
  to_2b: ["S2b compare with high precision", "S2b 与高精度比对"],
  to_2d: ["S2d keep one operator more", "S2d 多保持一个算子"],
  to_3: ["S3 data cache off", "S3 关闭数据缓存"],
  to_3b: ["S3b compare with cache off", "S3b 与关闭缓存比对"],
  to_4: ["S4 fusion off", "S4 关闭融合"],
  to_4b: ["S4b compare with fusion off", "S4b 与关闭融合比对"],
  to_5: ["S5 data and configuration", "S5 数据与配置"],
  to_6: ["S6 golden", "S6 标杆"],
  to_contact_support: ["support", "联系技术支持"],
  end_met: ["Accurate: nothing to locate", "精度达标：无需定位"],
  end_cured_by_high_precision: ["Precision is at fault: high precision cures", "精度问题：高精度可恢复"],
  end_cured_by_keep: [
    "Operators at fault: {0} · cured by keeping them in high precision",
    "问题算子：{0} 个 · 保持高精度即可恢复"
  ],
  end_nothing_found: ["No operator found", "未找到算子"],
  end_no_progress: ["Keeping operators does not help", "保持算子高精度无效"],
  end_cache: ["The data cache is at fault", "数据缓存有问题"],
  end_fusion: ["Operator fusion is at fault", "算子融合有问题"],
  end_data: ["Data or configuration is at fault", "数据或配置有问题"],
  end_golden_compared: ["Operators differ from golden", "算子与标杆不一致"],
  end_asked: ["The next build is needed", "需要下一个构建"],
  do_met: ["Nothing.", "无。"],
  do_cured_by_high_precision: ["Build with high precision and keep it.", "使用高精度构建。"],
  do_cured_by_keep: [
    "Build with the keep list above: --keep_dtype=exceptionlist.cfg, one operator a line.",
    "按上面的保持列表构建：--keep_dtype=exceptionlist.cfg，每行一个算子。"
  ],
  do_nothing_found: [
    "No operator is below the limit and the result is still wrong: try a higher op_limit, or the stage cache_off.",
    "没有算子低于阈值而结果仍不正确：提高 op_limit，或尝试 cache_off 阶段。"
  ],
  do_no_progress: [
    "Keeping had no effect: the notes of the steps say whether the operator really ran in float32, and what is stronger.",
    "保持无效：步骤中的说明指出算子是否真正以 float32 运行，以及更强的手段。"
  ],
  do_cache: [
    "Send the operators and the logs to support; keep the cache on after the fix.",
    "将算子列表和日志发给技术支持；修复后保持缓存开启。"
  ],
  do_fusion: [
    "Send the operators and the logs to support; keep fusion on after the fix.",
    "将算子列表和日志发给技术支持；修复后保持融合开启。"
  ],
  do_data: [
    "Correct input, AIPP or post-processing and run again: stage data_checked.",
    "修正输入、AIPP 或后处理后重新运行：data_checked 阶段。"
  ],
  do_golden_compared: [
    "Send the operators, the logs and graph dumps (DUMP_GE_GRAPH, DUMP_GRAPH_LEVEL) to support.",
    "将算子列表、日志和图 dump（DUMP_GE_GRAPH、DUMP_GRAPH_LEVEL）发给技术支持。"
  ],

  // check and precision-compare
  checkTitle: ["API check", "API 精度预检"],
  precisionTitle: ["Two devices compared", "API 精度比对"],
  calls: ["Calls", "API 调用"],
  callsCount: ["calls", "个调用"],
  api: ["API", "API"],
  forward: ["forward", "前向"],
  backward: ["backward", "反向"],
  output: ["output", "输出"],
  outputs: ["outputs", "输出数"],
  device_dtype: ["device dtype", "设备类型"],
  inError: ["error", "错误"],
  notPassing: ["not passing", "未通过"],
  judgements: ["Judgements", "判定算法"],
  judgementsHelp: ["Outputs by the algorithm that measured them", "按测量算法统计的输出个数"],
  skipReasons: ["Why calls were skipped", "跳过原因"],
  noReason: ["other reasons", "其他原因"],
  callsInError: ["{0} of {1} calls in error", "{1} 个调用中 {0} 个错误"],
  callsWarn: ["{0} of {1} calls with a warning", "{1} 个调用中 {0} 个警告"],
  allPass: ["No error in {0} calls that were judged", "{0} 个已判定的调用没有错误"],
  nothingChecked: ["No call could be judged", "没有可判定的调用"],
  alsoWarn: ["{0} with a warning", "{0} 个警告"],
  sampleCall: ["shown best by", "典型调用"],
  worstNumber: ["worst number:", "最差指标："],
  against: ["against", "对"],
  ratio: ["ratio", "比值"],
  showCalls: ["Show its calls", "显示其调用"],
  otherApis: ["Other APIs with errors or warnings", "其他有错误或警告的 API"],
  couldNotCheck: [
    "{0} could not be checked: data that should be there is missing or unreadable",
    "{0} 个无法检查：应有的数据缺失或不可读"
  ],
  partlyCalls: [
    "This page holds {0} of {1} calls: those in error first, then warnings and an even sample of the others. " +
        "Counts are of the whole run; all calls are in the tables beside it.",
    "本页只含 {1} 个调用中的 {0} 个：先是错误，再是警告和其余的均匀抽样。计数为整个运行的计数；全部调用见同目录的表格。"
  ],
  dump: ["dump", "数据"],
  device: ["device", "设备"],
  deviceTable: ["device table", "设备结果表"],
  referenceTable: ["reference table", "参考结果表"],
  seed: ["seed", "随机种子"],
  metric: ["metric", "指标"],
  noNumbers: ["no number was measured", "没有测量数值"],
  limitsOf: ["What the numbers are held against", "判定标准"],
  limitsCheck: [
    "Pass: cosine above 0.99, and the largest error below 0.001 or nearly all relative errors below 1e-3 " +
        "(16-bit types) or 1e-4 (float32). Warning: below 1e-2 or 1e-3 only. Integers and bools must be equal.",
    "通过：余弦大于 0.99，且最大绝对误差小于 0.001，或几乎所有相对误差小于 1e-3（16 位类型）或 1e-4（float32）。" +
        "警告：仅小于 1e-2 或 1e-3。整数和布尔必须相等。"
  ],
  limitsPair: [
    "Each number has the verdict of the algorithm above, with the limits of the policy of this run " +
        "(ulpscope policy explain API); the message names the limit that was passed over.",
    "每个数值按上述算法和本次运行策略的阈值判定（ulpscope policy explain API）；说明中给出被超过的阈值。"
  ],
};

let language: Language = "en";
export function setLanguage(next: Language): void { language = next; }
export const currentLanguage = (): Language => language;

export function t(key: string, ...values: string[]): string {
  const words = WORDS[key];
  const text = words ? words[language === "zh" ? 1 : 0] : key;
  return values.reduce((all, value, i) => all.replace("{" + i + "}", () => value), text);
}

// Sentences of the report that the page knows in Chinese; others stay as they are.
const SENTENCES: [RegExp, string][] = [
  [
    /^inputs are bit-identical; output differs in (.+) of (.+) elements$/,
    "输入逐位相同；输出 $2 个元素中 $1 不同"
  ],
  [
    /^inputs are equal in every element; output differs in (.+) of (.+) elements$/,
    "输入所有元素相等；输出 $2 个元素中 $1 不同"
  ],
  [/^inputs agree; output differs in (.+) of (.+) elements$/, "输入一致；输出 $2 个元素中 $1 不同"],
  [/^inputs have equal statistics$/, "输入的统计量相等"],
  [/^output differs in (.+) of (.+) elements$/, "输出 $2 个元素中 $1 不同"],
  [/^it differs in (.+) of (.+) elements$/, "$2 个元素中 $1 不同"],
  [/^called from (.+)$/, "调用位置 $1"],
  [/^in module (.+)$/, "所在模块 $1"],
  [
    /^max_abs_err (\S+) at (\S+): target (\S+), golden ([^;]+); cosine (.+)$/,
    "最大绝对误差 $1，位于 $2：目标 $3，标杆 $4；余弦 $5"
  ],
  [
    /^max_abs_err (\S+) at (\S+): target (\S+), golden ([^;]+)$/,
    "最大绝对误差 $1，位于 $2：目标 $3，标杆 $4"
  ],
  [/^inputs are bit-identical; output differs in its only element$/, "输入逐位相同；输出唯一的元素不同"],
  [/^output differs in its only element$/, "输出唯一的元素不同"],
  [
    /^no recorded operation produced this input, and it differs$/,
    "没有已记录的算子产生该输入，且其值不同"
  ],
  [
    /^no recorded operation produced this input, and it differs by more than rounding$/,
    "没有已记录的算子产生该输入，且差异超出舍入"
  ],
  [
    /^no recorded .+; target reads here what golden reads as (\S+) of (.+), and there what golden reads here.+$/,
    "没有已记录的算子产生该输入；目标在此读取标杆 $2 的 $1，在彼处读取标杆此处的值：两者被互换"
  ],
  [
    /^no recorded .+; target reads here what golden reads as (\S+) of (.+)$/,
    "没有已记录的算子产生该输入；目标在此读取标杆 $2 的 $1"
  ],
  [
    /^steps? (.+) (?:is|are) only in target: (?:its|their) (.*?) ?rows? w(?:as|ere) not compared$/,
    "步骤 $1 仅目标有：其 $2 行未比较"
  ],
  [
    /^steps? (.+) (?:is|are) only in golden: (?:its|their) (.*?) ?rows? w(?:as|ere) not compared$/,
    "步骤 $1 仅标杆有：其 $2 行未比较"
  ],
  [
    /^ranks? (.+) (?:is|are) only in target: (?:its|their) (.*?) ?rows? w(?:as|ere) not compared$/,
    "rank $1 仅目标有：其 $2 行未比较"
  ],
  [
    /^ranks? (.+) (?:is|are) only in golden: (?:its|their) (.*?) ?rows? w(?:as|ere) not compared$/,
    "rank $1 仅标杆有：其 $2 行未比较"
  ],
  [
    /^tie: (.+): golden's values at the indexes (\S+) and (\S+) are both (\S+): a tie, either may be taken$/,
    "并列：$1：标杆在下标 $2 和 $3 处的值都是 $4，取哪个都可以"
  ],
  [
    /^tie: (.+): golden's values at the indexes (\S+) and (\S+) are (\S+) and (\S+), nearer .+: a tie$/,
    "并列：$1：标杆在下标 $2 和 $3 处的值为 $4 和 $5，相差小于舍入所能造成的变化"
  ],
  [/^nearly all of the error is at (.+)$/, "误差几乎都在 $1"],
  [
    /^values differ, and the number formats in use explain every difference; no operation is at fault$/,
    "数值不同，但所有差异都可由所用数值格式解释；没有出错的算子"
  ],
  [/^the elements of every matched tensor are equal$/, "所有匹配张量的元素均相等"],
  [/^all checksums are equal$/, "所有校验值相等"],
  [
    /^values agree; calls were added, removed, reordered or renamed$/,
    "数值一致；有调用被增加、删除、重排或改名"
  ],
  [
    /^what is recorded does not show an operation at fault, nor that there is none$/,
    "已记录的内容既不能说明有出错的算子，也不能说明没有"
  ],
];
export function sentence(text: string): string {
  if (language !== "zh") return text;
  for (const [pattern, chinese] of SENTENCES)
    if (pattern.test(text)) return text.replace(pattern, chinese);
  return text;
}

// Four significant digits; counts whole, with spaces between thousands.
export function number(value: number|string|null|undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  if (Object.is(value, -0)) return "-0";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return count(value);
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e6 ? String(Number(value.toPrecision(4))) :
                                      value.toExponential(3).replace(/\.?0+e/, "e");
}
export function count(value: number): string {
  const digits = String(Math.abs(value));
  return (value < 0 ? "-" : "") + (digits.length < 5 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, "\u2009"));
}
// Near 1 the distance from 1 is what counts.
export function nearOne(distance: number): string {
  if (!Number.isFinite(distance)) return number(distance);
  if (distance === 0) return "1";
  return Math.abs(distance) >= 1e-3 ? String(Number((1 - distance).toPrecision(6))) :
                                      "1 - " + number(distance);
}
