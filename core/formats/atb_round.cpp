#include "formats/atb_round.hpp"

#include <algorithm>
#include <utility>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/text.hpp"
#include "formats/atb_codes.hpp"
#include "formats/atb_names.hpp"

namespace ulpscope {
namespace {

constexpr size_t kHeadersPerTask = 64;
constexpr int kMaxHops = 8;  // from alias to alias

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

Error bad(const std::string& what) { return {Code::format, what}; }

}  // namespace

AtbRoundReader::AtbRoundReader(const Host& host, const std::string& root, const AtbRound& round,
                               const AtbTopology& topology)
    : host_(host), root_(root), round_(round), topology_(topology) {}

std::string AtbRoundReader::path_of(const std::string& file) const { return joined(round_.relative, file); }

Status AtbRoundReader::read() {
  ULPSCOPE_TRY(tree_.read_folders(root_, round_.relative));
  read_table();
  tree_.finish();
  collect();
  read_headers();
  find_aliased();
  return {};
}

void AtbRoundReader::read_table() {
  const auto file = File::open_under(root_, path_of("statistic.csv"));
  if (!file.ok()) {
    // Runs of the older layout have none.
    if (entry_kind(root_ + "/" + path_of("statistic.csv"))) table_error_ = file.error();
    return;
  }
  if (const Status read = tree_.read_table(*file); !read.ok()) table_error_ = read.error();
}

void AtbRoundReader::collect() {
  for (uint32_t op = 0; op < tree_.ops().size(); ++op) {
    first_of_op_.push_back(stored_.size());
    for (const auto& [place, tensor] : tree_.ops()[op].tensors) stored_.push_back({op, place, &tensor, {}});
  }
  first_of_op_.push_back(stored_.size());
}

// A plain file below folders that are no links cannot lie outside the dump; a link may lead anywhere.
Result<AtbContainer> AtbRoundReader::read_header(const AtbTensor& tensor) const {
  const std::string path = path_of(tensor.file);
  const auto file = tensor.is_link ? File::open_under(root_, path) : File::open(root_ + "/" + path);
  if (!file.ok()) return file.error();
  return read_atb_container(*file);
}

void AtbRoundReader::read_headers() {
  const size_t tasks = (stored_.size() + kHeadersPerTask - 1) / kHeadersPerTask;
  host_.parallel_for(tasks, [&](uint64_t task) {
    const size_t first = static_cast<size_t>(task) * kHeadersPerTask;
    for (size_t i = first; i < std::min(first + kHeadersPerTask, stored_.size()); ++i)
      if (!stored_[i].tensor->file.empty()) stored_[i].header.emplace(read_header(*stored_[i].tensor));
  });
}

const AtbRoundReader::Stored* AtbRoundReader::find(uint32_t op, const AtbTensorPlace& place) const {
  const auto begin = stored_.begin() + static_cast<std::ptrdiff_t>(first_of_op_[op]);
  const auto end = stored_.begin() + static_cast<std::ptrdiff_t>(first_of_op_[op + 1]);
  const auto found = std::lower_bound(
      begin, end, place, [](const Stored& stored, const AtbTensorPlace& p) { return stored.place < p; });
  return found == end || found->place != place ? nullptr : &*found;
}

// The tensor that holds the elements of an alias. null: the elements were filtered when they were dumped.
Result<const AtbRoundReader::Stored*> AtbRoundReader::resolve(const Stored& alias) const {
  const Stored* at = &alias;
  for (int hop = 0; hop < kMaxHops; ++hop) {
    const std::string& text = at->container()->alias;
    const auto name = parse_atb_alias(text);
    if (!name)
      return bad("alias of \"" + printable(text.substr(0, 80)) +
                 "\", expected <ids>_intensor<n>.bin or outtensor");
    if (name->ids.empty()) return static_cast<const Stored*>(nullptr);
    const uint32_t op = tree_.find(atb_id_text(name->ids));
    const Stored* next = op == AtbOp::kNone ? nullptr : find(op, {name->is_output, name->index});
    if (next == nullptr || !next->header) return bad("alias of " + printable(text) + ", which is not there");
    if (next->container() == nullptr)
      return bad("alias of " + printable(text) + ", which cannot be read: " + next->header->error().message);
    if (next == &alias) break;
    if (!next->container()->is_alias) return next;
    at = next;
  }
  return bad("alias of " + printable(alias.container()->alias) +
             ", which leads to itself or through more than 8 files");
}

void AtbRoundReader::find_aliased() {
  for (const Stored& stored : stored_) {
    const AtbContainer* container = stored.container();
    if (container == nullptr || !container->is_alias) continue;
    const auto data = resolve(stored);
    if (!data.ok()) continue;
    if (*data == nullptr) {
      ++filtered_count_;
      continue;
    }
    ++alias_count_;
    const Stored& target = **data;
    aliased_.insert(
        atb_tensor_key(atb_id_text(tree_.ops()[target.op].ids), target.place.is_output, target.place.index));
  }
}

// Operations in the order in which they end: each behind its children.
std::vector<uint32_t> AtbRoundReader::in_order() const {
  // Parents before children, last child first, and then all of it backwards.
  std::vector<uint32_t> order, stack(tree_.layers().begin(), tree_.layers().end());
  while (!stack.empty()) {
    const uint32_t op = stack.back();
    stack.pop_back();
    order.push_back(op);
    stack.insert(stack.end(), tree_.ops()[op].children.begin(), tree_.ops()[op].children.end());
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// Kernels are called by operations that the graph of the model does not take further apart, and have no
// parameters of their own.
OpKind AtbRoundReader::kind_of(const AtbOp& op) const {
  if (op.ids.size() == 1) return OpKind::layer;
  if (topology_.find(op.ids) != nullptr || !op.children.empty()) return OpKind::api;
  const AtbTopology::Node* parent = topology_.find(std::span(op.ids).first(op.ids.size() - 1));
  if (parent != nullptr && parent->children.empty()) return OpKind::kernel;
  const bool in_native = op.parameter_file.empty() && !tree_.ops()[op.parent].parameter_file.empty();
  return in_native || op.type.ends_with("Kernel") ? OpKind::kernel : OpKind::api;
}

uint32_t AtbRoundReader::emit(RecordSink& sink, uint32_t first_op) {
  tell_of_table(sink);
  tell_of_aliases(sink);
  for (const AtbOddity& odd : tree_.oddities())
    sink.diagnose(odd.is_lost ? ULPSCOPE_E_IO : ULPSCOPE_E_FORMAT, odd.where, odd.text);
  const std::vector<uint32_t> order = in_order();
  std::vector<uint32_t> number(tree_.ops().size());
  for (size_t i = 0; i < order.size(); ++i) number[order[i]] = first_op + static_cast<uint32_t>(i);
  for (const uint32_t op : order) {
    host_.check_cancelled();
    const uint32_t parent = tree_.ops()[op].parent;
    emit_op(sink, op, parent == AtbOp::kNone ? kNoIndex : number[parent]);
  }
  return static_cast<uint32_t>(order.size());
}

}  // namespace ulpscope
