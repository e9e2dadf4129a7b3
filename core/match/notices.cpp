#include "match/notices.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostRanks = 8;  // named in a notice
constexpr int64_t kMany = 8;      // calls on one side; fewer are an edit of the program, not a filter

// Calls that move, copy or create elements and compute none: the class that the collector's default risk
// level leaves out at the levels L1 and mix. Sorted.
constexpr std::string_view kShapeAndCopy[] = {"T",
                                              "__getitem__",
                                              "__setitem__",
                                              "arange",
                                              "as_strided",
                                              "as_tensor",
                                              "atleast_1d",
                                              "atleast_2d",
                                              "atleast_3d",
                                              "broadcast_tensors",
                                              "broadcast_to",
                                              "cat",
                                              "chunk",
                                              "clone",
                                              "column_stack",
                                              "concat",
                                              "contiguous",
                                              "copy_",
                                              "cpu",
                                              "cuda",
                                              "detach",
                                              "diag_embed",
                                              "diagonal",
                                              "dsplit",
                                              "dstack",
                                              "empty",
                                              "empty_like",
                                              "empty_strided",
                                              "expand",
                                              "expand_as",
                                              "eye",
                                              "flatten",
                                              "flip",
                                              "fliplr",
                                              "flipud",
                                              "from_numpy",
                                              "full",
                                              "full_like",
                                              "hsplit",
                                              "hstack",
                                              "item",
                                              "linspace",
                                              "logspace",
                                              "meshgrid",
                                              "movedim",
                                              "narrow",
                                              "new_empty",
                                              "new_full",
                                              "new_ones",
                                              "new_tensor",
                                              "new_zeros",
                                              "npu",
                                              "ones",
                                              "ones_like",
                                              "permute",
                                              "range",
                                              "ravel",
                                              "repeat",
                                              "repeat_interleave",
                                              "reshape",
                                              "reshape_as",
                                              "resize_",
                                              "roll",
                                              "rot90",
                                              "select",
                                              "size",
                                              "split",
                                              "split_with_sizes",
                                              "squeeze",
                                              "squeeze_",
                                              "stack",
                                              "swapaxes",
                                              "swapdims",
                                              "t",
                                              "tensor_split",
                                              "tile",
                                              "to",
                                              "transpose",
                                              "transpose_",
                                              "tril",
                                              "tril_indices",
                                              "triu",
                                              "triu_indices",
                                              "type",
                                              "type_as",
                                              "unbind",
                                              "unflatten",
                                              "unfold",
                                              "unsqueeze",
                                              "unsqueeze_",
                                              "view",
                                              "view_as",
                                              "vsplit",
                                              "vstack",
                                              "zeros",
                                              "zeros_like"};

// What one side has without a partner, and what it has at all.
struct SideCounts {
  int64_t alone = 0, alone_of_class = 0, of_class = 0;
  int64_t alone_modules = 0, alone_apis = 0, modules = 0, apis = 0;
};

SideCounts count(const DumpIndex& index, const std::vector<OpId>& partner_of) {
  SideCounts counts;
  for (OpId op = 0; op < partner_of.size(); ++op) {
    const OpRow& row = index.ops()[op];
    const bool module = row.kind == OpKind::module;
    const bool of_class = row.kind == OpKind::api && is_shape_or_copy(index.text(row.type));
    const bool alone = partner_of[op] == kNoIndex;
    (module ? counts.modules : counts.apis) += 1;
    counts.of_class += of_class ? 1 : 0;
    if (!alone) continue;
    ++counts.alone;
    (module ? counts.alone_modules : counts.alone_apis) += 1;
    counts.alone_of_class += of_class ? 1 : 0;
  }
  return counts;
}

// What a tensor has to compare by, as an index of the words of task_notice; 0: nothing.
size_t offered(const DumpIndex& index, const TensorRow& tensor) {
  if (tensor.data_kind != ULPSCOPE_DATA_NONE) return 3;
  return !index.text(tensor.digest).empty() ? 2 : tensor.stats.present != 0 ? 1 : 0;
}

void add(const SideCounts& side, const SideCounts& other, const std::string& name,
         const std::string& other_name, std::vector<std::string>& notices) {
  if (side.alone < kMany) return;
  if (side.alone == side.alone_of_class && other.of_class == 0)
    notices.push_back(count_text(side.alone) + " calls are only in " + name +
                      ", all of shape, copy and creation (view, to, cat, zeros, …): the filters of the dumps "
                      "differ, " +
                      other_name + " was probably recorded with risk_level FOCUS");
  else if (side.alone == side.alone_modules && other.modules == 0 && other.apis > 0)
    notices.push_back(count_text(side.alone) + " modules are only in " + name + ": " + other_name +
                      " was recorded without modules (level L1)");
  else if (side.alone == side.alone_apis && other.apis == 0 && other.modules > 0)
    notices.push_back(count_text(side.alone) + " API calls are only in " + name + ": " + other_name +
                      " was recorded without APIs (level L0)");
}

// Ranks that were recorded with other settings than the rest compare by less, or not at all.
std::string task_notice(const DumpIndex& index, const std::string& name) {
  const auto is_of_first_rank = [&](const StepRank& group) {
    return group.rank == index.groups().front().rank;
  };
  if (std::all_of(index.groups().begin(), index.groups().end(), is_of_first_rank)) return "";
  constexpr std::string_view kWords[] = {"", "statistics", "checksums", "tensor"};
  std::map<std::string_view, std::vector<int32_t>> ranks;  // by what the best of their tensors offer
  for (const StepRank& group : index.groups()) {
    size_t best = 0;
    for (const OpId op : group.ops)
      for (const ItemRow& item : index.items(op))
        if (item.tensor != kNoIndex) best = std::max(best, offered(index, index.tensors()[item.tensor]));
    std::vector<int32_t>& list = ranks[kWords[best]];
    if (best > 0 && group.rank >= 0 && std::find(list.begin(), list.end(), group.rank) == list.end())
      list.push_back(group.rank);
  }
  ranks.erase("");
  std::erase_if(ranks, [](const auto& each) { return each.second.empty(); });
  if (ranks.size() < 2) return "";
  std::string text;
  for (const auto& [task, list] : ranks) {
    text += (text.empty() ? "" : "; ") + std::string(task) + (list.size() == 1 ? " by rank " : " by ranks ");
    for (size_t i = 0; i < list.size() && i < kMostRanks; ++i)
      text += (i == 0 ? "" : ", ") + std::to_string(list[i]);
    if (list.size() > kMostRanks) text += ", …";
  }
  return "the ranks of " + name + " were recorded with different tasks: " + text;
}

}  // namespace

bool is_shape_or_copy(std::string_view api) {
  return std::binary_search(std::begin(kShapeAndCopy), std::end(kShapeAndCopy), api);
}

std::vector<std::string> filter_notices(const DumpIndex& target, const DumpIndex& golden,
                                        const OpPartners& partners) {
  std::vector<std::string> notices;
  const auto has_many_alone = [](const std::vector<OpId>& partner_of) {
    return std::count(partner_of.begin(), partner_of.end(), kNoIndex) >= kMany;
  };
  if (has_many_alone(partners.golden_of) || has_many_alone(partners.target_of)) {
    const SideCounts t = count(target, partners.golden_of), g = count(golden, partners.target_of);
    add(t, g, "target", "golden", notices);
    add(g, t, "golden", "target", notices);
  }
  for (const auto& [index, name] : {std::pair(&target, "target"), std::pair(&golden, "golden")})
    if (std::string text = task_notice(*index, name); !text.empty()) notices.push_back(std::move(text));
  return notices;
}

}  // namespace ulpscope
