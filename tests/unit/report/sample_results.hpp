// Results of check, precision-compare and locate as their commands write them, for tests of their pages.
#pragma once

#include <string>

namespace ulpscope::test {

// Five calls: one in error forward and backward, one with a warning, two that pass, one that was skipped.
inline std::string check_result() {
  return R"json({"schema":"ulpscope.check/1","version":"0.1.0","command":["check","-api_info","my dump"],
 "dump":"my dump","seed":1234,"policy":{"name":"seed","hash":"00"},"apis":[
  {"api":"Torch.matmul.0","forward":"pass","backward":"pass","message":"","outputs":[
    {"name":"Torch.matmul.0.forward.output.0","algorithm":"ulp","status":"pass","golden_dtype":"torch.float64",
     "device_dtype":"torch.float32","shape":"(2, 5)","metrics":{"cosine":1,"max_abs_error":0.0001},"message":""},
    {"name":"Torch.matmul.0.backward.output.0","algorithm":"ulp","status":"pass","golden_dtype":"torch.float64",
     "device_dtype":"torch.float32","shape":"(2, 5)","metrics":{"cosine":0.9999},"message":""}]
},
  {"api":"Torch.matmul.1","forward":"error","backward":"error","message":"","outputs":[
    {"name":"Torch.matmul.1.forward.output.0","algorithm":"ulp","status":"error","golden_dtype":"torch.float64",
     "device_dtype":"torch.float32","shape":"(2, 5)","metrics":{"cosine":0.5,"max_abs_error":3},
     "message":"cosine is too low"},
    {"name":"Torch.matmul.1.backward.output.0","algorithm":"ulp","status":"error","golden_dtype":"torch.float64",
     "device_dtype":"torch.float32","shape":"(2, 5)","metrics":{"cosine":-0.25,"max_abs_error":"NaN"},
     "message":"cosine is too low"}]},
  {"api":"Torch.softmax.0","forward":"warning","backward":"","message":"","outputs":[
    {"name":"Torch.softmax.0.forward.output.0","algorithm":"benchmark","status":"warning",
     "golden_dtype":"torch.float32","device_dtype":"torch.bfloat16","shape":"(4,)",
     "metrics":{"cosine":0.999,"max_abs_error":0.01,"ratio_within_0.001":0.97},"message":"ratio_within_0.001 is low"}]},
  {"api":"Functional.relu.0","forward":"pass","backward":"","message":"","outputs":[
    {"name":"Functional.relu.0.forward.output.0","algorithm":"binary_consistency","status":"pass",
     "golden_dtype":"torch.int64","device_dtype":"torch.int64","shape":"(3,)","metrics":{"binary_error_rate":0},
     "message":""}]},
  {"api":"Torch.rand.0","forward":"SKIP","backward":"","message":"random","outputs":[]}],
 "summary":{"apis":5,"pass":2,"warning":1,"error":1,"skip":1,"outputs":6,"unreadable":0},"device":"npu:0",
 "notices":["device: npu:0"]
})json";
}

inline std::string precision_result() {
  return R"json({"schema":"ulpscope.precision_compare/1","version":"0.1.0","command":["precision-compare"],
 "device":"npu.csv","reference":"gpu.csv","policy":{"name":"seed","hash":"00"},
 "summary":{"apis":2,"pass":1,"warning":0,"error":1,"skip":0,"outputs":2,"unreadable":0},"notices":["one row is ragged"],
 "apis":[
  {"api":"Functional.layer_norm.0","forward":"error","backward":"","message":"","outputs":[
    {"name":"Functional.layer_norm.0.forward.output.0","algorithm":"benchmark","status":"error","metrics":{
      "rmse":{"status":"pass","device":0.0005,"reference":0.0005,"ratio":1},
      "max_relative_error":{"status":"error","device":0.5,"reference":0.0005,"ratio":1000}},
     "message":"ratio of max_relative_error 1000 > 10"}]},
  {"api":"Functional.layer_norm.1","forward":"pass","backward":"","message":"","outputs":[
    {"name":"Functional.layer_norm.1.forward.output.0","algorithm":"benchmark","status":"pass","metrics":{
      "rmse":{"status":"pass","device":0.0005,"reference":0.0005,"ratio":1}},"message":""}]}]})json";
}

// High precision cures, and the first round named an operator.
inline std::string locate_result() {
  return R"json({"schema":"ulpscope.locate/1","version":"0.1.0","stage_file":"stages.yaml","golden":"golden",
 "op_limit":0.95,"accuracy_limit":0.99,
 "stages":[{"name":"origin","dump":"a b","fusion":"a.json","met":null,"keep":[]},
           {"name":"high_precision","dump":"h","fusion":"","met":null,"keep":[]}],
 "steps":[{"step":"1","stage":"origin","final_cosine":0.25,"met":false,"met_by":"computed","next":"2a"},
  {"step":"2a","stage":"high_precision","final_cosine":0.999998,"met":true,"met_by":"computed","next":"2b"},
  {"step":"2c","stage":"origin","final_cosine":0.25,"met":false,"met_by":"computed","round":1,"mine":"origin",
   "reference":"high_precision","first":{"op":"enc/LayerNorm","op_type":"LayerNorm","output":0,"cosine":0.8125,
   "original_ops":["enc/LayerNorm"],"inputs":"good"},"below_limit":["enc/LayerNorm","enc/MatMul","enc/Add"],
   "differing":[{"op":"enc/LayerNorm","op_type":"LayerNorm","original_ops":["enc/LayerNorm"],"cosine":0.8125,"inputs":"good"},
    {"op":"enc/MatMul","op_type":"MatMulV2","original_ops":["enc/q","enc/k"],"cosine":0.75,"inputs":"bad"},
    {"op":"enc/Add","op_type":"Add","original_ops":["enc/Add"],"cosine":null,"inputs":"unknown"}],
   "keep_list":["enc/LayerNorm"],"notes":["an overflow of float16"],"next":"2d"}],
 "outcome":"asked","keep_list":["enc/LayerNorm"],
 "ask":{"stage":"keep_1","instructions":["stage keep_1: rebuild with","  --keep_dtype=./exceptionlist.cfg"],
  "options":["--keep_dtype=./exceptionlist.cfg"],"removed_options":[],"files":["exceptionlist.cfg"],"folder":"out",
  "keep":["enc/LayerNorm"]}})json";
}

// A result with a text in the place of another, which stands in it once or more.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// A check of that many calls, of which the 1st, 101st, … are in error.
inline std::string large_check(long long calls) {
  std::string text =
      R"({"schema":"ulpscope.check/1","version":"0.1.0","command":[],"dump":"d","seed":1,"apis":[)";
  for (long long i = 0; i < calls; ++i) {
    const std::string api = (i % 3 == 0 ? "Torch.matmul." : "Torch.add.") + std::to_string(i);
    const std::string status = i % 100 == 0 ? "error" : "pass";
    text += (i == 0 ? "{\"api\":\"" : ",\n{\"api\":\"") + api + "\",\"forward\":\"" + status +
            "\",\"backward\":\"\",\"message\":\"\",\"outputs\":[{\"name\":\"" + api +
            ".forward.output.0\",\"algorithm\":\"ulp\",\"status\":\"" + status +
            "\",\"device_dtype\":\"torch.float32\",\"shape\":\"(2, "
            "5)\",\"metrics\":{\"cosine\":0.5,\"max_abs_error\":" +
            std::to_string(i) + "},\"message\":\"\"}]}";
  }
  const long long errors = (calls + 99) / 100;
  return text + "],\"summary\":{\"apis\":" + std::to_string(calls) +
         ",\"pass\":" + std::to_string(calls - errors) +
         ",\"warning\":0,\"error\":" + std::to_string(errors) +
         ",\"skip\":0,\"outputs\":" + std::to_string(calls) +
         ",\"unreadable\":0},\"device\":\"cpu\",\"notices\":[]}";
}

}  // namespace ulpscope::test
