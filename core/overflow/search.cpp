#include "overflow/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "formats/json_tape.hpp"
#include "index/known_sources.hpp"
#include "overflow/collectives.hpp"
#include "overflow/op_state.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostAncestors = 1000;

// What a rank has been seen to hold so far: what comes in later may stem from it.
struct Seen {
  bool nan = false, inf = false;
  bool mask = false;  // infinities that were written on purpose, or look like it
  bool possible = false, limit = false;
};

// What operations inside an op (the calls of a module) gave: then the op itself is not where it began.
struct Inside {
  bool bad = false, possible = false, limit = false;
};

class Search {
 public:
  Search(const DumpIndex& index, const std::vector<TensorState>& states, const OverflowKinds& kinds)
      : index_(index), states_(states), kinds_(kinds) {}

  void step(const std::vector<const StepRank*>& groups) {
    const Collectives collectives(index_, groups);
    op_states_.clear();
    inside_.clear();
    reported_calls_.clear();
    for (const StepRank* group : groups) learn(*group);
    for (const StepRank* group : groups) {
      Seen& seen = seen_[group->rank];
      for (size_t place = 0; place < group->ops.size(); ++place)
        visit(group->ops[place], place, collectives, seen);
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Placed& a, const Placed& b) { return a.place < b.place; });
    for (Placed& each : found_) report_.findings.push_back(std::move(each.finding));
    found_.clear();
  }

  OverflowReport take() {
    report_.certain =
        std::count_if(report_.findings.begin(), report_.findings.end(),
                      [](const OverflowFinding& f) { return f.status == OverflowStatus::certain; });
    return std::move(report_);
  }

 private:
  struct Placed {
    size_t place = 0;  // in the step of its rank
    OverflowFinding finding;
  };

  // First pass: the state of each op, and what lies inside which.
  void learn(const StepRank& group) {
    GarbageShapes garbage;
    for (const OpId op : group.ops) {
      const OverflowState state = op_state(index_, states_, op, garbage);
      report_.bad_tensors += state.bad_tensors;
      report_.ignored += state.ignored;
      const SideState& out = state.outputs;
      if (out.bad() || out.only_mean_or_norm || out.limit) mark_ancestors(op, out);
      op_states_.emplace(op, state);
    }
  }

  void mark_ancestors(OpId op, const SideState& out) {
    OpId parent = index_.ops()[op].parent;
    for (size_t depth = 0; parent != kNoIndex && depth < kMostAncestors; ++depth) {
      Inside& inside = inside_[parent];
      inside.bad |= out.bad();
      inside.possible |= out.only_mean_or_norm;
      inside.limit |= out.limit;
      parent = index_.ops()[parent].parent;
    }
  }

  void add(size_t place, OpId op, ItemId item, OverflowKind kind, OverflowStatus status, std::string why) {
    const bool wanted = kind == OverflowKind::nan     ? kinds_.nan
                        : kind == OverflowKind::inf   ? kinds_.inf
                        : kind == OverflowKind::limit ? kinds_.limit
                                                      : kinds_.record;
    if (wanted) found_.push_back({place, {op, item, kind, status, std::move(why)}});
  }

  void visit(OpId op, size_t place, const Collectives& collectives, Seen& seen) {
    const OverflowState& state = op_states_.at(op);
    const auto inside = inside_.find(op);
    const Inside within = inside == inside_.end() ? Inside() : inside->second;
    visit_records(op, place);
    visit_inputs(op, place, state, seen);
    if (!within.bad) {
      if (state.outputs.nan)
        visit_nan(op, place, state, collectives, seen);
      else if (state.outputs.inf)
        visit_inf(op, place, state, collectives, seen);
    }
    visit_possible(op, place, state, within, seen);
  }

  // What the accelerator reported of this call, as the source recorded it.
  void visit_records(OpId op, size_t place) {
    const OpRow& row = index_.ops()[op];
    const std::string_view attributes = index_.text(row.attributes);
    if (!attributes.starts_with("{\"overflow\"")) return;
    JsonLexer lexer(attributes);
    JsonTape tape;
    if (tape.read(lexer) != JsonRead::ok) return;
    const uint32_t list = tape.find(0, "overflow");
    if (!tape.is(list, JsonKind::array)) return;
    ItemId output = kNoIndex;
    for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item)
      if (output == kNoIndex || index_.items()[output].role != Role::output) output = item;
    for (uint32_t node = list + 1; node != tape.at(list).next; node = tape.at(node).next) {
      const auto text = [&](const char* member) {
        const uint32_t found = tape.find(node, member);
        return found == JsonTape::kNone ? std::string() : std::string(tape.text(found));
      };
      add(place, op, output, OverflowKind::record, OverflowStatus::certain,
          "the accelerator reported an overflow: " + text("kind") + ", task " + text("task") + ", stream " +
              text("stream") + ", status " + text("status"));
      report_.records += kinds_.record ? 1 : 0;
    }
  }

  // What comes in and was made by no recorded operation.
  void visit_inputs(OpId op, size_t place, const OverflowState& state, Seen& seen) {
    const SideState& in = state.inputs;
    if (seen.nan || seen.inf) return;
    if (in.nan) {
      add(place, op, in.nan_item, OverflowKind::nan, OverflowStatus::certain,
          "came in: no operation recorded before made it");
      seen.nan = true;
    } else if (in.inf && !in.mask) {
      add(place, op, in.inf_item, OverflowKind::inf, OverflowStatus::certain,
          "came in: no operation recorded before made it");
      seen.inf = true;
    } else if (in.inf && !seen.mask) {
      add(place, op, in.inf_item, OverflowKind::inf, OverflowStatus::possible,
          "came in, and holds minus infinity only, as masks do");
      seen.mask = true;
    }
  }

  void visit_nan(OpId op, size_t place, const OverflowState& state, const Collectives& collectives,
                 Seen& seen) {
    const SideState& in = state.inputs;
    const bool follows = in.nan || (in.inf && (seen.inf || seen.nan));
    if (!follows && state.nan_argument != kNoIndex)
      add(place, op, state.nan_argument, OverflowKind::nan, OverflowStatus::certain,
          "the argument itself is NaN");
    else if (!follows)
      add_origin(op, place, state.outputs.nan_item, OverflowKind::nan, state, collectives);
    seen.nan = true;
  }

  void visit_inf(OpId op, size_t place, const OverflowState& state, const Collectives& collectives,
                 Seen& seen) {
    if (state.inputs.bad()) return;  // already seen, or a mask that passes through
    if (state.arguments.inf) {
      seen.mask = true;  // written on purpose: masked_fill(mask, -inf)
      return;
    }
    add_origin(op, place, state.outputs.inf_item, OverflowKind::inf, state, collectives);
    seen.inf = true;
  }

  // Nothing is said of inputs where there are none: of files, and of calls such as rand.
  std::string reason_of_inputs(OpId op, const OverflowState& state) const {
    const auto items = index_.items(op);
    const bool any = std::any_of(items.begin(), items.end(), [](const ItemRow& item) {
      return item.tensor != kNoIndex && item.role != Role::output && item.role != Role::gradient;
    });
    if (!any) return index_.source_name() == kPlainFiles ? "" : "no input is recorded";
    return state.inputs.inf       ? "inputs hold minus infinity, as masks do, but no NaN"
           : state.inputs.unknown ? "inputs are not recorded in full"
                                  : "inputs are finite";
  }

  void add_origin(OpId op, size_t place, ItemId item, OverflowKind kind, const OverflowState& state,
                  const Collectives& collectives) {
    const Partners partners = collectives.partners(op);
    for (const OpId partner : partners.ops) {
      const SideState& in = op_states_.at(partner).inputs;
      // It came from that rank, which has an earlier finding of its own.
      if (in.nan || (in.inf && !in.mask)) return;
      if (reported_calls_.count(partner) > 0) return;  // one operation of several ranks
    }
    reported_calls_.insert(op);
    std::string why = reason_of_inputs(op, state);
    if (!partners.ops.empty()) why += ", those of the other ranks too";
    if (!partners.missing_ranks.empty()) {
      why += "; the dump lacks";
      for (size_t i = 0; i < partners.missing_ranks.size(); ++i)
        why += (i == 0 ? " rank " : ", ") + std::to_string(partners.missing_ranks[i]);
      why += " of its group, where it may have begun";
    }
    add(place, op, item, kind, OverflowStatus::certain, std::move(why));
  }

  // What recorded statistics hint at, and saturated values.
  void visit_possible(OpId op, size_t place, const OverflowState& state, const Inside& within,
                      const Seen& seen) {
    const SideState &in = state.inputs, &out = state.outputs;
    if (in.bad() || out.bad() || seen.nan || seen.inf) return;
    if (out.only_mean_or_norm && !in.only_mean_or_norm && !within.possible) {
      const ulpscope_stats& stats = index_.tensors()[index_.items()[out.possible_item].tensor].stats;
      const bool is_nan = ((stats.present & ULPSCOPE_STAT_MEAN) != 0 && std::isnan(stats.mean)) ||
                          ((stats.present & ULPSCOPE_STAT_L2) != 0 && std::isnan(stats.l2norm));
      add(place, op, out.possible_item, is_nan ? OverflowKind::nan : OverflowKind::inf,
          OverflowStatus::possible, "only the recorded mean or norm is not finite; max and min are");
    }
    if (out.limit && !in.limit && !state.arguments.limit && !within.limit)
      add(place, op, out.limit_item, OverflowKind::limit, OverflowStatus::possible,
          "holds the largest float16, 65504: it may stand for infinity");
  }

  const DumpIndex& index_;
  const std::vector<TensorState>& states_;
  const OverflowKinds& kinds_;
  std::unordered_map<OpId, OverflowState> op_states_;  // of the current step
  std::unordered_map<OpId, Inside> inside_;            // of the current step
  std::unordered_set<OpId> reported_calls_;  // communication calls of the current step with a finding
  std::map<int32_t, Seen> seen_;             // by rank, over all steps
  std::vector<Placed> found_;                // of the current step
  OverflowReport report_;
};

}  // namespace

std::string_view to_text(OverflowKind kind) {
  switch (kind) {
    case OverflowKind::nan:
      return "nan";
    case OverflowKind::inf:
      return "inf";
    case OverflowKind::limit:
      return "limit";
    case OverflowKind::record:
      break;
  }
  return "record";
}

std::string_view to_text(OverflowStatus status) {
  return status == OverflowStatus::certain ? "certain" : "possible";
}

Result<OverflowReport> find_overflow(const DumpIndex& index, const std::vector<TensorState>& states,
                                     const OverflowKinds& kinds, const Cancel& cancel) {
  Search search(index, states, kinds);
  const auto groups = index.groups();
  for (size_t i = 0; i < groups.size();) {
    if (cancel.requested()) return Error{Code::cancelled, "cancelled"};
    std::vector<const StepRank*> step;
    const int32_t number = groups[i].step;
    for (; i < groups.size() && groups[i].step == number; ++i) step.push_back(&groups[i]);
    search.step(step);
  }
  return search.take();
}

}  // namespace ulpscope
