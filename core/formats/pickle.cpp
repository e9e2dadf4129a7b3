#include "formats/pickle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr int kMaxOpcodes = 100000;
constexpr size_t kMaxStack = 10000, kMaxMemo = 10000, kMaxTextBytes = 1 << 20;
// 0x1950a86a20f9469cfc6c, the number at the head of a legacy stream.
constexpr std::array<unsigned char, 10> kMagic = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};

enum Opcode : uint8_t {
  kMark = 0x28,
  kEmptyTuple = 0x29,
  kStop = 0x2e,
  kBinFloat = 0x47,
  kBinInt = 0x4a,
  kBinInt1 = 0x4b,
  kBinInt2 = 0x4d,
  kNone = 0x4e,
  kBinPersId = 0x51,
  kReduce = 0x52,
  kShortBinString = 0x55,
  kBinUnicode = 0x58,
  kEmptyList = 0x5d,
  kAppend = 0x61,
  kBuild = 0x62,
  kGlobal = 0x63,
  kAppends = 0x65,
  kBinGet = 0x68,
  kLongBinGet = 0x6a,
  kBinPut = 0x71,
  kLongBinPut = 0x72,
  kSetItem = 0x73,
  kTuple = 0x74,
  kSetItems = 0x75,
  kEmptyDict = 0x7d,
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

struct OpcodeName {
  uint8_t code;
  const char* name;
};
// The opcodes of pickle protocols 0 to 5 that are refused, for messages.
constexpr OpcodeName kRefused[] = {{'0', "POP"},
                                   {'1', "POP_MARK"},
                                   {'2', "DUP"},
                                   {'B', "BINBYTES"},
                                   {'C', "SHORT_BINBYTES"},
                                   {'F', "FLOAT"},
                                   {'I', "INT"},
                                   {'L', "LONG"},
                                   {'P', "PERSID"},
                                   {'S', "STRING"},
                                   {'T', "BINSTRING"},
                                   {'V', "UNICODE"},
                                   {'d', "DICT"},
                                   {'g', "GET"},
                                   {'i', "INST"},
                                   {'l', "LIST"},
                                   {'o', "OBJ"},
                                   {'p', "PUT"},
                                   {0x82, "EXT1"},
                                   {0x83, "EXT2"},
                                   {0x84, "EXT4"},
                                   {0x8b, "LONG4"},
                                   {0x8d, "BINUNICODE8"},
                                   {0x8e, "BINBYTES8"},
                                   {0x8f, "EMPTY_SET"},
                                   {0x90, "ADDITEMS"},
                                   {0x91, "FROZENSET"},
                                   {0x92, "NEWOBJ_EX"},
                                   {0x96, "BYTEARRAY8"},
                                   {0x97, "NEXT_BUFFER"},
                                   {0x98, "READONLY_BUFFER"}};

Error refused_opcode(uint8_t code) {
  char hex[8];
  std::snprintf(hex, sizeof(hex), "0x%02X", code);
  for (const OpcodeName& known : kRefused)
    if (known.code == code)
      return {Code::unsupported,
              std::string("pickle opcode ") + known.name + " (" + hex + ") does not occur in tensors"};
  return {Code::format, std::string("no pickle opcode ") + hex};
}

Error format_error(std::string_view what) { return {Code::format, std::string(what)}; }

class Machine {
 public:
  explicit Machine(Bytes bytes) : bytes_(bytes) {}
  Result<PickleResult> run();

 private:
  // Each handles the opcodes of its kind and answers whether this was one.
  Result<bool> step_number(uint8_t code);
  Result<bool> step_text(uint8_t code);
  Result<bool> step_container(uint8_t code);
  Result<bool> step_memo(uint8_t code);
  Status step(uint8_t code);
  Status step_call(uint8_t code);

  Result<Bytes> take(size_t count);
  Result<std::string_view> take_line();
  template <class T>
  Result<T> take_number() {
    ULPSCOPE_ASSIGN(const Bytes raw, take(sizeof(T)));
    return load_le<T>(raw, 0);
  }
  Status push(const PickleValue& value);
  Status push_integer(int64_t value) { return push({.kind = PickleKind::integer, .integer = value}); }
  Status push_text(size_t count);
  Status push_long1();
  Status push_tuple(size_t count);
  Result<PickleValue> pop();
  // How many values lie above the topmost mark, which is removed.
  Result<size_t> take_mark();
  Status append(size_t count);
  Status set_items(size_t count);
  Status put(uint64_t slot);
  Status get(uint64_t slot);
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  Bytes bytes_;
  size_t position_ = 0;
  PickleResult result_;
  std::vector<PickleValue> stack_, memo_;
  std::vector<size_t> marks_;  // heights of the stack
  size_t memoized_ = 0;
};

Result<Bytes> Machine::take(size_t count) {
  if (count > bytes_.size() - position_) return format_error("the pickle is cut off");
  const Bytes taken = bytes_.subspan(position_, count);
  position_ += count;
  return taken;
}

Result<std::string_view> Machine::take_line() {
  const std::string_view rest = as_text(bytes_).substr(position_);
  const size_t end = rest.substr(0, kMaxTextBytes).find('\n');
  if (end == std::string_view::npos) return format_error("a line without an end");
  position_ += end + 1;
  return rest.substr(0, end);
}

Status Machine::push(const PickleValue& value) {
  if (stack_.size() >= kMaxStack)
    return Error{Code::unsupported, "more than 10000 values on the pickle stack"};
  stack_.push_back(value);
  return {};
}

Status Machine::push_text(size_t count) {
  if (count > kMaxTextBytes)
    return Error{Code::unsupported, "a text of " + std::to_string(count) + " bytes, expected at most " +
                                        std::to_string(kMaxTextBytes)};
  ULPSCOPE_ASSIGN(const Bytes raw, take(count));
  return push({.kind = PickleKind::text, .text = as_text(raw)});
}

Status Machine::push_long1() {
  ULPSCOPE_ASSIGN(const auto count, take_number<uint8_t>());
  ULPSCOPE_ASSIGN(const Bytes raw, take(count));
  if (count == kMagic.size() && std::memcmp(raw.data(), kMagic.data(), count) == 0)
    return push({.kind = PickleKind::magic});
  if (count > 8)
    return Error{Code::unsupported, "an integer of " + std::to_string(count) + " bytes, expected at most 8"};
  uint64_t value = 0;
  const bool negative = count > 0 && (std::to_integer<unsigned>(raw[count - 1]) & 0x80) != 0;
  if (negative) value = UINT64_MAX;
  for (size_t i = count; i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(raw[i]);
  return push_integer(static_cast<int64_t>(value));
}

Status Machine::push_tuple(size_t count) {
  if (stack_.size() - floor() < count) return format_error("a tuple of more values than the stack has");
  PickleValue tuple{.kind = PickleKind::tuple, .index = static_cast<uint32_t>(result_.items.size())};
  tuple.integer = static_cast<int64_t>(count);
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
  result_.items.insert(result_.items.end(), first, stack_.end());
  stack_.erase(first, stack_.end());
  return push(tuple);
}

Result<PickleValue> Machine::pop() {
  if (stack_.size() <= floor()) return format_error("the pickle stack is empty");
  const PickleValue value = stack_.back();
  stack_.pop_back();
  return value;
}

Result<size_t> Machine::take_mark() {
  if (marks_.empty()) return format_error("no mark on the pickle stack");
  const size_t count = stack_.size() - marks_.back();
  marks_.pop_back();
  return count;
}

Status Machine::append(size_t count) {
  if (stack_.size() - floor() < count + 1) return format_error("the pickle stack is empty");
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
  const PickleValue& target = *(first - 1);
  if (target.kind != PickleKind::list)
    return format_error("items appended to " + describe(target) + ", expected a list");
  auto& list = result_.lists[target.index];
  list.insert(list.end(), first, stack_.end());
  stack_.erase(first, stack_.end());
  return {};
}

Status Machine::set_items(size_t count) {
  if (count % 2 != 0) return format_error("a key without a value");
  if (stack_.size() - floor() < count + 1) return format_error("the pickle stack is empty");
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
  const PickleValue& target = *(first - 1);
  if (target.kind != PickleKind::dict)
    return format_error("items set in " + describe(target) + ", expected a dict");
  auto& dict = result_.dicts[target.index];
  dict.insert(dict.end(), first, stack_.end());
  stack_.erase(first, stack_.end());
  return {};
}

Status Machine::put(uint64_t slot) {
  if (slot >= kMaxMemo) return Error{Code::unsupported, "more than 10000 values in the pickle memo"};
  if (stack_.size() <= floor()) return format_error("the pickle stack is empty");
  if (slot >= memo_.size()) memo_.resize(static_cast<size_t>(slot) + 1, {.kind = PickleKind::absent});
  memoized_ += memo_[slot].kind == PickleKind::absent ? 1 : 0;
  memo_[slot] = stack_.back();
  return {};
}

Status Machine::get(uint64_t slot) {
  if (slot >= memo_.size() || memo_[slot].kind == PickleKind::absent)
    return format_error("memo slot " + std::to_string(slot) + " was never written");
  return push(memo_[slot]);
}

// Copies the status of an expression into an answer of Result<bool>: handled, or failed.
Result<bool> handled(Status status) {
  if (!status.ok()) return std::move(status).error();
  return true;
}

Result<bool> Machine::step_number(uint8_t code) {
  switch (code) {
    case kNone:
      return handled(push({.kind = PickleKind::none}));
    case kNewTrue:
    case kNewFalse:
      return handled(push({.kind = PickleKind::boolean, .integer = code == kNewTrue ? 1 : 0}));
    case kBinInt1: {
      ULPSCOPE_ASSIGN(const auto value, take_number<uint8_t>());
      return handled(push_integer(value));
    }
    case kBinInt2: {
      ULPSCOPE_ASSIGN(const auto value, take_number<uint16_t>());
      return handled(push_integer(value));
    }
    case kBinInt: {
      ULPSCOPE_ASSIGN(const auto value, take_number<uint32_t>());
      return handled(push_integer(static_cast<int32_t>(value)));
    }
    case kLong1:
      return handled(push_long1());
    case kBinFloat: {
      ULPSCOPE_ASSIGN(const Bytes raw, take(8));
      uint64_t big_endian = 0;
      for (const std::byte b : raw) big_endian = big_endian << 8 | std::to_integer<uint64_t>(b);
      return handled(push({.kind = PickleKind::real, .real = std::bit_cast<double>(big_endian)}));
    }
    default:
      return false;
  }
}

Result<bool> Machine::step_text(uint8_t code) {
  switch (code) {
    case kBinUnicode: {
      ULPSCOPE_ASSIGN(const auto count, take_number<uint32_t>());
      return handled(push_text(count));
    }
    case kShortBinUnicode:
    case kShortBinString: {
      ULPSCOPE_ASSIGN(const auto count, take_number<uint8_t>());
      return handled(push_text(count));
    }
    case kGlobal: {
      ULPSCOPE_ASSIGN(const std::string_view module, take_line());
      ULPSCOPE_ASSIGN(const std::string_view name, take_line());
      return handled(push({.kind = PickleKind::global, .text = name, .module = module}));
    }
    case kStackGlobal: {
      ULPSCOPE_ASSIGN(const PickleValue name, pop());
      ULPSCOPE_ASSIGN(const PickleValue module, pop());
      if (name.kind != PickleKind::text || module.kind != PickleKind::text)
        return format_error("a global named by " + describe(module) + " and " + describe(name) +
                            ", expected texts");
      return handled(push({.kind = PickleKind::global, .text = name.text, .module = module.text}));
    }
    default:
      return false;
  }
}

Result<bool> Machine::step_container(uint8_t code) {
  switch (code) {
    case kMark:
      if (marks_.size() >= kMaxStack)
        return Error{Code::unsupported, "more than 10000 marks on the pickle stack"};
      marks_.push_back(stack_.size());
      return true;
    case kEmptyTuple:
      return handled(push_tuple(0));
    case kTuple1:
    case kTuple2:
    case kTuple3:
      return handled(push_tuple(static_cast<size_t>(code - kTuple1) + 1));
    case kEmptyList:
      result_.lists.emplace_back();
      return handled(
          push({.kind = PickleKind::list, .index = static_cast<uint32_t>(result_.lists.size() - 1)}));
    case kEmptyDict:
      result_.dicts.emplace_back();
      return handled(
          push({.kind = PickleKind::dict, .index = static_cast<uint32_t>(result_.dicts.size() - 1)}));
    case kAppend:
      return handled(append(1));
    case kSetItem:
      return handled(set_items(2));
    case kTuple:
    case kAppends:
    case kSetItems: {
      ULPSCOPE_ASSIGN(const size_t count, take_mark());
      return handled(code == kTuple     ? push_tuple(count)
                     : code == kAppends ? append(count)
                                        : set_items(count));
    }
    default:
      return false;
  }
}

Result<bool> Machine::step_memo(uint8_t code) {
  switch (code) {
    case kBinPut:
    case kBinGet: {
      ULPSCOPE_ASSIGN(const auto slot, take_number<uint8_t>());
      return handled(code == kBinPut ? put(slot) : get(slot));
    }
    case kLongBinPut:
    case kLongBinGet: {
      ULPSCOPE_ASSIGN(const auto slot, take_number<uint32_t>());
      return handled(code == kLongBinPut ? put(slot) : get(slot));
    }
    case kMemoize:
      return handled(put(memoized_));
    default:
      return false;
  }
}

Status Machine::step_call(uint8_t code) {
  switch (code) {
    case kProto:
    case kFrame: {
      ULPSCOPE_ASSIGN(const Bytes skipped, take(code == kProto ? 1 : 8));
      static_cast<void>(skipped);
      return {};
    }
    case kBinPersId: {
      ULPSCOPE_ASSIGN(const PickleValue id, pop());
      ULPSCOPE_ASSIGN(const PickleValue storage, resolve_storage(result_, id));
      return push(storage);
    }
    case kReduce: {
      ULPSCOPE_ASSIGN(const PickleValue arguments, pop());
      ULPSCOPE_ASSIGN(const PickleValue function, pop());
      ULPSCOPE_ASSIGN(const PickleValue value, apply_global(result_, function, arguments));
      return push(value);
    }
    case kBuild: {
      ULPSCOPE_ASSIGN(const PickleValue state, pop());
      static_cast<void>(state);
      if (stack_.size() <= floor()) return format_error("the pickle stack is empty");
      return {};
    }
    case kNewObj: {
      ULPSCOPE_ASSIGN(const PickleValue arguments, pop());
      static_cast<void>(arguments);
      ULPSCOPE_ASSIGN(const PickleValue type, pop());
      return Error{Code::unsupported, describe(type) + " is not part of a tensor"};
    }
    default:
      return refused_opcode(code);
  }
}

Status Machine::step(uint8_t code) {
  for (const auto part :
       {&Machine::step_memo, &Machine::step_text, &Machine::step_number, &Machine::step_container}) {
    ULPSCOPE_ASSIGN(const bool done, (this->*part)(code));
    if (done) return {};
  }
  return step_call(code);
}

Result<PickleResult> Machine::run() {
  for (int count = 0; count < kMaxOpcodes; ++count) {
    const size_t at = position_;
    const auto within = [&](Error error) { return std::move(error).within("byte " + std::to_string(at)); };
    auto code = take_number<uint8_t>();
    if (!code) return within(std::move(code).error());
    if (*code == kStop) {
      auto top = pop();
      if (!top) return within(std::move(top).error());
      result_.top = *top;
      result_.consumed = position_;
      return std::move(result_);
    }
    if (auto status = step(*code); !status) return within(std::move(status).error());
  }
  return Error{Code::unsupported,
               "byte " + std::to_string(position_) + ": a pickle of more than 100000 opcodes"};
}

}  // namespace

std::string describe(const PickleValue& value) {
  switch (value.kind) {
    case PickleKind::absent:
      return "nothing";
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return "a boolean";
    case PickleKind::integer:
    case PickleKind::magic:
      return "an integer";
    case PickleKind::real:
      return "a float";
    case PickleKind::text:
      return "a text";
    case PickleKind::global:
      return "global " + printable(value.module) + " " + printable(value.text);
    case PickleKind::tuple:
      return "a tuple";
    case PickleKind::list:
      return "a list";
    case PickleKind::dict:
      return "a dict";
    case PickleKind::storage:
      return "a storage";
    case PickleKind::tensor:
      return "a tensor";
  }
  return "nothing";
}

Result<PickleResult> read_pickle(Bytes bytes) { return Machine(bytes).run(); }

}  // namespace ulpscope
