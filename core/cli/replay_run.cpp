#include "cli/replay_run.hpp"

#include <utility>

#include "base/text.hpp"
#include "cli/executors.hpp"

namespace ulpscope {

Result<ReplayTarget> find_replay_target(const DumpIndex& index, const StepRank& group,
                                        const std::string& name) {
  ULPSCOPE_ASSIGN(const CheckPlan plan, plan_check(index, group, {}));
  std::vector<std::string> names;
  for (const CheckItem& item : plan.items) {
    if (name == item.id || name == item.id + ".forward") return ReplayTarget{item, Phase::forward};
    if (name == item.id + ".backward") {
      if (item.backward == kNoIndex)
        return Error{Code::usage, "the dump has no backward of '" + printable(item.id) + "'"};
      return ReplayTarget{item, Phase::backward};
    }
    names.push_back(item.id);
    names.push_back(item.id + ".forward");
  }
  return Error{Code::usage, printable(index.path()) + " has no API call '" + printable(name) + "'" +
                                suggestion(name, names)};
}

Result<Replayer> Replayer::create(Context& context, const std::string& first) {
  std::string why_not;
  const bool has_torch = load_torch(context, why_not);
  if (!has_torch) context.log().warning(why_not);
  ULPSCOPE_ASSIGN(Registry * registry, context.registry());
  Replayer out;
  if (!first.empty()) {
    auto chosen = registry->create_executor(first, "{}");
    if (!chosen.ok()) return std::move(chosen).error().within("option --executor");
    out.exact_.push_back(std::move(chosen).value());
  }
  ULPSCOPE_ASSIGN(ExecutorHandle fused, registry->create_executor("npu_reference", "{}"));
  out.exact_.push_back(std::move(fused));
  if (!has_torch) return out;
  ULPSCOPE_ASSIGN(
      ExecutorHandle exact,
      registry->create_executor("torch", R"({"precision":"float64","hf32":false,"node_gradients":true})"));
  out.exact_.push_back(std::move(exact));
  ULPSCOPE_ASSIGN(out.rounding_,
                  registry->create_executor("torch", R"({"hf32":false,"node_gradients":true})"));
  return out;
}

Result<ReplaySide> Replayer::run(const DumpIndex& index, const ReplayTarget& target) {
  std::vector<ExecutorHandle*> exact;
  for (ExecutorHandle& each : exact_) exact.push_back(&each);
  return replay(index, target.item, target.phase, exact, rounding_ ? &*rounding_ : nullptr, {});
}

}  // namespace ulpscope
