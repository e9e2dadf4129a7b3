#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "cli/call_dump.hpp"
#include "cli/commands.hpp"
#include "cli/replay_run.hpp"
#include "cli/wrap_text.hpp"
#include "execute/replay_bundle.hpp"

namespace ulpscope {
namespace {

constexpr size_t kNoteWidth = 80;  // columns, as help has

// "2.98e-02".
std::string short_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.2e}", *value) : "none";
}

// As many digits as float32 has.
std::string digits_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.7g}", value) : number_text(value);
}

std::string index_text(int64_t at, const Shape& shape) {
  std::vector<int64_t> place(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    place[d] = shape[d] == 0 ? 0 : at % shape[d];
    at = shape[d] == 0 ? 0 : at / shape[d];
  }
  return fmt::format("[{}]", fmt::join(place, ","));
}

class ReplayCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "replay";
    info.group = CommandGroup::compare;
    info.summary = "Runs one recorded call again in float64";
    info.synopsis = "DUMP --op NAME [--against DUMP2] [--export DIR]";
    info.description =
        "Runs a call of a dump again in float64 from its recorded inputs and says how far the recorded "
        "outputs are "
        "from that, and how far a run in the recorded precision is. With a second dump, says which of the "
        "two is "
        "off. Exit code 0: no side is off; 1: a side is off; 3: the call could not be run or has no recorded "
        "outputs.";
    info.example = "ulpscope replay out_a --op Torch.matmul.2.forward --against out_b";
    info.max_positional = 1;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> specs = {
        {"op", {}, OptionKind::value, "NAME", "the call: Torch.matmul.2.forward"},
        {"against", {}, OptionKind::value, "DUMP2", "a second dump with the same call"},
        {"export",
         {},
         OptionKind::value,
         "DIR",
         "write inputs, outputs and a script for torch into a new folder, for a bug report"},
        {"executor",
         {},
         OptionKind::value,
         "NAME",
         "an executor of a plugin, asked before those that ulpscope brings"}};
    for (OptionSpec& spec : call_dump_options()) specs.push_back(std::move(spec));
    return specs;
  }

  Result<ExitCode> run(Context& context) override {
    ULPSCOPE_ASSIGN(const std::string path, context.options().required(0, "DUMP"));
    const auto name = context.options().text("op");
    if (!name) return Error{Code::usage, "option --op NAME is missing"};
    ULPSCOPE_ASSIGN(Replayer replayer, Replayer::create(context, context.options().text_or("executor", "")));
    ULPSCOPE_ASSIGN(ReplaySide first, replay_side(context, path, *name, replayer));
    std::optional<ReplaySide> second;
    if (const auto other = context.options().text("against")) {
      ULPSCOPE_ASSIGN(second, replay_side(context, *other, *name, replayer));
    }
    if (const auto folder = context.options().text("export")) {
      ULPSCOPE_TRY(write_replay_bundle(*folder, *name, calls_[0], first));
      context.out() << "bundle written to " << printable(*folder) << "\n";
    }
    say(context, *name, first, second ? &*second : nullptr);
    return exit_code_of(first, second ? &*second : nullptr);
  }

 private:
  Result<ReplaySide> replay_side(Context& context, const std::string& path, const std::string& name,
                                 Replayer& replayer) {
    ULPSCOPE_ASSIGN(const CallDumpChoice choice, call_dump_choice(context.options()));
    ULPSCOPE_ASSIGN(const DumpIndex index, open_call_dump(context, path, choice));
    context.log_diagnostics(10);
    if (index.groups().empty()) return Error{Code::io, printable(path) + ": no API calls"};
    if (index.groups().size() > 1)
      context.log().info(fmt::format("{}: {} steps and ranks, the first one is used (--step, --rank)",
                                     printable(path), index.groups().size()));
    auto target = find_replay_target(index, index.groups()[0], name);
    if (!target.ok()) return std::move(target).error().within("option --op");
    calls_.push_back(replay_call(index, target->item, target->phase));
    auto side = replayer.run(index, *target);
    if (!side.ok()) return std::move(side).error().within(printable(name));
    return side;
  }

  static ExitCode exit_code_of(const ReplaySide& first, const ReplaySide* second) {
    const auto any = [&](ReplayVerdict verdict) {
      return first.verdict() == verdict || (second != nullptr && second->verdict() == verdict);
    };
    if (any(ReplayVerdict::off)) return ExitCode::finding;
    return any(ReplayVerdict::unknown) ? ExitCode::unreadable : ExitCode::success;
  }

  static void say_side(Context& context, const ReplaySide& side) {
    Output& out = context.out();
    out << printable(side.dump) << "\n";
    for (const ReplayOutput& output : side.outputs) {
      out << fmt::format("  {}  {} {}  {}\n", output.name, ulpscope::name(output.dtype),
                         shape_text(output.shape), to_text(output.verdict));
      if (!output.message.empty()) out << wrap_text(printable(output.message), 4, kNoteWidth);
      const ReplayError& error = output.recorded;
      if (error.worst < 0) continue;
      out << fmt::format(
          "    largest error {} at {}: recorded {}, float64 {}; relative error of the tensor {}\n",
          short_number(error.max_abs), index_text(error.worst, output.shape), digits_text(error.worst_value),
          digits_text(error.worst_exact), short_number(error.rel_l2));
      if (output.has_rounding)
        out << fmt::format("    a run in {} here: largest error {}, relative {}\n",
                           ulpscope::name(output.dtype), short_number(output.rounding.max_abs),
                           short_number(output.rounding.rel_l2));
    }
    for (const std::string& note : side.notes) out << wrap_text("note: " + printable(note), 4, kNoteWidth);
  }

  static void say(Context& context, const std::string& name, const ReplaySide& first,
                  const ReplaySide* second) {
    Output& out = context.out();
    out << printable(name) << "\n";
    say_side(context, first);
    if (second == nullptr) {
      out << "the recorded outputs are " << verdict_text(first.verdict()) << "\n";
      return;
    }
    say_side(context, *second);
    const std::vector<std::string> inputs = differing_inputs(first.inputs, second->inputs);
    if (inputs.empty()) {
      out << "inputs are bit-identical\n";
    } else {
      std::string text;
      for (size_t i = 0; i < inputs.size() && i < 8; ++i) text += (i == 0 ? "" : ", ") + inputs[i];
      out << "inputs differ: " << printable(text) << (inputs.size() > 8 ? ", …" : "") << "\n";
    }
    const bool a = first.verdict() == ReplayVerdict::off, b = second->verdict() == ReplayVerdict::off;
    if (a && b)
      out << "both sides are off\n";
    else if (a || b)
      out << "off: " << printable(a ? first.dump : second->dump) << "\n";
    else if (first.verdict() == ReplayVerdict::fine && second->verdict() == ReplayVerdict::fine)
      out << "neither side is off"
          << (inputs.empty() ? "" : ": each computed its own inputs right, they differ from before") << "\n";
    else
      out << "it is not known whether a side is off\n";
  }

  static std::string_view verdict_text(ReplayVerdict verdict) {
    switch (verdict) {
      case ReplayVerdict::fine:
        return "as exact as the recorded precision allows";
      case ReplayVerdict::off:
        return "off: their error is more than rounding explains";
      case ReplayVerdict::unknown:
        break;
    }
    return "not known to be right or off";
  }

  std::vector<ReplayCall> calls_;  // of the dumps, in the order in which they were read
};

}  // namespace

std::unique_ptr<Command> make_replay_command() { return std::make_unique<ReplayCommand>(); }

}  // namespace ulpscope
