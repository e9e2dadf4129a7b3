#include "cli/call_dump.hpp"

#include <utility>

namespace ulpscope {
namespace {

constexpr const char* kTorchDumps = "torch_api";

}  // namespace

std::vector<OptionSpec> call_dump_options() {
  return {{"mode", {"m"}, OptionKind::value, "SOURCE", "what kind of dump it is; default: found out (auto)"},
          {"step", {}, OptionKind::value, "N", "which step, where a dump holds several"},
          {"rank", {}, OptionKind::value, "N", "which rank, where a dump holds several"},
          {"source_option",
           {},
           OptionKind::many,
           "NAME=VALUE",
           "an option of the source (see plugins show); may be repeated"}};
}

Result<CallDumpChoice> call_dump_choice(const ParsedOptions& options) {
  CallDumpChoice choice;
  ULPSCOPE_ASSIGN(choice.filter.steps, options.numbers("step"));
  ULPSCOPE_ASSIGN(choice.filter.ranks, options.numbers("rank"));
  choice.source = options.text_or("mode", "auto");
  ULPSCOPE_ASSIGN(choice.options, source_options(options, choice.filter));
  return choice;
}

Result<DumpIndex> open_call_dump(Context& context, const std::string& path, const CallDumpChoice& choice) {
  auto index = context.open_dump(path, choice.source, choice.filter, choice.options.json);
  if (!index.ok() && choice.source == "auto" && index.error().code == Code::usage) {
    auto torch = context.open_dump(path, kTorchDumps, choice.filter, choice.options.json);
    if (torch.ok() && !torch->ops().empty()) index = std::move(torch);
  }
  if (!index.ok()) return index;
  ULPSCOPE_TRY(context.check_source_options(choice.options.names, {std::string(index->source_name())}));
  return index;
}

}  // namespace ulpscope
