#include "guide/guide_rules.hpp"

#include <algorithm>

namespace ulpscope {
namespace {

class Rules {
 public:
  Rules(const GuideRequest& request, const AnchorTable& table, CollectGuide& guide)
      : request_(request), table_(table), guide_(guide) {}

  void apply() {
    check_engine();
    check_graphs();
    check_runner();
    check_model();
    check_processes();
    check_options();
    check_versions();
    add_corrections();
    std::stable_sort(guide_.rules.begin(), guide_.rules.end(),
                     [](const RuleHit& a, const RuleHit& b) { return a.kind < b.kind; });
  }

 private:
  void hit(const char* id, RuleKind kind, std::string en, std::string zh) {
    guide_.rules.push_back({id, kind, {std::move(en), std::move(zh)}});
  }
  bool v0() const { return guide_.engine == "v0"; }
  bool npu() const { return request_.device == "npu"; }
  bool since(const char* version) const { return !(*request_.vllm < *parse_engine_version(version)); }

  void check_engine() {
    if (v0() && since("0.11.0"))
      hit("G01", RuleKind::error, "vLLM " + request_.vllm->text + " has no V0 engine (none from 0.11.0 on)",
          "vLLM " + request_.vllm->text + " 没有 V0 引擎（0.11.0 起取消）");
    if (v0() && request_.mode == "offline" && request_.pipeline_parallel > 1)
      hit("G02", RuleKind::error,
          "V0 offline with pipeline parallel > 1 is not supported by vLLM: LLMEngine.step raises",
          "vLLM 不支持 V0 离线且 PP > 1：LLMEngine.step 会抛出异常");
  }

  void check_graphs() {
    if (v0() || request_.enforce_eager) return;
    if (!npu())
      return hit("G03", RuleKind::error, "hooks do not fire inside graphs: add --enforce-eager",
                 "图模式下钩子不触发：请加 --enforce-eager");
    const AscendSwitch* own = request_.vllm_ascend ? table_.switch_at(*request_.vllm_ascend) : nullptr;
    if (own != nullptr && own->graphs)
      hit("G04", RuleKind::note,
          "with graphs vllm-ascend uses another collector (AclGraphDumper): step, scope and async_dump have "
          "no effect there",
          "图模式下 vllm-ascend 使用另一采集器（AclGraphDumper）：step、scope、async_dump 不生效");
    else
      hit("G04", RuleKind::error, "hooks do not fire inside graphs: add --enforce-eager",
          "图模式下钩子不触发：请加 --enforce-eager");
  }

  void check_runner() {
    const AscendSwitch* own =
        npu() && request_.vllm_ascend ? table_.switch_at(*request_.vllm_ascend) : nullptr;
    if (!v0() && own != nullptr)
      hit("G05", RuleKind::note,
          "vllm-ascend " + request_.vllm_ascend->text +
              " has the collector built in, nothing is to be patched: --additional-config '" + own->text +
              "'",
          "vllm-ascend " + request_.vllm_ascend->text + " 已内置采集器，无需改代码：--additional-config '" +
              own->text + "'");
    if (guide_.runner_by_model)
      return hit("G06", RuleKind::note,
                 "vLLM " + request_.vllm->text +
                     " chooses model runner V2 by itself for some models (log line \"Using V2 Model "
                     "Runner\"): the place is V1-M then, else V1-X; ulpscope instrument patches both",
                 "vLLM " + request_.vllm->text +
                     " 会对部分模型自动选用 model runner V2（日志 \"Using V2 Model Runner\"）：此时位置为 "
                     "V1-M，否则为 V1-X；ulpscope instrument 两处都改");
    if (v0() || guide_.runner != "v2") return;
    if (npu())
      hit("G06", RuleKind::error,
          "model runner V2 of vllm-ascend has no hooks: the switch does nothing and says nothing; unset "
          "VLLM_USE_V2_MODEL_RUNNER",
          "vllm-ascend 的 model runner V2 没有钩子：开关无效且无提示；请取消 VLLM_USE_V2_MODEL_RUNNER");
    else
      hit("G06", RuleKind::note, "model runner V2: the place is V1-M (log line \"Using V2 Model Runner\")",
          "model runner V2：采集位置为 V1-M（日志 \"Using V2 Model Runner\"）");
  }

  void check_model() {
    const bool own =
        !v0() && npu() && request_.vllm_ascend && table_.switch_at(*request_.vllm_ascend) != nullptr;
    if (request_.level == "L1" || own || !guide_.model_expression.empty() || guide_.places.empty()) return;
    hit("G07", RuleKind::error,
        "level " + request_.level + " needs the model, and no expression for it is known here: use level L1",
        "level " + request_.level + " 需要模型对象，而此处没有已知的取法：请用 level L1");
  }

  void check_processes() {
    if (v0() && request_.mode == "online" && request_.tensor_parallel > 1 &&
        std::any_of(guide_.places.begin(), guide_.places.end(),
                    [](const GuidePlace& place) { return place.anchor == "V0-E"; }))
      hit("G08", RuleKind::warning,
          "V0-E covers rank 0 only: ranks 1.. are children of the engine process; use V0-W",
          "V0-E 只覆盖 rank 0：rank 1.. 是引擎进程的子进程；请用 V0-W");
    if (!v0() && request_.disable_frontend_multiprocessing)
      hit("G09", RuleKind::note,
          "--disable-frontend-multiprocessing is ignored in V1, with a warning of vLLM",
          "V1 忽略 --disable-frontend-multiprocessing，vLLM 会告警");
  }

  void check_options() {
    std::string flags;
    for (const GuideFlag& flag : guide_.flags)
      if (flag.text != "--enforce-eager") flags += (flags.empty() ? "" : ", ") + flag.text;
    if (flags.empty()) return;
    hit("G10", RuleKind::warning,
        "the step rule holds for one request at a time, no prefix cache, no asynchronous scheduling, no "
        "speculative decoding, one "
        "scheduler step a call and an unchunked prompt: set " +
            flags + ", and no --speculative-config",
        "步号规则要求：一次一个请求、无前缀缓存、无异步调度、无投机解码、每次调用一步、prompt "
        "不分块：请设置 " +
            flags + "，且不要 --speculative-config");
  }

  void hit_unknown_version() {
    const std::string version = request_.vllm->text, nearest = table_.nearest(*request_.vllm);
    if (request_.allow_unknown_shape && !guide_.places.empty())
      return hit("G11", RuleKind::warning,
                 "vLLM " + version + " is an untested version: the places are those of the nearest known, " +
                     nearest + "; ulpscope instrument --plan says whether the tree has them",
                 "vLLM " + version + " 未经测试：采集位置取自最接近的已知版本 " + nearest +
                     "；ulpscope instrument --plan 会检查源码树中是否存在");
    const bool newer = !table_.knows(*request_.vllm) && !(*request_.vllm < table_.vllm.first) && !v0();
    hit("G11", request_.allow_unknown_shape ? RuleKind::warning : RuleKind::error,
        "no places are known for vLLM " + version + " with engine " + guide_.engine +
            "; the nearest known version is " + nearest +
            (newer ? ", and --allow-unknown-shape goes on with its places" : ""),
        "未收录 vLLM " + version + "（引擎 " + guide_.engine + "）的采集位置；最接近的已知版本为 " + nearest +
            (newer ? "，--allow-unknown-shape 可沿用其位置" : ""));
  }

  void check_versions() {
    const bool own = npu() && request_.vllm_ascend && table_.switch_at(*request_.vllm_ascend) != nullptr;
    if (npu() && !v0() && !request_.vllm_ascend)
      hit("G11", RuleKind::error, "the version of vllm-ascend is not known: give --ascend-version",
          "未知 vllm-ascend 版本：请给 --ascend-version");
    const bool missing = guide_.places.empty() && !own && (!npu() || request_.vllm_ascend);
    if (!table_.knows(*request_.vllm) || (missing && !(v0() && since("0.11.0")))) hit_unknown_version();
    if (!request_.vllm_ascend || request_.device != "npu") return;
    const auto first_three = [](const EngineVersion& version) {
      std::vector<int64_t> numbers = version.release;
      numbers.resize(3);
      return numbers;
    };
    if (first_three(*request_.vllm) != first_three(*request_.vllm_ascend))
      hit("G12", RuleKind::warning,
          "vLLM " + request_.vllm->text + " and vllm-ascend " + request_.vllm_ascend->text +
              " do not belong together",
          "vLLM " + request_.vllm->text + " 与 vllm-ascend " + request_.vllm_ascend->text + " 版本不匹配");
  }

  // What a reader of the older guide should know.
  void add_corrections() {
    if (v0() && request_.mode == "online" && request_.tensor_parallel > 1 && request_.pipeline_parallel == 1)
      hit("", RuleKind::note,
          "the older guide puts everything of V0 online with PP = 1 into \"the child process\": that holds "
          "for rank 0 only",
          "旧指南称 V0 在线 PP = 1 全部在“子进程”：只对 rank 0 成立");
    if (v0() && request_.mode == "online" &&
        (request_.pipeline_parallel > 1 || request_.disable_frontend_multiprocessing))
      hit("", RuleKind::note, "\"same as V0 online TP > 1\" in the older guide means V0 offline TP > 1",
          "旧指南的“同 V0 在线 TP > 1”应为 V0 离线 TP > 1");
    if (since("0.8.0") && !since("0.11.0"))
      hit("", RuleKind::note,
          "vLLM 0.8.0 to 0.10.2 choose V1 by default (VLLM_USE_V1=0 for V0), and some features fall back to "
          "V0: read the log line "
          "\"Initializing a V0/V1 LLM engine\"",
          "vLLM 0.8.0 至 0.10.2 默认 V1（VLLM_USE_V1=0 为 V0），部分特性会自动回退到 V0：请看日志 "
          "\"Initializing a V0/V1 LLM engine\"");
    if (request_.data_parallel > 1)
      hit("", RuleKind::note,
          "with data parallel, ranks are numbered over all DP ranks; if two processes write one rank folder, "
          "give each DP rank its "
          "own dump_path (not verified on hardware)",
          "数据并行时 rank 跨所有 DP 编号；若两个进程写同一 rank 目录，请为每个 DP rank 设不同 "
          "dump_path（未在硬件上验证）");
    if (npu())
      hit("", RuleKind::note, "collection on an NPU was not verified on hardware",
          "NPU 上的采集未在硬件上验证");
  }

  const GuideRequest& request_;
  const AnchorTable& table_;
  CollectGuide& guide_;
};

}  // namespace

void apply_guide_rules(const GuideRequest& request, const AnchorTable& table, CollectGuide& guide) {
  Rules(request, table, guide).apply();
}

}  // namespace ulpscope
