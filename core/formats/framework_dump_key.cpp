#include "formats/framework_dump_key.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

namespace ulpscope {
namespace {

// Takes the last part off rest; the whole of rest when it has no '.'.
std::string_view pop_part(std::string_view& rest) {
  const size_t dot = rest.rfind('.');
  const std::string_view part = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
  rest = dot == std::string_view::npos ? std::string_view() : rest.substr(0, dot);
  return part;
}

std::string_view last_part(std::string_view rest) { return pop_part(rest); }

std::optional<uint32_t> call_number(std::string_view part) {
  uint32_t number = 0;
  const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (part.empty() || status != std::errc() || end != part.data() + part.size()) return std::nullopt;
  return number;
}

Phase direction(std::string_view part) {
  return part == "forward" ? Phase::forward : part == "backward" ? Phase::backward : Phase::none;
}

// The operation alone. ATen names carry an overload behind it, and so do others as "default".
std::string_view api_type(std::string_view counted) {
  constexpr std::string_view kAten = "Aten.";
  if (counted.starts_with(kAten)) {
    counted.remove_prefix(kAten.size());
    return counted.substr(0, counted.find('.'));
  }
  std::string_view rest = counted;
  const std::string_view name = pop_part(rest);
  if (name == "default" && rest.find('.') != std::string_view::npos) return last_part(rest);
  return name;
}

void set_class(DumpKey& key) {
  std::string_view rest = key.counted;
  key.type = pop_part(rest);
  key.path = rest;
  key.kind = OpKind::module;
}

// The last part that is no number, so that the calls of an unknown thing share a type.
std::string_view unknown_type(std::string_view key) {
  std::string_view rest = key;
  while (!rest.empty())
    if (const std::string_view part = pop_part(rest); !part.empty() && !call_number(part)) return part;
  return key;
}

}  // namespace

DumpKey parse_dump_key(std::string_view text) {
  constexpr std::string_view kGradient = "parameters_grad";
  DumpKey key;
  std::string_view rest = text;
  const std::string_view last = pop_part(rest);
  std::string_view before = rest;
  const std::string_view second = pop_part(before);
  const auto last_number = call_number(last), second_number = call_number(second);
  if (const Phase phase = direction(last); phase != Phase::none && second_number && !before.empty()) {
    key = {KeyForm::api, OpKind::api, phase, before, {}, api_type(before), *second_number};
    if (before.starts_with("Distributed.")) key.kind = OpKind::communication;
    return key;
  }
  if (const Phase phase = direction(second); phase != Phase::none && last_number && !before.empty()) {
    key = {KeyForm::module, OpKind::module, phase, before, {}, {}, *last_number};
    set_class(key);
    return key;
  }
  if ((second == kGradient && last_number && !before.empty()) || (last == kGradient && !rest.empty())) {
    const bool numbered = last != kGradient;
    key = {KeyForm::gradient,          OpKind::module, Phase::backward, numbered ? before : rest, {}, {},
           numbered ? *last_number : 0};
    set_class(key);
    return key;
  }
  if (last == "debug" && second_number && !before.empty())
    return {KeyForm::debug, OpKind::api, Phase::none, before, {}, before, *second_number};
  key.counted = text;
  key.type = unknown_type(text);
  return key;
}

TextTable::TextTable() : slots_(256, 0) {}

size_t TextTable::slot_of(std::string_view text, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const uint32_t id = slots_[slot] - 1;
    if (hashes_[id] == hash && texts_[id] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

uint32_t TextTable::find(std::string_view text) const {
  return slots_[slot_of(text, std::hash<std::string_view>()(text))] - 1;  // 0 wraps to kNone
}

uint32_t TextTable::add(std::string_view text) {
  const uint64_t hash = std::hash<std::string_view>()(text);
  size_t slot = slot_of(text, hash);
  if (slots_[slot] != 0) return slots_[slot] - 1;
  if ((texts_.size() + 1) * 2 > slots_.size()) {
    grow();
    slot = slot_of(text, hash);
  }
  texts_.push_back(store(text));
  hashes_.push_back(hash);
  slots_[slot] = static_cast<uint32_t>(texts_.size());
  return slots_[slot] - 1;
}

std::string_view TextTable::store(std::string_view text) {
  constexpr size_t kBlockBytes = 64 * 1024;
  if (text.empty()) return {};
  if (text.size() > block_left_) {
    block_left_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique<char[]>(block_left_));
    block_at_ = blocks_.back().get();
  }
  std::copy(text.begin(), text.end(), block_at_);
  const std::string_view stored(block_at_, text.size());
  block_at_ += text.size();
  block_left_ -= text.size();
  return stored;
}

void TextTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t id = 0; id < texts_.size(); ++id) {
    size_t slot = hashes_[id] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

}  // namespace ulpscope
