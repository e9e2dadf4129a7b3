#include <cmath>
#include <ulpscope/elementwise.hpp>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/dump_rows.hpp"
#include "cli/table.hpp"
#include "cli/tensor_choice.hpp"
#include "tensors/element_text.hpp"
#include "tensors/slice.hpp"
#include "tensors/statistics.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostDiagnostics = 10;
constexpr int kHistogramLines = 32;
constexpr int kHistogramWidth = 40;

void row(Output& out, std::string_view heading, std::string_view text) {
  if (text.empty()) return;
  std::string line = "  " + std::string(heading);
  line.resize(16, ' ');
  out << line << printable(text) << "\n";
}

std::string op_place(const OpRow& op) {
  std::string text;
  const auto add = [&](std::string_view word, int32_t number) {
    if (number >= 0) text += (text.empty() ? "" : "  ") + std::string(word) + " " + std::to_string(number);
  };
  add("step", op.step);
  add("rank", op.rank);
  add("token", op.token);
  return text;
}

void print_header(Output& out, const DumpIndex& index, ItemId item) {
  const TensorId id = index.items()[item].tensor;
  const TensorRow& tensor = index.tensors()[id];
  const OpRow& op = index.ops()[tensor.op];
  out << printable(full_name(index, item)) << "\n";
  row(out, "dump", index.path() + "  (" + std::string(index.source_name()) + ")");
  row(out, "place", op_place(op));
  // Of an unreadable tensor neither is known.
  const bool unknown = tensor.absent == ULPSCOPE_ABSENT_BAD && tensor.dtype == DType::none;
  row(out, "dtype", unknown ? "unknown" : name(tensor.dtype));
  const int64_t count = index.element_count(id);
  if (unknown)
    row(out, "shape", "unknown");
  else
    row(out, "shape",
        shape_text(index.shape(tensor.shape)) +
            (count < 0 ? "  too large" : "  " + count_text(count) + (count == 1 ? " element" : " elements")));
  // What cannot be opened is told as an error.
  if (tensor.data_kind != ULPSCOPE_DATA_LATER || index.source().locate(tensor.data_token).ok())
    row(out, "bytes", place_text(index, id));
  row(out, "storage", index.text(tensor.storage));
  row(out, "digest", index.text(tensor.digest));
  if ((tensor.flags & (ULPSCOPE_GRAD_YES | ULPSCOPE_GRAD_NO)) != 0)
    row(out, "requires_grad", (tensor.flags & ULPSCOPE_GRAD_YES) != 0 ? "yes" : "no");
  row(out, "origin", index.text(tensor.origin));
}

std::string recorded_text(const ulpscope_stats& stats, uint32_t bit, double value) {
  return (stats.present & bit) != 0 ? number_text(value) : "-";
}

void print_statistics(Output& out, const ulpscope_stats& recorded, const TensorStatistics* computed) {
  ColumnTable table({"  statistic", "computed", "recorded"}, {false, true, true});
  const auto add = [&](const std::string& what, uint32_t bit, double value, const std::string& exact,
                       double recorded_value) {
    const std::string number = computed == nullptr ? "-" : exact.empty() ? number_text(value) : exact;
    table.add({"  " + what, number, recorded_text(recorded, bit, recorded_value)});
  };
  const TensorStatistics none;
  const TensorStatistics& c = computed == nullptr ? none : *computed;
  add("max", ULPSCOPE_STAT_MAX, c.max, c.exact_max, recorded.max);
  add("min", ULPSCOPE_STAT_MIN, c.min, c.exact_min, recorded.min);
  add("mean", ULPSCOPE_STAT_MEAN, c.mean, "", recorded.mean);
  add("l2norm", ULPSCOPE_STAT_L2, c.l2norm, "", recorded.l2norm);
  if (computed != nullptr)
    for (const auto& [what, count] :
         {std::pair("NaN", c.nan_count), std::pair("+inf", c.positive_inf), std::pair("-inf", c.negative_inf),
          std::pair("zero", c.histogram.zeros)})
      table.add({std::string("  ") + what, std::to_string(count), ""});
  out << "\n" << table.text();
  if (computed != nullptr && c.first_nonfinite >= 0)
    out << "  first element that is not finite: " << count_text(c.first_nonfinite) << "\n";
}

// What the recorded maximum or minimum must be for data with these counts: NaN and infinities enter them as
// in torch.
double with_nonfinite(const TensorStatistics& c, double finite, bool is_max) {
  if (c.nan_count > 0 || c.numbers == 0) return std::nan("");
  if ((is_max ? c.positive_inf : c.negative_inf) > 0) return is_max ? INFINITY : -INFINITY;
  if (c.finite == 0) return is_max ? -INFINITY : INFINITY;
  return finite;
}

bool disagree(double computed, double recorded) {
  if (std::isnan(computed) || std::isnan(recorded)) return std::isnan(computed) != std::isnan(recorded);
  return computed < recorded || computed > recorded;
}

void warn_about_statistics(Context& context, DType dtype, const ulpscope_stats& recorded,
                           const TensorStatistics& c) {
  if (is_complex(dtype)) return;  // recorded of the absolute values
  // Recorded integers beyond 2^53 have passed through a double.
  const bool max_differs =
      (recorded.present & ULPSCOPE_STAT_MAX) != 0 && disagree(with_nonfinite(c, c.max, true), recorded.max);
  const bool min_differs =
      (recorded.present & ULPSCOPE_STAT_MIN) != 0 && disagree(with_nonfinite(c, c.min, false), recorded.min);
  if (max_differs || min_differs)
    context.log().warning(std::string("the recorded ") +
                          (max_differs && min_differs ? "max and min are"
                           : max_differs              ? "max is"
                                                      : "min is") +
                          " not that of the data: the data may have changed after it was recorded");
}

class ShowCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "show";
    info.group = CommandGroup::look;
    info.summary = "Shows one tensor: where it lies, statistics, values";
    info.synopsis = "DUMP [TENSOR] [--slice SLICE] [--histogram]";
    info.description =
        "TENSOR is the operation and the tensor as list prints them, in one word or two, or a glob that fits "
        "one; it may be "
        "left out where the dump holds a single tensor, such as a .npy file. Statistics are computed in "
        "double over all "
        "elements, the recorded ones stand beside them.";
    info.example = "ulpscope show out_a Torch.matmul.2.forward output.0 --slice 0,:2,:";
    info.max_positional = 3;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> options = {
        {"slice", {}, OptionKind::value, "SLICE", "print elements: 0:2,:,3 as numpy slices; ... prints all"},
        {"histogram", {}, OptionKind::flag, "", "print how the magnitudes spread over powers of two"}};
    for (OptionSpec& option : dump_options())
      if (option.name != "filter") options.push_back(std::move(option));
    return options;
  }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& options = context.options();
    ULPSCOPE_ASSIGN(const std::string path, options.required(0, "DUMP"));
    ULPSCOPE_ASSIGN(const DumpIndex index, context.open_dump(path));
    context.log_diagnostics(kMostDiagnostics);
    const auto& words = options.positional();
    const std::string wanted = words.size() < 2    ? std::string()
                               : words.size() == 2 ? words[1]
                                                   : words[1] + " " + words[2];
    ULPSCOPE_ASSIGN(const ItemId item, choose_tensor(index, wanted));
    const TensorId id = index.items()[item].tensor;
    const TensorRow& tensor = index.tensors()[id];
    ULPSCOPE_ASSIGN(const Slice slice, parse_slice(options.text_or("slice", ""), index.shape(tensor.shape)));
    print_header(context.out(), index, item);
    if (tensor.data_kind == ULPSCOPE_DATA_NONE) return show_without_data(context, tensor);
    ULPSCOPE_TRY(show_data(context, index, id));
    if (options.has("slice")) {
      ULPSCOPE_ASSIGN(TensorData data, TensorData::open(index, id));
      ULPSCOPE_ASSIGN(const std::string text,
                      slice_text(data, tensor.dtype, index.shape(tensor.shape), slice));
      context.out() << "\n" << text;
    }
    return ExitCode::success;
  }

 private:
  static Result<ExitCode> show_without_data(Context& context, const TensorRow& tensor) {
    print_statistics(context.out(), tensor.stats, nullptr);
    if (context.options().has("slice") || context.options().has("histogram"))
      return Error{Code::io, "the dump holds no data of this tensor: nothing to slice or count"};
    return tensor.absent == ULPSCOPE_ABSENT_BAD ? ExitCode::unreadable : ExitCode::success;
  }

  static Status show_data(Context& context, const DumpIndex& index, TensorId id) {
    const TensorRow& tensor = index.tensors()[id];
    ULPSCOPE_ASSIGN(TensorData data, TensorData::open(index, id));
    if (!is_widenable(tensor.dtype)) {
      context.out() << "\n  " << name(tensor.dtype) << " elements are packed or opaque: no statistics\n";
      return {};
    }
    ULPSCOPE_ASSIGN(const TensorStatistics found, read_statistics(data, tensor.dtype, context.cancel()));
    print_statistics(context.out(), tensor.stats, &found);
    if (found.crc_right == false) context.log().warning(std::string(kWrongCrc32));
    warn_about_statistics(context, tensor.dtype, tensor.stats, found);
    if (found.odd_bools)
      context.log().warning("bool elements hold bytes other than 0 and 1; they count as true");
    if (context.options().has("histogram"))
      context.out() << "\n" << histogram_text(found.histogram, kHistogramLines, kHistogramWidth);
    return {};
  }
};

}  // namespace

std::unique_ptr<Command> make_show_command() { return std::make_unique<ShowCommand>(); }

}  // namespace ulpscope
