#include <ulpscope/elementwise.hpp>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "match/suggest.hpp"
#include "report/output_file.hpp"
#include "tensors/statistics.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostDiagnostics = 5;
// Larger tensors are judged by shapes and names: reading them takes longer than checking the proposal.
constexpr int64_t kMaxElements = int64_t{1} << 26;

// Recorded statistics, else those of the elements.
std::optional<ulpscope_stats> statistics_of(const DumpIndex& index, TensorId id, const Cancel& cancel) {
  const TensorRow& tensor = index.tensors()[id];
  if (tensor.stats.present != 0) return tensor.stats;
  const int64_t count = index.element_count(id);
  if (tensor.data_kind == ULPSCOPE_DATA_NONE || count < 1 || count > kMaxElements) return std::nullopt;
  if (!is_widenable(tensor.dtype)) return std::nullopt;
  auto data = TensorData::open(index, id);
  if (!data.ok()) return std::nullopt;
  const auto found = read_statistics(*data, tensor.dtype, cancel);
  if (!found.ok() || found->finite == 0) return std::nullopt;
  return ulpscope_stats{
      ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_L2, 0, found->max, found->min, 0, found->l2norm};
}

class MappingCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "mapping";
    info.group = CommandGroup::look;
    info.summary = "Proposes what belongs together in two dumps";
    info.synopsis = "suggest TARGET GOLDEN [-o FILE]";
    info.description =
        "Writes a mapping file for compare --mapping: operations of the first step whose names differ, "
        "paired by "
        "shapes, order, values and the words in their names. It is a proposal: read it before you use it.";
    info.example = "ulpscope mapping suggest mindie_dump gpu_dump -o mapping.yaml";
    info.max_positional = 3;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    return {{"output", {"o"}, OptionKind::value, "FILE", "write the mapping there; left out: on stdout"},
            {"target_source", {}, OptionKind::value, "NAME", "source of the target (default auto)"},
            {"golden_source", {}, OptionKind::value, "NAME", "source of golden (default auto)"}};
  }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& options = context.options();
    ULPSCOPE_ASSIGN(const std::string action, options.required(0, "suggest"));
    if (action != "suggest")
      return Error{Code::usage, "mapping " + printable(action) + ": expected mapping suggest TARGET GOLDEN"};
    ULPSCOPE_ASSIGN(const std::string target_path, options.required(1, "TARGET"));
    ULPSCOPE_ASSIGN(const std::string golden_path, options.required(2, "GOLDEN"));
    ULPSCOPE_ASSIGN(const DumpIndex target,
                    context.open_dump(target_path, options.text_or("target_source", "auto"), {}));
    ULPSCOPE_ASSIGN(const DumpIndex golden,
                    context.open_dump(golden_path, options.text_or("golden_source", "auto"), {}));
    context.log_diagnostics(kMostDiagnostics);
    const StatisticsReader reader = [&](bool of_target, TensorId tensor) {
      return statistics_of(of_target ? target : golden, tensor, context.cancel());
    };
    const std::vector<SuggestedRule> rules = suggest_mapping(target, golden, reader);
    if (rules.empty())
      context.log().warning(
          "nothing to propose: names agree already, or no operations of equal shapes and values were found");
    const std::string text =
        "# Proposed by ulpscope mapping suggest: read it before you use it.\n" + mapping_text(rules);
    const auto path = options.text("output");
    if (!path) {
      context.out() << text;
      return ExitCode::success;
    }
    ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(*path));
    file.text() += text;
    ULPSCOPE_TRY(file.commit());
    return ExitCode::success;
  }
};

}  // namespace

std::unique_ptr<Command> make_mapping_command() { return std::make_unique<MappingCommand>(); }

}  // namespace ulpscope
