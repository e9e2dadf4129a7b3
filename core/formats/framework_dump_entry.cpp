#include "formats/framework_dump_entry.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {
namespace {

struct Section {
  std::string_view member, word;
  Role role;
};

// Backward entries name what came in "input" and what went out "output". The first writers used torch's own
// words, in which grad_output is what comes in and grad_input what goes out.
constexpr Section kSections[] = {
    {"input_args", "input", Role::input},
    {"input_kwargs", "kwarg", Role::kwarg},
    {"input", "input", Role::input},
    {"output", "output", Role::output},
    {"parameters", "parameter", Role::parameter},
    {"grad_output", "input", Role::input},
    {"grad_input", "output", Role::output},
};

// Written by some versions, without a meaning for a comparison.
constexpr std::string_view kIgnoredMembers[] = {"is_recompute", "is_nan"};

// Members of a tensor leaf as bits; the first four are ULPSCOPE_STAT_*.
constexpr unsigned kShapeMember = 16, kDtypeMember = 32, kGradMember = 64, kDataMember = 128,
                   kDigestMember = 256;

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

void append_int(std::string& out, size_t value) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  out.append(text, end);
}

}  // namespace

DType framework_dtype(std::string_view name) {
  if (const DType direct = dtype_from_name(name); direct != DType::none) return direct;
  if (const size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  const std::string lower = to_lower(name);
  constexpr std::pair<std::string_view, DType> kOther[] = {
      {"hifloat8tensor", DType::hif8},
      {"bool_", DType::b8},
      {"quint8", DType::u8},
      {"qint8", DType::i8},
      {"qint32", DType::i32},
      {"half", DType::f16},
      {"float", DType::f32},
      {"double", DType::f64},
      {"long", DType::i64},
      {"int", DType::i32},
      {"short", DType::i16},
      {"float8_e8m0", DType::f8_e8m0},
  };
  for (const auto& [text, dtype] : kOther)
    if (text == lower) return dtype;
  return dtype_from_name(lower);
}

void EntryReader::clear() {
  tensor_count_ = 0;
  needs_tree_ = false;
  attributes_.clear();
  tree_.clear();
  path_.clear();
}

EntryTensor& EntryReader::add_tensor() {
  if (tensor_count_ == tensors_.size()) tensors_.emplace_back();
  return tensors_[tensor_count_++];
}

void EntryReader::read(const JsonTape& tape, const DumpKey& key) {
  clear();
  tape_ = &tape;
  tree_ = "{";
  const JsonNode& root = tape.at(0);
  if (key.form == KeyForm::debug) {
    section("output", Role::output, 0);
  } else if (key.form == KeyForm::gradient && root.kind == JsonKind::object) {
    gradients(0);
  } else if (root.kind == JsonKind::object) {
    for (uint32_t i = 1; i != root.next; i = tape.at(i).next) {
      const std::string_view name = tape.key(i);
      const auto* known = std::find_if(std::begin(kSections), std::end(kSections),
                                       [&](const Section& s) { return s.member == name; });
      if (known == std::end(kSections)) {
        if (std::find(std::begin(kIgnoredMembers), std::end(kIgnoredMembers), name) ==
            std::end(kIgnoredMembers))
          ++oddities_.unknown_sections;
      } else if (is_repeated(0, i)) {
        ++oddities_.repeated_members;
      } else {
        section(known->word, known->role, i);
      }
    }
  } else {
    ++oddities_.unknown_sections;
  }
  tree_ += '}';
  if (needs_tree_) attributes_ = tree_;
}

void EntryReader::section(std::string_view word, Role role, uint32_t node) {
  role_ = role;
  if (tree_.size() > 1) tree_ += ',';
  append_json_text(tree_, word);
  tree_ += ':';
  const JsonKind kind = tape_->at(node).kind;
  if (kind != JsonKind::array && kind != JsonKind::object) needs_tree_ = true;
  value(node, 0);
}

// One member for each parameter, each a list with one leaf: the name of the parameter alone is the path.
void EntryReader::gradients(uint32_t node) {
  role_ = Role::gradient;
  tree_ += "\"gradient\":{";
  bool first = true;
  for (uint32_t i = node + 1; i != tape_->at(node).next; i = tape_->at(i).next) {
    if (is_repeated(node, i)) {
      ++oddities_.repeated_members;
      continue;
    }
    if (!std::exchange(first, false)) tree_ += ',';
    append_json_text(tree_, tape_->key(i));
    tree_ += ':';
    const bool single = tape_->is(i, JsonKind::array) && tape_->at(i).count == 1;
    descend(tape_->key(i), single ? i + 1 : i, 1);
  }
  tree_ += '}';
}

void EntryReader::value(uint32_t node, size_t depth) {
  const JsonNode& n = tape_->at(node);
  switch (n.kind) {
    case JsonKind::array:
      if (depth > 0) needs_tree_ = true;
      return elements(node, depth);
    case JsonKind::object: {
      const uint32_t type = tape_->find(node, "type");
      if (tape_->is(type, JsonKind::text)) {
        if (is_tensor(node, tape_->text(type))) return tensor_leaf(node);
        needs_tree_ = true;
        return verbatim(node);
      }
      if (depth > 0) needs_tree_ = true;
      return members(node, depth);
    }
    default:
      needs_tree_ = true;
      return verbatim(node);
  }
}

void EntryReader::elements(uint32_t node, size_t depth) {
  tree_ += '[';
  size_t index = 0;
  for (uint32_t i = node + 1; i != tape_->at(node).next; i = tape_->at(i).next) {
    if (index > 0) tree_ += ',';
    char part[24];
    const auto end = std::to_chars(part, part + sizeof(part), index++).ptr;
    descend({part, static_cast<size_t>(end - part)}, i, depth + 1);
  }
  tree_ += ']';
}

void EntryReader::members(uint32_t node, size_t depth) {
  tree_ += '{';
  bool first = true;
  for (uint32_t i = node + 1; i != tape_->at(node).next; i = tape_->at(i).next) {
    if (is_repeated(node, i)) {
      ++oddities_.repeated_members;
      continue;
    }
    if (!std::exchange(first, false)) tree_ += ',';
    const std::string_view name = tape_->key(i);
    if (name.find('.') != std::string_view::npos)
      needs_tree_ = true;  // the path alone could be read as nested
    append_json_text(tree_, name);
    tree_ += ':';
    descend(name, i, depth + 1);
  }
  tree_ += '}';
}

void EntryReader::descend(std::string_view part, uint32_t node, size_t depth) {
  const size_t length = path_.size();
  if (length > 0) path_ += '.';
  path_ += part;
  value(node, depth);
  path_.resize(length);
}

// Whether a later member of the object has the same name. Long objects are spared: only a writer of many
// equal names could tell the difference, and the search is quadratic.
bool EntryReader::is_repeated(uint32_t object, uint32_t member) const {
  constexpr uint32_t kMaxSearched = 1000;
  const JsonNode& parent = tape_->at(object);
  if (parent.count > kMaxSearched) return false;
  const std::string_view name = tape_->key(member);
  for (uint32_t i = tape_->at(member).next; i != parent.next; i = tape_->at(i).next)
    if (tape_->key(i) == name) return true;
  return false;
}

void EntryReader::verbatim(uint32_t node) {
  const JsonNode& n = tape_->at(node);
  switch (n.kind) {
    case JsonKind::null:
      tree_ += "null";
      return;
    case JsonKind::boolean:
      tree_ += n.truth ? "true" : "false";
      return;
    case JsonKind::text:
      return append_json_text(tree_, tape_->text(node));
    case JsonKind::number: {
      const double as_double = number(node);
      if (std::isfinite(as_double)) {
        tree_ += tape_->text(node);
      } else {
        append_json_text(tree_, number_text(as_double));
      }
      return;
    }
    case JsonKind::array:
    case JsonKind::object: {
      const bool object = n.kind == JsonKind::object;
      tree_ += object ? '{' : '[';
      bool first = true;
      for (uint32_t i = node + 1; i != n.next; i = tape_->at(i).next) {
        if (object && is_repeated(node, i)) {
          ++oddities_.repeated_members;
          continue;
        }
        if (!std::exchange(first, false)) tree_ += ',';
        if (object) {
          append_json_text(tree_, tape_->key(i));
          tree_ += ':';
        }
        verbatim(i);
      }
      tree_ += object ? '}' : ']';
    }
  }
}

bool EntryReader::is_tensor(uint32_t node, std::string_view type) const {
  return type.ends_with("Tensor") || type == "numpy.ndarray" || tape_->find(node, "dtype") != JsonTape::kNone;
}

void EntryReader::tensor_leaf(uint32_t node) {
  tree_ += "{\"tensor\":";
  append_int(tree_, tensor_count_);
  tree_ += '}';
  EntryTensor& tensor = add_tensor();
  tensor.role = role_;
  tensor.path = path_;
  tensor.data_name.clear();
  tensor.has_bad_data_name = false;
  tensor.digest.clear();
  tensor.fault.clear();
  tensor.shape.clear();
  tensor.stats = {};
  tensor.flags = 0;
  bool placeholder = false;
  unsigned seen = 0;
  for (uint32_t i = node + 1; i != tape_->at(node).next; i = tape_->at(i).next) {
    const std::string_view name = tape_->key(i);
    const unsigned member = leaf_member(tensor, name, i);
    if (member == 0)
      placeholder |= name == "tensor_stat_index" || name == "md5_index" || name == "is_nan_index";
    if ((seen & member) != 0) ++oddities_.repeated_members;
    seen |= member;
  }
  if (placeholder) {
    ++oddities_.placeholders;
    tensor.stats = {};
    tensor.digest.clear();
  }
  if ((seen & kDtypeMember) == 0) {
    tensor.dtype_text.clear();
    tensor.dtype = DType::none;
  }
  const uint32_t type = tape_->find(node, "type");
  const bool is_numpy = tape_->is(type, JsonKind::text) && tape_->text(type) == "numpy.ndarray";
  tensor.foreign = tensor.dtype == DType::none && is_numpy && tensor.data_name.ends_with(".npy");
  if ((seen & kShapeMember) == 0) tensor.fault = "no shape";
  if (!tensor.fault.empty()) tensor.shape.clear();
  // Nothing tells how many bytes an element has, nor how near two of them may be.
  if (tensor.fault.empty() && tensor.dtype == DType::none && !is_numpy)
    tensor.fault = tensor.dtype_text.empty() ? "no dtype"
                                             : "dtype \"" + printable(tensor.dtype_text) +
                                                   "\": expected an element type, such as torch.float32";
  if (tensor.fault.empty() && tensor.has_bad_data_name) tensor.fault = "data_name is no name of a file";
  if (tensor.fault.empty() && !tensor.data_name.empty() && !is_safe_relative(tensor.data_name))
    tensor.fault = "data_name \"" + printable(tensor.data_name) + "\": path leaves the dump";
}

// The bit of the member; 0 for one that this reader does not know. There are ten of them in each tensor of
// each call: the length tells most apart.
unsigned EntryReader::leaf_member(EntryTensor& tensor, std::string_view name, uint32_t node) {
  ulpscope_stats& stats = tensor.stats;
  switch (name.size()) {
    case 3:
      if (name == "Max") return statistic(tensor, ULPSCOPE_STAT_MAX, stats.max, node);
      if (name == "Min") return statistic(tensor, ULPSCOPE_STAT_MIN, stats.min, node);
      if (name == "md5") return digest(tensor, node);
      return 0;
    case 4:
      if (name == "Mean") return statistic(tensor, ULPSCOPE_STAT_MEAN, stats.mean, node);
      if (name == "Norm") return statistic(tensor, ULPSCOPE_STAT_L2, stats.l2norm, node);
      return 0;
    case 5:
      if (name == "shape") return shape(tensor, node);
      if (name == "dtype") return dtype(tensor, node);
      return 0;
    default:
      if (name == "requires_grad") return requires_grad(tensor, node);
      if (name == "data_name") return data_name(tensor, node);
      return 0;
  }
}

unsigned EntryReader::dtype(EntryTensor& tensor, uint32_t node) {
  const std::string_view name = tape_->is(node, JsonKind::text) ? tape_->text(node) : std::string_view();
  if (tensor.dtype_text != name || name.empty()) {
    tensor.dtype_text = name;
    tensor.dtype = framework_dtype(name);
  }
  return kDtypeMember;
}

unsigned EntryReader::requires_grad(EntryTensor& tensor, uint32_t node) {
  if (tape_->is(node, JsonKind::boolean))
    tensor.flags = tape_->at(node).truth ? ULPSCOPE_GRAD_YES : ULPSCOPE_GRAD_NO;
  return kGradMember;
}

unsigned EntryReader::data_name(EntryTensor& tensor, uint32_t node) {
  tensor.data_name = tape_->is(node, JsonKind::text) ? tape_->text(node) : std::string_view();
  tensor.has_bad_data_name = tensor.data_name.empty();
  return kDataMember;
}

unsigned EntryReader::shape(EntryTensor& tensor, uint32_t node) {
  tensor.shape.clear();
  tensor.fault.clear();
  bool good = tape_->is(node, JsonKind::array);
  for (uint32_t i = node + 1; good && i != tape_->at(node).next; i = tape_->at(i).next) {
    const auto dim = tape_->is(i, JsonKind::number) ? json_int(tape_->text(i)) : std::nullopt;
    good = dim && *dim >= 0;
    if (good) tensor.shape.push_back(*dim);
  }
  if (!good)
    tensor.fault = "shape is not a list of numbers from 0";
  else if (tensor.shape.size() > kMaxRank)
    tensor.fault = "shape has " + std::to_string(tensor.shape.size()) + " dimensions, expected at most 32";
  else if (!dense_bytes(tensor.shape, DType::c128))
    tensor.fault = "the shape is too large";
  return kShapeMember;
}

unsigned EntryReader::statistic(EntryTensor& tensor, uint32_t bit, double& value, uint32_t node) {
  switch (tape_->at(node).kind) {
    case JsonKind::number:
      value = number(node);
      break;
    case JsonKind::boolean:
      value = tape_->at(node).truth ? 1 : 0;
      break;
    case JsonKind::text: {
      const auto parsed = parse_double(tape_->text(node));
      if (!parsed) {
        ++oddities_.bad_statistics;
        return bit;
      }
      value = *parsed;
      break;
    }
    default:
      if (!tape_->is(node, JsonKind::null)) ++oddities_.bad_statistics;
      tensor.stats.present &= ~bit;
      return bit;
  }
  tensor.stats.present |= bit;
  return bit;
}

// "1b2c3d4e" is a CRC-32, "0x" and 16 digits a XOR of 64-bit words, 32 digits an MD5; a number is what the
// XOR mode writes for a single value.
unsigned EntryReader::digest(EntryTensor& tensor, uint32_t node) {
  tensor.digest.clear();
  if (tape_->is(node, JsonKind::number)) {
    tensor.digest.append("xor64:").append(tape_->text(node));
    return kDigestMember;
  }
  if (!tape_->is(node, JsonKind::text)) {
    if (!tape_->is(node, JsonKind::null)) ++oddities_.unknown_digests;
    return kDigestMember;
  }
  const std::string_view text = tape_->text(node);
  const bool is_xor = text.starts_with("0x") && is_hex(text.substr(2)) && text.size() == 18;
  if (is_xor)
    tensor.digest = "xor64:";
  else if (is_hex(text) && text.size() == 8)
    tensor.digest = "crc32:";
  else if (is_hex(text) && text.size() == 32)
    tensor.digest = "md5:";
  else if (!text.empty())
    ++oddities_.unknown_digests;
  if (!tensor.digest.empty()) tensor.digest += to_lower(is_xor ? text.substr(2) : text);
  return kDigestMember;
}

double EntryReader::number(uint32_t node) {
  const std::string_view text = tape_->text(node);
  const double value = json_double(text);
  if (std::isinf(value) && !text.ends_with("Infinity")) ++oddities_.out_of_range;
  return value;
}

}  // namespace ulpscope
