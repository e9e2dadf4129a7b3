#include "guide/guide_texts.hpp"

#include <array>

namespace ulpscope {
namespace {

const std::array<GuideSymptom, 5>& symptom_table() {
  static const std::array<GuideSymptom, 5> kTable = {{
      {"garbled",
       {"replacement characters, <unk>, mojibake, control bytes, or a foreign language in the middle",
        "替换字符、<unk>、乱码、控制字节，或中间突然出现外语"},
       {"anomaly", "anomaly"}},
      {"repetition",
       {"stuck on one passage, the same or nearly the same text again and again",
        "卡在一段内容上，反复输出相同或几乎相同的文本"},
       {"anomaly", "anomaly"}},
      {"incoherent",
       {"locally fluent, no overall logic, a broken chain of reasoning", "局部通顺，整体无逻辑，推理链断裂"},
       {"a person; badcase lists such outputs when they are also wrong",
        "由人判断；答案也错时 badcase 会列出"}},
      {"inconsistent",
       {"the same request gives very different outputs on several tries", "同一请求多次结果差异很大"},
       {"anomaly --repeats, first-token-diff --runs", "anomaly --repeats, first-token-diff --runs"}},
      {"accuracy_drop",
       {"a data set scores lower than golden", "数据集得分低于标杆"},
       {"badcase", "badcase"}},
  }};
  return kTable;
}

const BothLanguages& group(int index) {
  static const std::array<BothLanguages, 5> kGroups = {{{"model configuration", "模型配置"},
                                                        {"model structure", "模型结构"},
                                                        {"operator arguments", "算子入参"},
                                                        {"operator implementation", "算子实现"},
                                                        {"environment", "环境"}}};
  return kGroups[static_cast<size_t>(index)];
}

const std::array<GuideCause, 8>& cause_table() {
  static const std::array<GuideCause, 8> kTable = {{
      {group(0),
       {"wrong or damaged weights (embedding, linear, layer norm, lm_head)",
        "权重错误或损坏（embedding、linear、layer norm、lm_head）"},
       {"garbage from the first token", "从第一个 token 起就是乱码"},
       {"config-check weights", "config-check 权重"}},
      {group(0),
       {"padding side, pad/eos/bos ids, maximum length, rope settings",
        "padding 方向、pad/eos/bos id、最大长度、rope 设置"},
       {"early stop, no stop, drift with length", "提前结束、不结束、随长度漂移"},
       {"config-check model, generation and tokenizer files", "config-check 模型、生成与分词器文件"}},
      {group(1),
       {"wrong code of the model", "模型代码错误"},
       {"unordered words of one language, nonsense, no output", "同一语言的词语无序、胡言乱语、无输出"},
       {"L0 or mix dump of the prefill, first layer that differs",
        "prefill 的 L0 或 mix dump，第一个有差异的层"}},
      {group(2),
       {"wrong attention mask", "attention mask 错误"},
       {"no word salad, sometimes a right answer, but floods of blanks and never equal to golden "
        "(whitespace_flood)",
        "不是乱码，有时正确，但大量空白，且从不与标杆一致（whitespace_flood）"},
       {"dump attention inputs", "dump attention 的输入"}},
      {group(2),
       {"wrong rotary factors", "旋转位置编码因子错误"},
       {"unordered output at once", "立即输出无序内容"},
       {"dump the rotary inputs of layer 0", "dump 第 0 层的 rotary 输入"}},
      {group(3),
       {"post-processing (sampling) operator", "后处理（采样）算子"},
       {"greedy is right; with sampling it repeats or behaves like greedy",
        "greedy 正确；采样时重复，或表现得像 greedy"},
       {"rerun with temperature 0, compare", "以 temperature 0 重跑并比较"}},
      {group(3),
       {"operator right alone, wrong in the model: memory overwritten, registers not reset",
        "算子单独正确、在模型中错误：内存踩踏、寄存器未复位"},
       {"runs of one question differ although determinism is on", "打开确定性后同一问题多次结果仍不同"},
       {"first-token-diff --runs; then launch blocking: if the fault goes, suspect overlap of streams",
        "first-token-diff --runs；再用同步下发：若故障消失，怀疑流间重叠"}},
      {group(4),
       {"another machine, CPU architecture, driver, CANN, library version",
        "机器、CPU 架构、驱动、CANN、库版本不同"},
       {"right on one machine only", "只在一台机器上正确"},
       {"config-check", "config-check"}},
  }};
  return kTable;
}

const std::array<BothLanguages, 6>& checklist_table() {
  static const std::array<BothLanguages, 6> kTable = {{
      {"hyper-parameters and environment variables of the two launches (scripts and logs)",
       "两侧启动的超参与环境变量（脚本与日志）"},
      {"versions: MindIE, vLLM, vllm-ascend, transformers, torch, torch_npu, CANN, ATB, driver",
       "版本：MindIE、vLLM、vllm-ascend、transformers、torch、torch_npu、CANN、ATB、驱动"},
      {"inputs: the prompt and the prompt token ids as the engine got them (chat template applied)",
       "输入：引擎实际收到的 prompt 与 prompt token ids（已套用 chat template）"},
      {"the model configuration as the engine printed it (llm.llm_engine.model_config; readable from v0.9.0 "
       "on), not only the file",
       "引擎打印的模型配置（llm.llm_engine.model_config，v0.9.0 起可读），不只看文件"},
      {"weights: content, not statistics", "权重：比内容，不比统计量"},
      {"sampling parameters per request; up to v0.7 generation_config is not used, from v0.8.0 it applies "
       "where a request "
       "does not set a value; V0 has prefix caching and chunked prefill off, V1 on; log-probabilities in V1 "
       "are taken "
       "before temperature and penalties, in V0 after",
       "每个请求的采样参数；v0.7 及以前不使用 generation_config，v0.8.0 起请求未设置的值取自它；V0 "
       "默认关闭前缀缓存与分块 "
       "prefill，V1 默认打开；V1 的 logprobs 取自温度与惩罚之前，V0 取自之后"},
  }};
  return kTable;
}

const std::array<GuideStep, 10>& step_table() {
  static const std::array<GuideStep, 10> kTable = {{
      {1, {"see which class the outputs belong to", "判断输出属于哪类现象"}, "anomaly"},
      {2,
       {"pick a case: golden right, problem wrong, stable", "选用例：标杆对、问题侧错、可稳定复现"},
       "badcase"},
      {3, {"align configuration and inputs", "对齐配置与输入"}, "config-check"},
      {4,
       {"fix randomness, run golden and problem twice each; each side must equal itself",
        "固定随机性，两侧各跑两次；每侧须与自身一致"},
       "first-token-diff --runs"},
      {5,
       {"first differing token position k; near tie or hard",
        "首个差异 token 的位置 k；近似并列还是确定差异"},
       "first-token-diff"},
      {6,
       {"find where to collect for this engine and launch mode", "找到该引擎与启动方式的采集位置"},
       "guide"},
      {7,
       {"run with the step ledger only, to learn which step makes token k on each side",
        "只开步账本运行，得知每侧哪一步产生 token k"},
       "instrument --ledger-only"},
      {8,
       {"dump that step on both sides: level mix, statistics first, then tensor for the suspect range",
        "两侧 dump 该步：level mix，先 statistics，再对可疑范围 tensor"},
       "guide --emit-config"},
      {9,
       {"compare; the first call with aligned inputs and a large output difference is the suspect",
        "比对；输入对齐而输出差异大的第一个调用即为嫌疑"},
       "compare"},
      {10,
       {"repeat the suspect operator alone with the dumped inputs", "用 dump 的输入单独重放嫌疑算子"},
       "replay"},
  }};
  return kTable;
}

}  // namespace

std::span<const GuideSymptom> symptoms() { return symptom_table(); }
std::span<const GuideCause> causes() { return cause_table(); }
std::span<const BothLanguages> checklist() { return checklist_table(); }
std::span<const GuideStep> procedure() { return step_table(); }

}  // namespace ulpscope
