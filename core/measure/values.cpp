#include "measure/values.hpp"

#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.hpp"

namespace ulpscope {
namespace {

using Json = rapidjson::Value;
// Longer texts are shown cut: the message is for a reader, the row itself holds the value.
constexpr size_t kShownBytes = 60;
// Values nest as the arguments of a call do; the argument tree itself allows 64.
constexpr int kMaxDepth = 64;

bool parse(rapidjson::Document& document, std::string_view text) {
  document.Parse<rapidjson::kParseFullPrecisionFlag | rapidjson::kParseIterativeFlag>(text.data(),
                                                                                      text.size());
  return !document.HasParseError();
}

std::string_view view(const Json& text) { return {text.GetString(), text.GetStringLength()}; }

// Integers without rounding; others as doubles.
bool is_same_number(const Json& a, const Json& b) {
  if (a.IsInt64() && b.IsInt64()) return a.GetInt64() == b.GetInt64();
  if (a.IsUint64() && b.IsUint64()) return a.GetUint64() == b.GetUint64();
  const double x = a.GetDouble(), y = b.GetDouble();
  return !(x < y) && !(x > y);
}

bool is_same_value(const Json& a, const Json& b, int depth) {
  if (depth > kMaxDepth) return false;
  if (a.IsNumber() && b.IsNumber()) return is_same_number(a, b);
  if (a.GetType() != b.GetType()) return false;
  if (a.IsString()) return view(a) == view(b);
  if (a.IsArray()) {
    if (a.Size() != b.Size()) return false;
    for (rapidjson::SizeType i = 0; i < a.Size(); ++i)
      if (!is_same_value(a[i], b[i], depth + 1)) return false;
    return true;
  }
  if (a.IsObject()) {
    if (a.MemberCount() != b.MemberCount()) return false;
    return std::all_of(a.MemberBegin(), a.MemberEnd(), [&](const auto& member) {
      const auto other = b.FindMember(member.name);
      return other != b.MemberEnd() && is_same_value(member.value, other->value, depth + 1);
    });
  }
  return true;  // null, true, false: the type says it
}

bool is_same_text(std::string_view a, std::string_view b) {
  if (a == b) return true;
  rapidjson::Document x, y;
  return parse(x, a) && parse(y, b) && is_same_value(x, y, 0);
}

// Python's int and float, and the scalar types of numpy.
bool is_number_type(std::string_view type) {
  constexpr std::array<std::string_view, 5> kStems = {"int", "uint", "float", "longlong", "ulonglong"};
  return std::any_of(kStems.begin(), kStems.end(), [&](std::string_view stem) {
    return type.substr(0, stem.size()) == stem &&
           std::all_of(type.begin() + static_cast<std::ptrdiff_t>(stem.size()), type.end(),
                       [](char c) { return c >= '0' && c <= '9'; });
  });
}

// "npu:0", "cuda", "cpu:None" in quotes: where a tensor lies, which differs between the two runs by design.
bool is_device_text(std::string_view json) {
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') return false;
  const std::string_view text = json.substr(1, json.size() - 2);
  const size_t colon = text.find(':');
  constexpr std::array<std::string_view, 9> kDevices = {"cpu", "cuda", "npu",  "xpu", "mps",
                                                        "hpu", "mlu",  "musa", "meta"};
  if (std::find(kDevices.begin(), kDevices.end(), text.substr(0, colon)) == kDevices.end()) return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view number = text.substr(colon + 1);
  return number == "None" || (!number.empty() && std::all_of(number.begin(), number.end(),
                                                             [](char c) { return c >= '0' && c <= '9'; }));
}

bool is_device(const ArgumentView& argument) {
  return argument.type == "torch.device" || (argument.type == "str" && is_device_text(argument.value));
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string shown(const ArgumentView& argument) {
  if (argument.value.empty()) return printable(argument.type);
  if (argument.value.size() <= kShownBytes) return printable(argument.value);
  return printable(argument.value.substr(0, kShownBytes)) + "…";
}

std::string against(std::string_view what, const ArgumentView& target, const ArgumentView& golden) {
  return std::string(what) + ": target " + shown(target) + ", golden " + shown(golden);
}

}  // namespace

ValueVerdict compare_values(const ArgumentView& target, const ArgumentView& golden) {
  const bool same = is_same_text(target.value, golden.value);
  if (same && target.type == golden.type) return {};
  if (is_device(target) && is_device(golden))
    return {Verdict::pass, against("devices may differ", target, golden)};
  if (target.type == golden.type) {
    if (ends_with(target.type, "ReduceOp"))
      return {Verdict::pass, against("texts of reduce operations may differ", target, golden)};
    if (ends_with(target.type, "ProcessGroup"))
      return {Verdict::warning, against("process group", target, golden)};
    return {Verdict::fail, against("value of the argument", target, golden)};
  }
  if (same && is_number_type(target.type) && is_number_type(golden.type)) return {};
  std::string message =
      "type of the argument: target " + printable(target.type) + ", golden " + printable(golden.type);
  if (!target.value.empty() && !golden.value.empty())
    message += " (" + shown(target) + " against " + shown(golden) + ")";
  return {Verdict::fail, std::move(message)};
}

ArgumentView argument_of(const DumpIndex& index, ItemId item) {
  const ItemRow& row = index.items()[item];
  if (row.tensor != kNoIndex) return {"tensor", ""};
  return {index.text(row.type), index.text(row.value)};
}

}  // namespace ulpscope
