#include "formats/atb_names.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kInput = "intensor", kOutput = "outtensor", kExtension = ".bin";

}  // namespace

std::optional<int64_t> parse_atb_number(std::string_view text) {
  const bool digits =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? parse_int(text) : std::nullopt;
}

std::optional<AtbOpName> parse_atb_op_name(std::string_view name) {
  const size_t mark = name.find('_');
  if (mark == std::string_view::npos || mark + 1 == name.size()) return std::nullopt;
  const auto id = parse_atb_number(name.substr(0, mark));
  if (!id) return std::nullopt;
  return AtbOpName{*id, name.substr(mark + 1)};
}

std::optional<AtbTensorName> parse_atb_index(std::string_view text) {
  const size_t mark = std::min(text.find('_'), text.size());
  const auto index = parse_atb_number(text.substr(0, mark));
  if (!index) return std::nullopt;
  return AtbTensorName{false, *index, text.substr(std::min(mark + 1, text.size()))};
}

std::optional<AtbTensorName> parse_atb_tensor_name(std::string_view file_name) {
  if (!file_name.ends_with(kExtension)) return std::nullopt;
  const bool is_output = file_name.starts_with(kOutput);
  if (!is_output && !file_name.starts_with(kInput)) return std::nullopt;
  file_name.remove_prefix(is_output ? kOutput.size() : kInput.size());
  auto name = parse_atb_index(file_name.substr(0, file_name.size() - kExtension.size()));
  if (name) name->is_output = is_output;
  return name;
}

std::optional<AtbAlias> parse_atb_alias(std::string_view text) {
  const size_t mark = text.rfind('_');
  const auto name = parse_atb_tensor_name(mark == std::string_view::npos ? text : text.substr(mark + 1));
  if (!name) {
    // A parameter name behind the index: the operation's ids end before the tensor's word.
    const auto whole = parse_atb_tensor_name(text);
    return whole ? std::optional(AtbAlias{{}, whole->is_output, whole->index}) : std::nullopt;
  }
  AtbAlias alias{{}, name->is_output, name->index};
  if (mark == std::string_view::npos) return alias;
  for (const std::string_view part : split(text.substr(0, mark), '_')) {
    const auto id = parse_atb_number(part);
    if (!id) return std::nullopt;
    alias.ids.push_back(*id);
  }
  return alias;
}

std::string atb_id_text(const std::vector<int64_t>& ids) {
  std::string text;
  for (const int64_t id : ids) text += (text.empty() ? "" : "_") + std::to_string(id);
  return text;
}

std::string atb_tensor_key(std::string_view id_text, bool is_output, int64_t index) {
  std::string key(id_text);
  key.append("_").append(is_output ? kOutput : kInput).append(std::to_string(index));
  return key;
}

std::optional<AtbProcess> parse_atb_process(std::string_view name) {
  const size_t mark = name.find('_');
  if (mark == std::string_view::npos) {
    if (!parse_atb_number(name)) return std::nullopt;
    return AtbProcess{0, std::string(name)};
  }
  const auto device = parse_atb_number(name.substr(0, mark));
  const std::string_view pid = name.substr(mark + 1);
  if (!device || *device > INT32_MAX || !parse_atb_number(pid)) return std::nullopt;
  return AtbProcess{static_cast<int32_t>(*device), std::string(pid)};
}

}  // namespace ulpscope
