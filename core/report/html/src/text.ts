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
