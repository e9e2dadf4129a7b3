#include "guide/determinism.hpp"

namespace ulpscope {

Determinism determinism(const std::string& device, bool batch_invariant) {
  Determinism facts;
  if (device == "npu") {
    facts.variables = {{"HCCL_DETERMINISTIC",
                        "true",
                        {"collectives; strict also keeps the order of reduction (Atlas A2, several machines, "
                         "symmetric; not verified)",
                         "集合通信；strict 还保持归约顺序（Atlas A2 多机对称；未验证）"}},
                       {"LCCL_DETERMINISTIC", "1", {"collectives of LCCL", "LCCL 集合通信"}},
                       {"ATB_MATMUL_SHUFFLE_K_ENABLE", "0", {"matmul of ATB", "ATB matmul"}},
                       {"ATB_LLM_LCOC_ENABLE", "0", {"overlap of communication and computation", "通算重叠"}},
                       {"CLOSE_MATMUL_K_SHIFT", "1", {"for a suspicious matmul", "用于可疑 matmul"}}};
  } else {
    facts.variables = {
        {"CUBLAS_WORKSPACE_CONFIG",
         ":4096:8",
         {"deterministic cuBLAS (CUDA 10.2 and later)", "确定性 cuBLAS（CUDA 10.2 起）"}},
        {"NVIDIA_TF32_OVERRIDE", "0", {"no TF32; at least equal on both sides", "关闭 TF32；至少两侧一致"}}};
  }
  facts.variables.push_back({"PYTHONHASHSEED", "0", {"order of Python's sets", "Python 集合顺序"}});
  if (batch_invariant) {
    facts.variables.push_back(
        {"VLLM_BATCH_INVARIANT",
         "1",
         {"outputs independent of the batch (newer vLLM)", "结果与批次无关（较新 vLLM）"}});
    if (device == "npu")
      facts.notes.push_back({"VLLM_BATCH_INVARIANT=1 must also be set when vllm-ascend is built",
                             "编译 vllm-ascend 时也须设置 VLLM_BATCH_INVARIANT=1"});
  }
  facts.flags = {"--max-num-seqs 1", "--no-enable-prefix-caching", "--max-num-batched-tokens N",
                 "--no-async-scheduling", "--enforce-eager"};
  facts.notes.push_back(
      {"one request at a time; N at least the length of the prompt; no speculative decoding; "
       "--no-async-scheduling where "
       "the option exists; TORCHDYNAMO_DISABLE=1 if a dynamo error appears",
       "一次一个请求；N 不小于 prompt 长度；不用投机解码；有该选项时加 --no-async-scheduling；出现 dynamo "
       "报错时设 "
       "TORCHDYNAMO_DISABLE=1"});
  facts.notes.push_back(
      {"request: the same prompt, temperature=0, top_p=1, a fixed seed, the same max_tokens; below 1e-5 vLLM "
       "is greedy, and "
       "0 < t < 0.01 is raised to 0.01",
       "请求：相同 prompt、temperature=0、top_p=1、固定 seed、相同 max_tokens；低于 1e-5 即 greedy，0 < t < "
       "0.01 会被抬到 0.01"});
  facts.notes.push_back(
      {"set the variables in the shell: from inside Python they often come after the libraries were loaded",
       "请在 shell 中设置：在 Python 内设置常晚于库加载"});
  facts.notes.push_back(
      {device == "npu"
           ? "still different? dump both runs with md5, find the first call with equal inputs and unequal "
             "outputs; "
             "ASCEND_LAUNCH_BLOCKING=1: a fault that goes away with it points at overlap; else hardware"
           : "still different? dump both runs with md5, find the first call with equal inputs and unequal "
             "outputs; "
             "CUDA_LAUNCH_BLOCKING=1: a fault that goes away with it points at overlap; else hardware",
       device == "npu"
           ? "仍不同？两次运行都以 md5 dump，找输入相同输出不同的第一个调用；ASCEND_LAUNCH_BLOCKING=1 "
             "后故障消失则指向重叠；否则看硬件"
           : "仍不同？两次运行都以 md5 dump，找输入相同输出不同的第一个调用；CUDA_LAUNCH_BLOCKING=1 "
             "后故障消失则指向重叠；否则看硬件"});
  facts.notes.push_back(
      {"the same seed gives different randn numbers on NPU and GPU", "相同种子在 NPU 与 GPU 上 randn 不同"});
  return facts;
}

std::string determinism_script(const Determinism& facts, GuideLanguage language) {
  std::string out;
  for (const DeterminismLine& line : facts.variables)
    out += "export " + line.name + "=" + line.value + "  # " + line.why.in(language) + "\n";
  out += "# vllm:";
  for (const std::string& flag : facts.flags) out += " " + flag;
  out += "\n";
  for (const BothLanguages& note : facts.notes) out += "# " + note.in(language) + "\n";
  return out;
}

}  // namespace ulpscope
