#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/progress.hpp"
#include "formats/acl_types.hpp"
#include "report/json_text.hpp"
#include "report/output_file.hpp"
#include "tensors/convert.hpp"
#include "tensors/element_text.hpp"
#include "tensors/statistics.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostDiagnostics = 10;
constexpr size_t kMostFailuresLogged = 5;

struct Outcome {
  std::string path;                         // relative to the output folder; empty: the tensor has no data
  std::optional<Result<Converted>> result;  // nothing: not tried
};

TensorFileKind kind_of(const std::string& word) {
  return word == "pt"    ? TensorFileKind::pt
         : word == "npy" ? TensorFileKind::npy
                         : TensorFileKind::safetensors;
}

struct Counts {
  int64_t converted = 0, failed = 0, without_data = 0, not_tried = 0;
};

Counts count_outcomes(const std::vector<Outcome>& outcomes) {
  Counts counts;
  for (const Outcome& outcome : outcomes) {
    if (outcome.path.empty())
      ++counts.without_data;
    else if (!outcome.result)
      ++counts.not_tried;
    else
      ++(outcome.result->ok() ? counts.converted : counts.failed);
  }
  return counts;
}

void append_string_member(std::string& out, std::string_view name, std::string_view text) {
  out += ", \"" + std::string(name) + "\": ";
  append_json_string(out, text);
}

void append_result(std::string& out, const Outcome& outcome, const TensorRow& tensor) {
  if (outcome.path.empty()) {
    append_string_member(out, "reason", tensor.absent == 0 ? "no data" : absent_text(tensor.absent));
  } else if (!outcome.result) {
    append_string_member(out, "error", "cancelled");
  } else if (!outcome.result->ok()) {
    append_string_member(out, "error", outcome.result->error().message);
  } else {
    const Converted& done = **outcome.result;
    append_string_member(out, "file", outcome.path);
    append_string_member(out, "written_dtype", name(done.to));
    out += ", \"bytes\": " + std::to_string(done.size_bytes);
    if (!done.stored.empty()) {
      out += ", \"stored_shape\": ";
      append_json_shape(out, done.stored);
    }
    if (!done.note.empty()) append_string_member(out, "note", done.note);
    if (!done.crc_right) append_string_member(out, "warning", kWrongCrc32);
  }
}

void append_tensor(std::string& out, const DumpIndex& index, ItemId item, const Outcome& outcome) {
  const TensorRow& tensor = index.tensors()[index.items()[item].tensor];
  const OpRow& op = index.ops()[tensor.op];
  out += "    {\"step\": " + (op.step < 0 ? "null" : std::to_string(op.step)) +
         ", \"rank\": " + (op.rank < 0 ? "null" : std::to_string(op.rank));
  append_string_member(out, "op", index.text(op.name));
  append_string_member(out, "tensor", index.item_name(item));
  append_string_member(out, "dtype", name(tensor.dtype));
  out += ", \"shape\": ";
  append_json_shape(out, index.shape(tensor.shape));
  append_result(out, outcome, tensor);
  out += "}";
}

// The manifest: one line a tensor of the dump, in order. outcomes are by item.
Status write_manifest(Context& context, const DumpIndex& index, const std::vector<ItemId>& items,
                      const std::vector<Outcome>& outcomes, const std::string& format,
                      const std::string& folder) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(folder + "/convert.json"));
  std::string& out = file.text();
  out += "{\n  \"schema\": \"ulpscope.convert/1\"";
  append_string_member(out, "version", product_version());
  out += ",\n  \"command\": [";
  for (size_t i = 0; i < context.command_line().size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, context.command_line()[i]);
  }
  out += "]";
  append_string_member(out, "dump", index.path());
  append_string_member(out, "source", index.source_name());
  append_string_member(out, "format", format);
  const Counts counts = count_outcomes(outcomes);
  out += ",\n  \"summary\": {\"tensors\": " + std::to_string(outcomes.size()) +
         ", \"converted\": " + std::to_string(counts.converted) +
         ", \"failed\": " + std::to_string(counts.failed + counts.not_tried) +
         ", \"without_data\": " + std::to_string(counts.without_data) + "},\n  \"tensors\": [\n";
  for (size_t i = 0; i < items.size(); ++i) {
    append_tensor(out, index, items[i], outcomes[i]);
    out += i + 1 < items.size() ? ",\n" : "\n";
    file.flush_when_large();
  }
  out += "  ]\n}\n";
  return file.commit();
}

// Space for the manifest, kept until it is written: what has become of the tensors is told even where they
// filled the disk.
class ManifestRoom {
 public:
  // io: there is not even that much space.
  static Result<ManifestRoom> keep(const std::string& folder, uint64_t size_bytes) {
    const std::string path = folder + "/convert.json.room";
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int error_number = fd < 0 ? errno : 0;
    if (fd >= 0) {
      ::unlink(path.c_str());  // the space stays until the file is closed, whatever ends the program
      error_number = ::posix_fallocate(fd, 0, static_cast<off_t>(size_bytes));
    }
    ManifestRoom room(fd);
    if (error_number != 0)
      return Error{Code::io, printable(folder) + ": no room for the list of what is converted: " +
                                 std::generic_category().message(error_number)};
    return room;
  }
  ~ManifestRoom() { release(); }
  ManifestRoom(ManifestRoom&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ManifestRoom& operator=(ManifestRoom&&) = delete;

  void release() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  explicit ManifestRoom(int fd) : fd_(fd) {}
  int fd_;
};

// A line of the manifest that tells of a failure names the tensor and its file, and says why.
uint64_t most_manifest_bytes(const DumpIndex& index, const std::vector<ItemId>& items,
                             const std::vector<ConvertItem>& plan, const std::string& folder) {
  constexpr uint64_t kFixedBytes = 512, kNamesInLine = 3;
  uint64_t total = 16 * kFixedBytes;
  for (const ItemId item : items) total += kFixedBytes + kNamesInLine * full_name(index, item).size();
  for (const ConvertItem& each : plan) total += kNamesInLine * (folder.size() + each.path.size());
  return total;
}

constexpr int64_t kMostInBlock = int64_t{1} << 20;

std::vector<OptionSpec> storage_options() {
  return {{"storage_format",
           {},
           OptionKind::value,
           "FORMAT",
           "store the elements in a format of the accelerator, such as NC1HWC0, FRACTAL_NZ or FRACTAL_Z"},
          {"layout",
           {},
           OptionKind::value,
           "LAYOUT",
           "of the original tensors: NCHW (default; NCDHW), NHWC, ..."},
          {"c0", {}, OptionKind::value, "N", "channels of a block; default 16, 32 for elements of one byte"},
          {"n0", {}, OptionKind::value, "N", "filters or rows of a block; default 16"}};
}

// The number of a format that an option names. usage: no such format.
Result<int32_t> format_option(const std::string& option, const std::string& text) {
  const auto number = acl_format_number(text);
  if (!number)
    return Error{Code::usage, "option --" + option + ": '" + printable(text) +
                                  "' is no format, expected a name such as NC1HWC0, FRACTAL_NZ or NHWC"};
  return *number;
}

// Nothing without --storage-format. usage: a name or number that cannot be, or an option that needs it.
Result<std::optional<StorageTarget>> storage_target(const ParsedOptions& options) {
  const auto format = options.text("storage_format");
  if (!format) {
    for (const char* name : {"layout", "c0", "n0"})
      if (options.has(name))
        return Error{Code::usage, "option --" + std::string(name) + ": only with --storage-format"};
    return std::optional<StorageTarget>();
  }
  if (options.has("raw"))
    return Error{Code::usage, "option --storage-format: not with --raw, which keeps the stored elements"};
  StorageTarget target;
  ULPSCOPE_ASSIGN(target.format, format_option("storage-format", *format));
  if (const auto layout = options.text("layout")) {
    ULPSCOPE_ASSIGN(target.layout, format_option("layout", *layout));
    if (layout_letters(target.layout).empty())
      return Error{Code::usage, "option --layout: '" + printable(*layout) +
                                    "' is no plain layout, expected one such as NCHW, NHWC, HWCN or NCDHW"};
  }
  ULPSCOPE_ASSIGN(target.c0, options.integer("c0", 0, 1, kMostInBlock));
  ULPSCOPE_ASSIGN(target.n0, options.integer("n0", 16, 1, kMostInBlock));
  return std::optional<StorageTarget>(target);
}

class ConvertCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "convert";
    info.aliases = {"parse"};
    info.group = CommandGroup::look;
    info.summary = "Writes the tensors of a dump as npy, pt or safetensors files";
    info.synopsis = "DUMP --to FORMAT [-o DIR] [--filter GLOB]";
    info.description =
        "The folder structure of the dump is kept; files are called after operation and tensor, with names "
        "made safe; "
        "nothing is overwritten. A type that the format does not have (bfloat16 and the 8-bit floats in npy) "
        "becomes "
        "float32, which holds every value of it exactly. convert.json lists what became what, and what could "
        "not.";
    info.example = "ulpscope convert out_a --filter '*matmul*' --to npy -o arrays";
    info.max_positional = 1;
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> options = {
        {"to", {}, OptionKind::value, "FORMAT", "npy (default), pt or safetensors"},
        {"raw",
         {},
         OptionKind::flag,
         "",
         "keep the storage format of the accelerator instead of the original layout"}};
    for (OptionSpec& option : storage_options()) options.push_back(std::move(option));
    for (OptionSpec& option : dump_options()) options.push_back(std::move(option));
    return options;
  }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& options = context.options();
    ULPSCOPE_ASSIGN(const std::string path, options.required(0, "DUMP"));
    ULPSCOPE_ASSIGN(const std::string format, options.choice("to", {"npy", "pt", "safetensors"}));
    ConvertTarget target{kind_of(format), {}};
    ULPSCOPE_ASSIGN(target.storage, storage_target(options));
    ULPSCOPE_ASSIGN(const DumpIndex index, context.open_dump(path, options.has("raw")));
    context.log_diagnostics(kMostDiagnostics);
    std::vector<ItemId> items;
    for (size_t i = 0; i < index.items().size(); ++i)
      if (index.items()[i].tensor != kNoIndex) items.push_back(static_cast<ItemId>(i));
    const std::vector<ConvertItem> plan = plan_conversion(index, kind_of(format));
    if (plan.empty())
      return Error{Code::io,
                   printable(path) + ": nothing to convert, the dump holds no data of " +
                       (items.empty() ? std::string("any tensor")
                                      : count_text(static_cast<int64_t>(items.size())) + " tensors")};
    ULPSCOPE_ASSIGN(const std::string folder, context.make_output_folder("convert"));
    std::vector<Outcome> outcomes(items.size());
    ULPSCOPE_ASSIGN(ManifestRoom room,
                    ManifestRoom::keep(folder, most_manifest_bytes(index, items, plan, folder)));
    ULPSCOPE_TRY(convert_all(context, index, items, plan, target, folder, outcomes));
    room.release();
    // What failed is named even where the manifest finds no room.
    const Status listed = write_manifest(context, index, items, outcomes, format, folder);
    auto code = report(context, index, items, outcomes, folder);
    if (!listed.ok()) return listed.error();
    return code;
  }

 private:
  static Status convert_all(Context& context, const DumpIndex& index, const std::vector<ItemId>& items,
                            const std::vector<ConvertItem>& plan, const ConvertTarget& target,
                            const std::string& folder, std::vector<Outcome>& outcomes) {
    std::vector<size_t> rows;  // of items, for each member of the plan: both are sorted
    uint64_t total_bytes = 0;
    for (const ConvertItem& each : plan) {
      rows.push_back(
          static_cast<size_t>(std::lower_bound(items.begin(), items.end(), each.item) - items.begin()));
      outcomes[rows.back()].path = each.path;
      total_bytes +=
          static_cast<uint64_t>(std::max<int64_t>(0, byte_count(index, index.items()[each.item].tensor)));
    }
    ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
    Progress progress(Progress::style_for_stderr(context.quiet()), "converting", "tensors",
                      static_cast<int64_t>(plan.size()), total_bytes);
    pool->parallel_for(static_cast<int64_t>(plan.size()), [&](int64_t i, int /*worker*/) {
      const ConvertItem& each = plan[static_cast<size_t>(i)];
      if (context.cancel().requested()) return;
      const TensorId tensor = index.items()[each.item].tensor;
      outcomes[rows[static_cast<size_t>(i)]].result =
          convert_tensor(index, tensor, target, folder, each.path, context.cancel());
      progress.add(1, static_cast<uint64_t>(std::max<int64_t>(0, byte_count(index, tensor))));
    });
    return {};
  }

  static Result<ExitCode> report(Context& context, const DumpIndex& index, const std::vector<ItemId>& items,
                                 const std::vector<Outcome>& outcomes, const std::string& folder) {
    const Counts counts = count_outcomes(outcomes);
    size_t errors = 0, warnings = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      if (!outcomes[i].result) continue;
      const Result<Converted>& result = *outcomes[i].result;
      if (!result.ok()) {
        if (++errors <= kMostFailuresLogged)
          context.log().error(full_name(index, items[i]) + ": " + result.error().message);
      } else if (!result->crc_right) {
        if (++warnings <= kMostFailuresLogged)
          context.log().warning(full_name(index, items[i]) + ": " + std::string(kWrongCrc32));
      }
    }
    const size_t most = std::max(errors, warnings);
    if (most > kMostFailuresLogged)
      context.log().warning("convert.json has the errors and warnings of all tensors");
    context.out() << "converted " << count_text(counts.converted) << "   failed " << count_text(counts.failed)
                  << "   without data " << count_text(counts.without_data) << "         " << folder
                  << "/convert.json\n";
    if (counts.not_tried > 0) return ExitCode::interrupted;
    const bool lost = counts.failed > 0 || context.diagnostics().count(Severity::error) > 0;
    return lost ? ExitCode::unreadable : ExitCode::success;
  }
};

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace ulpscope
