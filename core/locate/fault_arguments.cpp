// Arguments that are no tensors: whether another number explains another result, and whether it is a fault of
// its own.
#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "locate/fault_finder.hpp"

namespace ulpscope {
namespace {

std::ptrdiff_t count_digits(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Of a value as the argument of a call of some step, rank and type; comparable between the sides.
uint64_t argument_hash(const DumpIndex& index, const ItemRow& item, std::string_view value) {
  const OpRow& op = index.ops()[item.op];
  uint64_t hash =
      static_cast<uint64_t>(static_cast<uint32_t>(op.step)) << 32 | static_cast<uint32_t>(op.rank);
  for (const std::string_view text : {index.text(op.type), index.text(item.path), value})
    hash = XXH3_64bits_withSeed(text.data(), text.size(), hash);
  return hash;
}

std::unordered_set<uint64_t> arguments_of(const DumpIndex& index) {
  std::unordered_set<uint64_t> hashes;
  for (const ItemRow& item : index.items())
    if (item.tensor == kNoIndex) hashes.insert(argument_hash(index, item, index.text(item.value)));
  return hashes;
}

}  // namespace

// Whether the argument of a row is a number on both sides.
bool FaultFinder::number_differs(int64_t row) const {
  const auto is_number = [](std::string_view type) {
    return type == "float" || type == "int" || type == "bool";
  };
  return is_number(table_.target->text(table_.target->items()[target_item(row)].type)) &&
         is_number(table_.golden->text(table_.golden->items()[golden_item(row)].type));
}

// Whether the argument of a row is a real number on both sides, and so far off that the run, if it computed
// the number, would have to be wrong itself.
bool FaultFinder::real_differs(int64_t row) const {
  constexpr double kComputed = 0.05;
  const ItemRow &target = table_.target->items()[target_item(row)],
                &golden = table_.golden->items()[golden_item(row)];
  if (table_.target->text(target.type) != "float" || table_.golden->text(golden.type) != "float")
    return false;
  const auto a = parse_double(table_.target->text(target.value)),
             b = parse_double(table_.golden->text(golden.value));
  return a && b && std::fabs(*a - *b) > kComputed * std::max(std::fabs(*a), std::fabs(*b));
}

// Another argument explains another result; with equal results it is a row that differs and nothing more.
bool FaultFinder::argument_explains(size_t op, const Incoming& in) const {
  const OpError& error = ops_[op];
  if (!error.value_mismatch || in.inherited || in.tie || error.differing_outputs == 0 || inner_differs(op))
    return false;
  if (error.differing_inputs == 0) return true;
  if (deterministic_ || in.external_row >= 0) return false;
  // Another scale or epsilon makes another result, however little of it shows beside the rounding.
  if (real_differs(error.value_row)) return true;
  return exceeds_inputs(error) || (number_differs(error.value_row) && standings_[op].suspicious);
}

// The same two values in the same step and rank are one fault, whichever calls read them. A number with all
// its digits may be one that the run computed: once something is off, it is off with the rest.
bool FaultFinder::argument_came_in(size_t op) {
  constexpr std::ptrdiff_t kWrittenDigits = 8;
  if (blamed_arguments_.contains(argument_fault(op))) return true;
  const int64_t row = ops_[op].value_row;
  const auto rank = ranks_.find(target_op(op).rank);
  if (rank == ranks_.end() || !rank->second.tainted || rank->second.tainted_step != target_op(op).step)
    return false;
  const ItemRow &target = table_.target->items()[target_item(row)],
                &golden = table_.golden->items()[golden_item(row)];
  const auto is_computed = [&](std::string_view type, std::string_view text) {
    return type == "float" && count_digits(text) > kWrittenDigits;
  };
  if (is_computed(table_.target->text(target.type), table_.target->text(target.value)) &&
      is_computed(table_.golden->text(golden.type), table_.golden->text(golden.value)))
    return true;
  return is_misplaced_argument(row);
}

// Whether each side gives in another call of the type and step what it gives here on the other side: calls
// that a fault before them has moved.
bool FaultFinder::is_misplaced_argument(int64_t row) {
  const DumpIndex &target = *table_.target, &golden = *table_.golden;
  if (target_arguments_.empty()) {
    target_arguments_ = arguments_of(target);
    golden_arguments_ = arguments_of(golden);
  }
  const ItemRow &t = target.items()[target_item(row)], &g = golden.items()[golden_item(row)];
  return target_arguments_.contains(argument_hash(target, t, golden.text(g.value))) &&
         golden_arguments_.contains(argument_hash(golden, g, target.text(t.value)));
}

FaultFinder::ArgumentFault FaultFinder::argument_fault(size_t op) const {
  const int64_t row = ops_[op].value_row;
  const OpRow& record = target_op(op);
  return {record.step, record.rank, record.type, table_.target->items()[target_item(row)].value,
          table_.golden->items()[golden_item(row)].value};
}

}  // namespace ulpscope
