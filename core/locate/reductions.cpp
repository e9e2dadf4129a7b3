#include "locate/reductions.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace ulpscope {
namespace {

// A layer rounds what it adds to its input some tens of times; its long sums are kept in float32.
constexpr double kRoundingsOfLayer = 32;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

Reductions::Reductions(const DumpIndex& index) : index_(index) {
  for (const OpRow& op : index.ops())
    if (const auto [entry, fresh] = by_type_.try_emplace(op.type); fresh)
      entry->second = summed_by(index.text(op.type));
}

Reductions::Summed Reductions::summed_by(std::string_view type) {
  const std::string name = to_lower(type);
  if (contains(name, "conv")) return Summed::kernel;
  for (const char* word : {"linear", "matmul", "mm", "norm", "softmax", "sum", "mean", "attn", "attention",
                           "proj", "mlp", "gemm", "einsum", "var", "std", "logits", "loss", "cumsum"})
    if (contains(name, word)) return Summed::last_dimension;
  return Summed::nothing;
}

double Reductions::length(OpId op) const {
  std::span<const int64_t> first, second;
  for (const ItemRow& item : index_.items(op)) {
    if (item.tensor == kNoIndex || !is_input(item.role)) continue;
    if (first.empty()) {
      first = index_.shape_of(item.tensor);
    } else {
      second = index_.shape_of(item.tensor);
      break;
    }
  }
  if (first.empty()) return 1;
  const auto last = static_cast<double>(std::max<int64_t>(first.back(), 1));
  const OpRow& row = index_.ops()[op];
  if (row.kind == OpKind::layer) return kRoundingsOfLayer;
  if (row.kind == OpKind::module) return last;  // at least one norm or product is inside
  const Summed summed = by_type_.at(row.type);
  if (summed != Summed::kernel) return summed == Summed::last_dimension ? last : 1;
  double k = 1;
  for (size_t i = 1; i < second.size(); ++i) k *= static_cast<double>(std::max<int64_t>(second[i], 1));
  return k;
}

}  // namespace ulpscope
