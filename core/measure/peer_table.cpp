#include "measure/peer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "measure/pair_reader.hpp"
#include "measure/values.hpp"

namespace ulpscope {
namespace {

constexpr const char* kUnmatched = "N/A";
constexpr const char* kNoFile = "-1";

// The part of a row's name between the entry and the path.
std::string_view category(Role role) {
  switch (role) {
    case Role::input:
    case Role::kwarg:
      return ".input";
    case Role::output:
      return ".output";
    case Role::parameter:
      return ".parameters";
    case Role::gradient:
      return "";
  }
  return "";
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string constructed_name(const DumpIndex& index, const ItemRow& item) {
  const std::string_view entry = index.text(index.ops()[item.op].name);
  std::string name(entry);
  if (!ends_with(entry, ".debug")) name += category(item.role);
  const std::string_view path = index.text(item.path);
  if (!path.empty()) name.append(".").append(path);
  return name;
}

// The file of a tensor as the dump names it; kNoFile when it names none.
std::string file_name(const DumpIndex& index, const ItemRow& item) {
  if (item.tensor == kNoIndex) return kNoFile;
  const TensorRow& tensor = index.tensors()[item.tensor];
  if (tensor.data_kind == ULPSCOPE_DATA_NONE && tensor.absent != ULPSCOPE_ABSENT_BAD) return kNoFile;
  const std::string_view file = index.text(tensor.data_file);
  if (!file.empty()) return std::string(file.substr(file.rfind('/') + 1));
  return constructed_name(index, item) + ".pt";
}

// A row is called like its file where it has one.
std::string row_name(const DumpIndex& index, const ItemRow& item) {
  std::string file = file_name(index, item);
  if (!ends_with(file, ".pt")) return constructed_name(index, item);
  file.resize(file.size() - 3);
  return file;
}

std::string dtype_text(DType dtype) {
  return dtype == DType::hif8 ? "torch_npu.HiFloat8Tensor" : std::string("torch.") + name(dtype);
}

// Arguments that name a rank are shown by the type that the dump states.
bool is_rank_argument(std::string_view path) {
  const std::string_view last = path.substr(path.rfind('.') + 1);
  return last == "src" || last == "dst" || last == "group_src" || last == "group_dst";
}

// A recorded statistic as the dump spells it. Writers that record no mean of an integer tensor print its
// extremes as integers (true and false for bool); older ones converted to float32 first and recorded all
// four.
PeerValue statistic_value(const TensorRow& tensor, size_t which, bool is_scalar) {
  const ulpscope_stats& stats = tensor.stats;
  if ((stats.present & (uint32_t{1} << which)) == 0) return PeerValue::none();
  const double values[] = {stats.max, stats.min, stats.mean, stats.l2norm};
  const double value = values[which];
  const bool own_type = is_scalar || (stats.present & ULPSCOPE_STAT_MEAN) == 0;
  if (tensor.dtype == DType::b8 && own_type) return PeerValue::of_boolean(value != 0);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (is_integer(tensor.dtype) && own_type && value == std::trunc(value) && std::fabs(value) <= kExact)
    return PeerValue::of_integer(std::to_string(static_cast<int64_t>(value)));
  return PeerValue::of(value);
}

// The value of an argument, which stands in all four columns.
PeerValue argument_value(const ArgumentView& argument) {
  if (argument.type == "None") return PeerValue::none();
  PeerValue value = json_value(argument.value);
  if (argument.type != "float" || value.kind != PeerValue::Kind::text) return value;
  const auto number = parse_double(value.text);
  return number ? PeerValue::of(*number) : value;
}

std::array<PeerValue, 4> statistics_of(const DumpIndex& index, ItemId number) {
  std::array<PeerValue, 4> values;
  const ItemRow& item = index.items()[number];
  if (item.tensor == kNoIndex) {
    const ArgumentView argument = argument_of(index, number);
    const bool in_shape_column = argument.type == "torch.Size" || argument.type == "slice";
    values.fill(in_shape_column ? PeerValue::none() : argument_value(argument));
    return values;
  }
  const bool is_scalar = index.shape_of(item.tensor).empty();
  for (size_t i = 0; i < 4; ++i) values[i] = statistic_value(index.tensors()[item.tensor], i, is_scalar);
  return values;
}

// CRC-32 (zlib's) as 8 hexadecimal digits. Texts are short: bit by bit is fast enough.
std::string crc32_text(std::string_view text) {
  constexpr uint32_t kPolynomial = 0xEDB88320u;
  uint32_t crc = 0xFFFFFFFFu;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? kPolynomial : 0u);
  }
  return fmt::format("{:08x}", ~crc);
}

// The checksum of an item. What has none gets that of its value as Python prints it; a tensor's value is
// empty.
std::string digest_text(const DumpIndex& index, ItemId number) {
  const ItemRow& item = index.items()[number];
  if (item.tensor == kNoIndex) {
    const ArgumentView argument = argument_of(index, number);
    return crc32_text(argument.type == "None" ? "" : value_cell(argument_value(argument)));
  }
  const std::string_view digest = index.text(index.tensors()[item.tensor].digest);
  return digest.empty() ? crc32_text("") : std::string(digest.substr(digest.find(':') + 1));
}

// "File model.py, line 10, in forward, y = f(x)" as the collector writes it: with a line break before the
// source line.
std::string frame_text(std::string_view frame) {
  const size_t line = frame.find(", line "),
               in = line == std::string_view::npos ? line : frame.find(", in ", line);
  const size_t code = in == std::string_view::npos ? in : frame.find(", ", in + 5);
  if (frame.substr(0, 5) != "File " || code == std::string_view::npos) return std::string(frame);
  return std::string(frame.substr(0, code)) + ", \n " + std::string(frame.substr(code + 2));
}

// The column is there with a stack.json. That of single points is empty.
bool has_stack_column(const DumpIndex& index, ItemId item) {
  const OpRow& op = index.ops()[index.items()[item].op];
  return op.stack != 0 || ends_with(index.text(op.name), ".debug");
}

std::string_view result_word(const ResultRow& row) {
  switch (row.judged) {
    case Verdict::pass:
      return "pass";
    case Verdict::warning:
      return "warning";
    case Verdict::fail:
      return "error";
    case Verdict::skip:
      return row.unreadable ? "error" : "warning";
  }
  return "error";
}

// A JSON list of the reasons, each with the level of its row; empty for rows that pass.
std::string message_cell(const ResultRow& row) {
  const std::string_view level = result_word(row);
  if (level == "pass") return "[]";
  std::string out = "[";
  for (size_t at = 0; at < row.message.size();) {
    const size_t end = std::min(row.message.find("; ", at), row.message.size());
    if (out.size() > 1) out += ", ";
    out.append("\"").append(level).append(": ");
    for (const char c : printable(std::string_view(row.message).substr(at, end - at))) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
    at = end + 2;
  }
  return out + "]";
}

void append(std::vector<std::string>& cells, std::initializer_list<const char*> names) {
  cells.insert(cells.end(), names.begin(), names.end());
}

}  // namespace

// One side of a row as its cells.
struct PeerTable::Side {
  bool present = false, is_tensor = false;
  std::string name = kUnmatched, dtype = kUnmatched, shape = kUnmatched, grad = kUnmatched, file = kUnmatched;
  std::string digest = kUnmatched;
  Shape dims;
  std::array<PeerValue, 4> statistics;
};

namespace {

using Values = std::array<PeerValue, 4>;

void fill(Values& statistics, const PeerValue& value) { statistics.fill(value); }

// Columns dtype, shape and the four statistics of an argument that is not a tensor.
template <class Side>
void describe_argument(Side& side, const ArgumentView& argument, std::string_view path) {
  side.shape = "[]";
  side.dtype = std::string(argument.type);
  if (argument.type == "None") {
    side.dtype = side.shape = "None";
    fill(side.statistics, PeerValue::none());
  } else if (argument.type == "torch.Size" || argument.type == "slice") {
    const auto list = python_json_list(argument.value);
    side.shape = !list                      ? "[]"
                 : argument.type == "slice" ? "(" + std::to_string(list->second) + ",)"
                                            : list->first;
    fill(side.statistics, PeerValue::none());
  } else if (argument.type == "ellipsis" || argument.type == "torch.ProcessGroup" || is_rank_argument(path)) {
    fill(side.statistics, json_value(argument.value));
  } else {
    side.dtype = python_class(argument.value, argument.type);
    PeerValue value = json_value(argument.value);
    if (argument.type == "float" && value.kind == PeerValue::Kind::text)
      if (const auto number = parse_double(value.text)) value = PeerValue::of(*number);
    fill(side.statistics, value);
  }
}

// Several items that together are one: texts joined, the extremes of all, means and norms as a text.
template <class Side>
Side joined(const std::vector<Side>& parts) {
  Side all = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    const Side& part = parts[i];
    all.name += ";  " + part.name;
    all.dtype += ";" + part.dtype;
    all.shape += ";" + part.shape;
    all.file += ";" + part.file;
    if (part.statistics[0].is_numeric() && part.statistics[0].number > all.statistics[0].number)
      all.statistics[0] = part.statistics[0];
    if (part.statistics[1].is_numeric() && part.statistics[1].number < all.statistics[1].number)
      all.statistics[1] = part.statistics[1];
    for (size_t which = 2; which < 4; ++which)
      all.statistics[which] =
          PeerValue::of_text(value_cell(all.statistics[which]) + ";" + value_cell(part.statistics[which]));
  }
  return all;
}

}  // namespace

std::vector<std::string> peer_header(PeerMode mode, bool has_stack) {
  std::vector<std::string> names;
  append(names, {"NPU Name", "Bench Name", "NPU Dtype", "Bench Dtype", "NPU Tensor Shape",
                 "Bench Tensor Shape", "NPU Requires_grad", "Bench Requires_grad"});
  if (mode == PeerMode::statistics)
    append(names, {"Max diff", "Min diff", "Mean diff", "L2norm diff", "MaxRelativeErr", "MinRelativeErr",
                   "MeanRelativeErr", "NormRelativeErr"});
  if (mode == PeerMode::data)
    append(names, {"Cosine", "EucDist", "MaxAbsErr", "MaxRelativeErr", "One Thousandth Err Ratio",
                   "Five Thousandths Err Ratio"});
  if (mode == PeerMode::digest)
    append(names, {"NPU MD5", "BENCH MD5"});
  else
    append(names, {"NPU max", "NPU min", "NPU mean", "NPU l2norm", "Bench max", "Bench min", "Bench mean",
                   "Bench l2norm"});
  append(names, {"Requires_grad Consistent", "Result", "Err_message"});
  if (has_stack) append(names, {"NPU_Stack_Info"});
  if (mode == PeerMode::data) append(names, {"Data_name"});
  return names;
}

std::vector<PeerGroup> peer_groups(const ResultTable& table) {
  std::map<std::pair<int32_t, int32_t>, PeerGroup> groups;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const ItemPair& pair = table.rows[i].pair;
    const bool of_target = pair.target != kNoIndex;
    const DumpIndex& index = of_target ? *table.target : *table.golden;
    const OpRow& op = index.ops()[index.items()[of_target ? pair.target : pair.golden].op];
    PeerGroup& group = groups[{op.step, op.rank}];
    group.step = op.step;
    group.rank = op.rank;
    group.rows.push_back(static_cast<int64_t>(i));
  }
  std::vector<PeerGroup> out;
  out.reserve(groups.size());
  for (auto& [key, group] : groups) out.push_back(std::move(group));
  return out;
}

PeerTable::PeerTable(const ResultTable& table, const PeerGroup& group) : table_(table), group_(group) {
  bool data = false, digest = false;
  for (const int64_t number : group.rows) {
    const ResultRow& row = table.rows[static_cast<size_t>(number)];
    data |= row.mode == Mode::data || row.metrics >= 0;
    digest |= row.mode == Mode::digest;
    if (row.pair.target != kNoIndex) has_stack_ |= has_stack_column(*table.target, row.pair.target);
  }
  mode_ = data ? PeerMode::data : digest ? PeerMode::digest : PeerMode::statistics;
  if (mode_ != PeerMode::digest) find_float_columns();
}

void PeerTable::find_float_columns() {
  std::fill(std::begin(float_columns_), std::end(float_columns_), true);
  bool any_float[8] = {};
  for (const int64_t number : group_.rows) {
    const ItemPair& pair = table_.rows[static_cast<size_t>(number)].pair;
    // Rows that only golden has were not in the older table.
    if (pair.target == kNoIndex) continue;
    std::array<PeerValue, 4> sides[2] = {statistics_of(*table_.target, pair.target), {}};
    if (pair.golden != kNoIndex) sides[1] = statistics_of(*table_.golden, pair.golden);
    for (size_t i = 0; i < 8; ++i) {
      const PeerValue& value = sides[i / 4][i % 4];
      float_columns_[i] &= value.is_numeric() && std::isfinite(value.number);
      any_float[i] |= value.kind == PeerValue::Kind::number;
    }
    if (std::none_of(std::begin(float_columns_), std::end(float_columns_), [](bool is) { return is; }))
      return;
  }
  for (size_t i = 0; i < 8; ++i) float_columns_[i] &= any_float[i];
}

PeerTable::Side PeerTable::side(const ResultRow& row, bool of_target) const {
  Side all;
  const ItemId first = of_target ? row.pair.target : row.pair.golden;
  if (first == kNoIndex) return all;
  const DumpIndex& index = of_target ? *table_.target : *table_.golden;
  const Merge* merge =
      row.pair.merge < 0 ? nullptr : &table_.pairs.merges[static_cast<size_t>(row.pair.merge)];
  std::vector<ItemId> items = {first};
  if (merge != nullptr && merge->target_side == of_target) items = merge->items;
  std::vector<Side> parts;
  for (const ItemId number : items) {
    const ItemRow& item = index.items()[number];
    Side& part = parts.emplace_back();
    part.present = true;
    part.name = row_name(index, item);
    part.file = file_name(index, item);
    part.digest = digest_text(index, number);
    part.statistics = statistics_of(index, number);
    if (item.tensor == kNoIndex) {
      describe_argument(part, argument_of(index, number), index.text(item.path));
      continue;
    }
    const TensorRow& tensor = index.tensors()[item.tensor];
    const auto dims = index.shape_of(item.tensor);
    part.is_tensor = true;
    part.dims.assign(dims.begin(), dims.end());
    part.dtype = dtype_text(tensor.dtype);
    part.shape = python_shape(dims);
    const bool known = (tensor.flags & (ULPSCOPE_GRAD_YES | ULPSCOPE_GRAD_NO)) != 0;
    part.grad = !known ? kUnmatched : (tensor.flags & ULPSCOPE_GRAD_YES) != 0 ? "True" : "False";
  }
  return joined(parts);
}

void PeerTable::add_element_cells(std::vector<std::string>& cells, const ResultRow& row, const Side& target,
                                  const Side& golden) const {
  const auto all = [&](const char* text) { cells.insert(cells.end(), 6, text); };
  if (!target.present || !golden.present || target.file == kNoFile || golden.file == kNoFile)
    return all("unsupported");
  if (row.unreadable || row.mode != Mode::data) return all("unsupported");
  if (std::find(target.dims.begin(), target.dims.end(), 0) != target.dims.end()) return all("unsupported");
  if (row.metrics < 0) return all("shape unmatched");
  const auto& peer = table_.data_metrics[static_cast<size_t>(row.metrics)].peer;
  if (!peer) return all("unsupported");
  const auto six = element_cells(*peer);
  cells.insert(cells.end(), six.begin(), six.end());
}

void PeerTable::add_statistics_cells(std::vector<std::string>& cells, const Side& target,
                                     const Side& golden) const {
  for (size_t i = 0; i < 8; ++i) {
    const PeerValue& value = (i < 4 ? target : golden).statistics[i % 4];
    cells.push_back(float_columns_[i] && value.is_numeric() ? python_float(value.number) : value_cell(value));
  }
}

// The stack stands in the first row of each entry.
std::string PeerTable::stack_cell(size_t place) const {
  const ResultRow& row = table_.rows[static_cast<size_t>(group_.rows[place])];
  if (row.pair.target == kNoIndex) return kUnmatched;
  const OpId op = table_.target->items()[row.pair.target].op;
  for (size_t before = place; before-- > 0;) {
    const ItemId other = table_.rows[static_cast<size_t>(group_.rows[before])].pair.target;
    if (other == kNoIndex) continue;
    if (table_.target->items()[other].op == op) return kUnmatched;
    break;
  }
  const std::string_view stack = table_.target->text(table_.target->ops()[op].stack);
  if (stack.empty()) return kUnmatched;
  std::vector<std::string> frames;
  for (const std::string_view frame : split(stack, '\n')) frames.push_back(frame_text(frame));
  return python_list(frames);
}

std::vector<std::string> PeerTable::row(size_t place) const {
  const ResultRow& row = table_.rows[static_cast<size_t>(group_.rows[place])];
  const Side target = side(row, true), golden = side(row, false);
  std::vector<std::string> cells = {target.name,  golden.name,  target.dtype, golden.dtype,
                                    target.shape, golden.shape, target.grad,  golden.grad};
  cells.reserve(32);
  if (mode_ == PeerMode::statistics) {
    std::vector<std::string> relatives;
    for (size_t i = 0; i < 4; ++i) {
      auto [difference, relative] = difference_cells(target.statistics[i], golden.statistics[i]);
      cells.push_back(std::move(difference));
      relatives.push_back(std::move(relative));
    }
    cells.insert(cells.end(), relatives.begin(), relatives.end());
  }
  if (mode_ == PeerMode::data) add_element_cells(cells, row, target, golden);
  if (mode_ == PeerMode::digest) {
    cells.push_back(target.digest);
    cells.push_back(golden.digest);
  } else {
    add_statistics_cells(cells, target, golden);
  }
  // An absent side counts as equal only to an argument, which has no requires_grad either.
  cells.push_back(target.grad == golden.grad ? "True" : "False");
  cells.emplace_back(result_word(row));
  cells.push_back(message_cell(row));
  if (has_stack_) cells.push_back(stack_cell(place));
  if (mode_ == PeerMode::data) cells.push_back(python_list({target.file, golden.file}));
  return cells;
}

}  // namespace ulpscope
