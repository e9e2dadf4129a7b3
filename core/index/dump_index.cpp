#include "index/dump_index.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/folder.hpp"
#include "base/stray_output.hpp"
#include "base/text.hpp"
#include "index/argument_tree.hpp"
#include "index/record_rules.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMaxRows = 0x7fffffff;
constexpr size_t kMaxAncestors = 1000;

// Place of a role in the row order of an op: inputs, parameters, outputs, gradients.
int role_order(Role role) {
  switch (role) {
    case Role::input:
      return 0;
    case Role::kwarg:
      return 1;
    case Role::parameter:
      return 2;
    case Role::output:
      return 3;
    case Role::gradient:
      return 4;
  }
  return 5;
}

// A dump that says nothing of steps or ranks (-1), such as a golden made of files, serves each of them.
bool listed(const std::vector<int32_t>& list, int32_t number) {
  return list.empty() || number < 0 || std::binary_search(list.begin(), list.end(), number);
}

// The row of a tensor record as far as its numbers go; those that mean nothing become those that promise
// least.
TensorRow row_of(const ulpscope_tensor_record& t) {
  TensorRow row;
  const bool has_role = t.role >= ULPSCOPE_INPUT && t.role <= ULPSCOPE_GRADIENT;
  row.role = has_role ? static_cast<Role>(t.role) : Role::input;
  const bool has_dtype = t.dtype >= 0 && t.dtype < kDTypeCount;
  row.dtype = has_dtype ? static_cast<DType>(t.dtype) : DType::none;
  row.absent = t.absent >= 0 && t.absent <= ULPSCOPE_ABSENT_BAD ? t.absent : 0;
  row.flags = t.flags;
  row.data_kind = t.data.kind;
  row.data_offset = t.data.offset;
  row.data_size = t.data.size;
  row.data_token = t.data.token;
  row.stats = t.stats;
  return row;
}

void set_error(ulpscope_error* err, ulpscope_status code, std::string_view text) {
  if (err == nullptr) return;
  err->code = code;
  const size_t n = std::min(text.size(), sizeof(err->message) - 1);
  std::copy_n(text.data(), n, err->message);
  err->message[n] = '\0';
}

}  // namespace

// Takes the records of a scan. An op's items are made when the op is complete: at the next op, or at the end.
class IndexBuilder {
 public:
  IndexBuilder(DumpIndex& index, const ScanFilter& filter, Diagnostics& diagnostics, const Cancel& cancel)
      : index_(index), filter_(filter), diagnostics_(diagnostics), cancel_(cancel) {}

  ulpscope_record_sink sink() {
    ulpscope_record_sink table = {};
    table.struct_size = sizeof(table);
    table.ctx = this;
    table.add_op = [](void* ctx, const ulpscope_op_record* op, uint32_t* index, ulpscope_error* err) {
      return static_cast<IndexBuilder*>(ctx)->add_op(*op, *index, err);
    };
    table.add_tensor = [](void* ctx, const ulpscope_tensor_record* t, uint32_t* index, ulpscope_error* err) {
      return static_cast<IndexBuilder*>(ctx)->add_tensor(*t, *index, err);
    };
    table.diagnose = [](void* ctx, ulpscope_status code, ulpscope_str where, ulpscope_str text) {
      static_cast<IndexBuilder*>(ctx)->diagnose(code, to_view(where), to_view(text));
    };
    return table;
  }

  void finish() {
    complete_op();
    resolve_parents();
    make_groups();
    name_contents();
  }

 private:
  ulpscope_status add_op(const ulpscope_op_record& op, uint32_t& number, ulpscope_error* err) {
    if (cancel_.requested()) {
      set_error(err, ULPSCOPE_E_CANCELLED, "cancelled");
      return ULPSCOPE_E_CANCELLED;
    }
    complete_op();
    if (rows_of_source_.size() >= kMaxRows) {
      set_error(err, ULPSCOPE_E_UNSUPPORTED, "more than 2147483647 ops");
      return ULPSCOPE_E_UNSUPPORTED;
    }
    number = static_cast<uint32_t>(rows_of_source_.size());
    const bool kept = listed(filter_.steps, op.step) && listed(filter_.ranks, op.rank) &&
                      (filter_.name_glob.empty() || glob_match(filter_.name_glob, to_view(op.name)));
    rows_of_source_.push_back(kept ? static_cast<OpId>(index_.ops_.size()) : kNoIndex);
    parents_of_source_.push_back(op.parent);
    open_ = kept;
    if (!kept) return ULPSCOPE_OK;
    OpRow row;
    row.kind = op.kind >= ULPSCOPE_OP_API && op.kind <= ULPSCOPE_OP_COMMUNICATION
                   ? static_cast<OpKind>(op.kind)
                   : OpKind::api;
    row.phase = op.phase >= ULPSCOPE_PHASE_NONE && op.phase <= ULPSCOPE_BACKWARD
                    ? static_cast<Phase>(op.phase)
                    : Phase::none;
    row.step = op.step;
    row.rank = op.rank;
    row.token = op.token;
    row.call = op.call;
    row.name = index_.texts_.add(to_view(op.name));
    row.type = index_.texts_.add(to_view(op.type));
    row.stack = index_.texts_.add(to_view(op.stack));
    row.attributes = index_.texts_.add(to_view(op.attributes_json));
    row.originals = index_.texts_.add(to_view(op.originals));
    row.first_item = static_cast<ItemId>(index_.items_.size());
    for (const RecordMistake& mistake : mistakes_of(op))
      blame(Severity::warning, to_view(op.name), mistake.text);
    index_.ops_.push_back(row);
    first_tensor_ = index_.tensors_.size();
    return ULPSCOPE_OK;
  }

  ulpscope_status add_tensor(const ulpscope_tensor_record& t, uint32_t& number, ulpscope_error* err) {
    number = tensors_seen_++;
    if (t.op + size_t{1} != rows_of_source_.size()) {
      set_error(err, ULPSCOPE_E_INTERNAL, "a tensor does not follow its op");
      return ULPSCOPE_E_INTERNAL;
    }
    if (!open_) return ULPSCOPE_OK;
    TensorRow row = row_of(t);
    row.op = static_cast<OpId>(index_.ops_.size() - 1);
    row.path = index_.texts_.add(to_view(t.path));
    row.digest = index_.texts_.add(to_view(t.digest));
    row.link = index_.texts_.add(to_view(t.link));
    row.origin = index_.texts_.add(to_view(t.origin));
    row.storage = index_.texts_.add(to_view(t.storage));
    row.shape = index_.shapes_.add({t.dims, t.dim_count > kMostDims ? 0 : t.dim_count});
    row.data_file = index_.texts_.add(to_view(t.data.file));
    check_tensor(t, row);
    index_.tensors_.push_back(row);
    return ULPSCOPE_OK;
  }

  void diagnose(ulpscope_status code, std::string_view where, std::string_view text) {
    const Severity severity = code == ULPSCOPE_OK     ? Severity::notice
                              : code == ULPSCOPE_E_IO ? Severity::error
                                                      : Severity::warning;
    const Code known =
        code >= ULPSCOPE_E_USAGE && code <= ULPSCOPE_E_INTERNAL ? static_cast<Code>(code) : Code::format;
    diagnostics_.add({severity, known, std::string(where), std::string(text)});
  }

  // What the source itself has done wrong; where is an op, or one of its tensors.
  void blame(Severity severity, std::string_view where, const std::string& text) {
    diagnostics_.add({severity, severity == Severity::error ? Code::io : Code::format,
                      printable(where.empty() ? "an op without a name" : where),
                      text + ", by " + index_.source_.component().text()});
  }

  // A tensor whose type, shape or place means nothing keeps its row, and its data counts as lost.
  void check_tensor(const ulpscope_tensor_record& t, TensorRow& row) {
    const std::vector<RecordMistake> mistakes = mistakes_of(t);
    if (mistakes.empty()) return;
    const bool is_lost =
        t.data.kind != ULPSCOPE_DATA_NONE &&
        (t.data.kind < 0 || t.data.kind > ULPSCOPE_DATA_STREAM || t.dtype < 0 || t.dtype >= kDTypeCount ||
         std::any_of(mistakes.begin(), mistakes.end(),
                     [](const RecordMistake& each) { return each.rule == RecordRule::shape; }));
    if (is_lost) {
      row.data_kind = ULPSCOPE_DATA_NONE;
      row.absent = ULPSCOPE_ABSENT_BAD;
    }
    const std::string where = std::string(index_.text(index_.ops_.back().name)) + " " +
                              std::string(role_word(row.role)) + "." + std::string(to_view(t.path));
    for (const RecordMistake& mistake : mistakes)
      blame(is_lost ? Severity::error : Severity::warning, where, mistake.text);
  }

  // Two tensors of one role and place: no name tells them apart, and pairs of them are chosen by order.
  void check_places() {
    places_.clear();
    for (size_t i = first_tensor_; i < index_.tensors_.size(); ++i)
      places_.emplace_back(index_.tensors_[i].role, index_.tensors_[i].path);
    std::sort(places_.begin(), places_.end());
    const auto twice = std::adjacent_find(places_.begin(), places_.end());
    if (twice == places_.end()) return;
    blame(Severity::warning, index_.text(index_.ops_.back().name),
          "tensor " + std::string(role_word(twice->first)) + "." + std::string(index_.text(twice->second)) +
              " is given twice");
  }

  // Makes the items of the open op from its argument tree, or from its tensors where it has none.
  void complete_op() {
    if (!open_) return;
    open_ = false;
    check_places();
    OpRow& op = index_.ops_.back();
    const size_t tensor_count = index_.tensors_.size() - first_tensor_;
    std::vector<bool> placed(tensor_count, false);
    if (op.attributes != 0) place_tree(op, placed);
    for (size_t i = 0; i < tensor_count; ++i) {
      if (placed[i]) continue;
      const TensorRow& tensor = index_.tensors_[first_tensor_ + i];
      index_.items_.push_back(
          {tensor.op, static_cast<TensorId>(first_tensor_ + i), tensor.role, tensor.path, 0, 0});
    }
    op.item_count = static_cast<uint32_t>(index_.items_.size() - op.first_item);
    std::stable_sort(
        index_.items_.begin() + op.first_item, index_.items_.end(),
        [](const ItemRow& a, const ItemRow& b) { return role_order(a.role) < role_order(b.role); });
  }

  void place_tree(const OpRow& op, std::vector<bool>& placed) {
    auto tree = read_argument_tree(index_.texts_.text(op.attributes));
    if (!tree.ok()) {
      blame(Severity::warning, index_.text(op.name), tree.error().message);
      return;
    }
    for (ArgumentItem& argument : tree->items) {
      ItemRow item;
      item.op = static_cast<OpId>(index_.ops_.size() - 1);
      item.role = argument.role;
      item.path = index_.texts_.add(argument.path);
      if (argument.tensor >= 0) {
        const auto number = static_cast<size_t>(argument.tensor);
        if (number >= placed.size() || placed[number]) continue;
        placed[number] = true;
        const TensorRow& tensor = index_.tensors_[first_tensor_ + number];
        item.tensor = static_cast<TensorId>(first_tensor_ + number);
        item.role = tensor.role;
        item.path = tensor.path;
      } else {
        item.type = index_.texts_.add(argument.type);
        item.value = index_.texts_.add(argument.value);
      }
      index_.items_.push_back(item);
    }
  }

  // A parent may come after its children (a module is recorded where it returns), so parents are settled at
  // the end. An op whose parent is not kept gets the nearest kept ancestor.
  void resolve_parents() {
    const size_t count = rows_of_source_.size();
    int64_t unknown = 0;
    for (size_t i = 0; i < count; ++i) {
      if (rows_of_source_[i] == kNoIndex) continue;
      uint32_t parent = parents_of_source_[i];
      size_t steps = 0;
      while (parent < count && rows_of_source_[parent] == kNoIndex && steps++ < kMaxAncestors)
        parent = parents_of_source_[parent];
      if (parent < count && parent != i && steps < kMaxAncestors)
        index_.ops_[rows_of_source_[i]].parent = rows_of_source_[parent];
      else if (parent != kNoIndex)
        ++unknown;
    }
    if (unknown > 0)
      diagnostics_.add({Severity::warning, Code::format, index_.path(),
                        std::to_string(unknown) + " ops name a parent that is not there"});
  }

  void make_groups() {
    std::map<std::pair<int32_t, int32_t>, std::vector<OpId>> groups;
    for (size_t i = 0; i < index_.ops_.size(); ++i)
      groups[{index_.ops_[i].step, index_.ops_[i].rank}].push_back(static_cast<OpId>(i));
    for (auto& [key, ops] : groups) index_.groups_.push_back({key.first, key.second, std::move(ops)});
  }

  void name_contents() {
    bool data = false, statistics = false, digest = false;
    for (const TensorRow& tensor : index_.tensors_) {
      data |= tensor.data_kind != ULPSCOPE_DATA_NONE;
      statistics |= tensor.stats.present != 0;
      digest |= tensor.digest != 0;
    }
    index_.task_ = data ? "tensor" : statistics ? "statistics" : digest ? "digest" : "structure";
    bool api = false, module = false, layer = false, kernel = false;
    for (const OpRow& op : index_.ops_) {
      api |= op.kind == OpKind::api || op.kind == OpKind::communication;
      module |= op.kind == OpKind::module;
      layer |= op.kind == OpKind::layer;
      kernel |= op.kind == OpKind::kernel;
    }
    index_.level_ = layer           ? "layer"
                    : kernel        ? "kernel"
                    : api && module ? "mix"
                    : module        ? "L0"
                    : api           ? "L1"
                                    : "";
  }

  DumpIndex& index_;
  const ScanFilter& filter_;
  Diagnostics& diagnostics_;
  const Cancel& cancel_;
  std::vector<OpId> rows_of_source_;         // op number of the source to our row; kNoIndex: not kept
  std::vector<uint32_t> parents_of_source_;  // op number of the source to the number of its parent
  uint32_t tensors_seen_ = 0;
  size_t first_tensor_ = 0;
  std::vector<std::pair<Role, TextId>> places_;  // of the tensors of one op; kept for its memory
  bool open_ = false;
};

DumpIndex::DumpIndex(SourceHandle source) : source_(std::move(source)), root_(dump_root(source_.path())) {}

Result<DumpIndex> DumpIndex::build(SourceHandle source, const ScanFilter& filter, Diagnostics& diagnostics,
                                   const Cancel& cancel) {
  DumpIndex index(std::move(source));
  IndexBuilder builder(index, filter, diagnostics, cancel);
  const ulpscope_record_sink sink = builder.sink();
  const Status scanned = index.source_.scan(sink);
  if (const StrayOutput stray = take_stray_output(); stray.size_bytes > 0)
    diagnostics.add({Severity::warning, Code::unsupported, index.source_.component().text(),
                     "printed " + size_text(stray.size_bytes) + " to the standard output: '" +
                         printable(stray.beginning) + "'; a plugin prints nothing"});
  ULPSCOPE_TRY(scanned);
  builder.finish();
  return index;
}

int64_t DumpIndex::element_count(TensorId tensor) const {
  int64_t count = 1;
  for (const int64_t dim : shape_of(tensor))
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return -1;
  return count;
}

std::string DumpIndex::item_name(ItemId item) const {
  const ItemRow& row = items_[item];
  std::string name(role_word(row.role));
  const std::string_view path = text(row.path);
  if (!path.empty()) name.append(".").append(path);
  return name;
}

std::string_view role_word(Role role) {
  switch (role) {
    case Role::input:
    case Role::kwarg:
      return "input";
    case Role::output:
      return "output";
    case Role::parameter:
      return "parameter";
    case Role::gradient:
      return "gradient";
  }
  return "input";
}

}  // namespace ulpscope
