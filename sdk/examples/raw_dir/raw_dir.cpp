// A source: a folder of raw files, each named for what it holds (README.md). The bytes stay where they are;
// scan says where they lie.
#include <ulpscope/plugin.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxDims = 32;
constexpr size_t kProbedFiles = 1000;

// What a file name says: OP[.input.N|.output.N].DTYPE.DIMS.bin, DIMS being "2x3", "7" or "scalar".
struct RawFile {
  std::string file, op, path;
  ulpscope::Role role = ulpscope::Role::output;
  ulpscope::DType dtype = ulpscope::DType::none;
  ulpscope::Shape shape;
  uint64_t size_bytes = 0;  // that the name promises
};

// Cuts the part after the last dot off text. Nothing when there is no dot.
std::optional<std::string_view> take_last(std::string_view& text) {
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view last = text.substr(dot + 1);
  text = text.substr(0, dot);
  return last;
}

std::optional<ulpscope::Shape> parse_dims(std::string_view text) {
  ulpscope::Shape shape;
  if (text == "scalar") return shape;
  for (;;) {
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc() || dim < 0 || shape.size() == kMaxDims) return std::nullopt;
    shape.push_back(dim);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return shape;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
}

// Splits "matmul.input.0" into op, role and position; a name without them is an op with one output.
void parse_op(std::string_view name, RawFile& raw) {
  std::string_view rest = name;
  const auto path = take_last(rest);
  const auto role = path ? take_last(rest) : std::nullopt;
  const bool is_number = path && !path->empty() && path->find_first_not_of("0123456789") == path->npos;
  if (role && is_number && !rest.empty() && (*role == "input" || *role == "output")) {
    raw.role = *role == "input" ? ulpscope::Role::input : ulpscope::Role::output;
    raw.op = rest;
    raw.path = *path;
  } else {
    raw.op = name;
    raw.path = "0";
  }
}

std::optional<RawFile> parse_name(const std::string& file) {
  std::string_view rest = file;
  const auto end = take_last(rest), dims = take_last(rest), dtype = take_last(rest);
  if (!end || !dims || !dtype || rest.empty() || *end != "bin") return std::nullopt;
  RawFile raw;
  raw.file = file;
  raw.dtype = ulpscope::dtype_from_name(*dtype);
  const auto shape = parse_dims(*dims);
  if (raw.dtype == ulpscope::DType::none || !shape) return std::nullopt;
  raw.shape = *shape;
  raw.size_bytes = ulpscope::size_bytes(raw.dtype);
  for (const int64_t dim : raw.shape)
    if (__builtin_mul_overflow(raw.size_bytes, static_cast<uint64_t>(dim), &raw.size_bytes))
      return std::nullopt;
  parse_op(rest, raw);
  return raw;
}

class RawDir final : public ulpscope::Source {
 public:
  static constexpr const char* kName = "raw_dir";
  static constexpr const char* kSummary = "a folder of raw files NAME.DTYPE.DIMS.bin";

  // Looks at names only. A folder in which every .bin file has such a name is taken for one.
  static ulpscope::Probe probe(std::string_view path) {
    size_t good = 0, seen = 0;
    std::error_code failed;
    for (fs::directory_iterator it(fs::path(path), failed), end; !failed && it != end && seen < kProbedFiles;
         it.increment(failed)) {
      if (it->path().extension() != ".bin") continue;
      ++seen;
      if (parse_name(it->path().filename().string())) ++good;
    }
    if (good == 0) return {0, "no file NAME.DTYPE.DIMS.bin"};
    return {good == seen ? 80 : 40, std::to_string(good) + " of " + std::to_string(seen) +
                                        " .bin files are named NAME.DTYPE.DIMS.bin"};
  }

  RawDir(ulpscope::Host host, std::string_view path, std::string_view) : host_(host), root_(path) {
    std::error_code failed;
    if (!fs::is_directory(root_, failed))
      throw ulpscope::Failure(ULPSCOPE_E_IO, root_.string() + ": not a folder");
  }

  void scan(ulpscope::RecordSink& sink) override {
    std::map<std::string, uint32_t> ops;  // index by name
    for (const RawFile& raw : files(sink)) {
      host_.check_cancelled();
      const auto [op, is_new] = ops.try_emplace(raw.op, 0);
      if (is_new) {
        ulpscope::OpRecord record;
        record.name = raw.op;
        record.type = "tensor";
        op->second = sink.add(record);
      }
      add_tensor(sink, raw, op->second);
    }
  }

 private:
  // The files by op, then inputs before outputs, then position: the order of the records.
  std::vector<RawFile> files(ulpscope::RecordSink& sink) const {
    std::vector<RawFile> found;
    std::error_code failed;
    for (fs::directory_iterator it(root_, failed), end; !failed && it != end; it.increment(failed)) {
      const std::string name = it->path().filename().string();
      if (it->path().extension() != ".bin") continue;
      if (auto raw = parse_name(name))
        found.push_back(std::move(*raw));
      else
        sink.diagnose(ULPSCOPE_E_FORMAT, name, "not used, expected a name NAME.DTYPE.DIMS.bin");
    }
    if (failed) throw ulpscope::Failure(ULPSCOPE_E_IO, root_.string() + ": " + failed.message());
    const auto key = [](const RawFile& r) { return std::tuple(r.op, r.role, r.path.size(), r.path, r.file); };
    std::sort(found.begin(), found.end(),
              [&](const RawFile& a, const RawFile& b) { return key(a) < key(b); });
    return found;
  }

  void add_tensor(ulpscope::RecordSink& sink, const RawFile& raw, uint32_t op) const {
    ulpscope::TensorRecord tensor;
    tensor.op = op;
    tensor.role = raw.role;
    tensor.path = raw.path;
    tensor.dtype = raw.dtype;
    tensor.shape = raw.shape;
    std::error_code failed;
    const uintmax_t size = fs::file_size(root_ / raw.file, failed);
    if (!failed && size == raw.size_bytes) {
      tensor.data = ulpscope::DataRef::at(raw.file, 0, raw.size_bytes);
    } else {
      // The record stays, without data, so that the tensor is a row of the report.
      tensor.absent = ULPSCOPE_ABSENT_BAD;
      const std::string what = failed ? failed.message() : std::to_string(size) + " bytes";
      sink.diagnose(failed ? ULPSCOPE_E_IO : ULPSCOPE_E_FORMAT, raw.file,
                    what + ", expected " + std::to_string(raw.size_bytes) + " bytes by its name");
    }
    sink.add(tensor);
  }

  ulpscope::Host host_;
  fs::path root_;
};

}  // namespace

ULPSCOPE_PLUGIN("raw_dir", "0.1.0", "example", "MIT", ULPSCOPE_COMPONENT_SOURCE(RawDir));
