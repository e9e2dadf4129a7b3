// A source: reads dumps of my_plugin. Replace what is said of records.txt by your format; README.md says what
// there is.
#include <ulpscope/plugin.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>

namespace {

namespace fs = std::filesystem;

constexpr const char* kList = "records.txt";
constexpr size_t kMostDims = 32;

// A line of the list: OP ROLE PATH DTYPE DIMS FILE, such as "add.0 input 0 float32 2x2 add.input.0.bin".
struct Line {
  std::string op, role, path, dtype, dims, file;
};

// "2x2" as numbers; false where it is something else. "scalar" has none.
bool parse_dims(const std::string& text, ulpscope::Shape& shape) {
  if (text == "scalar") return true;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');) {
    if (part.empty() || part.size() > 12 || part.find_first_not_of("0123456789") != part.npos) return false;
    if (shape.size() == kMostDims) return false;
    shape.push_back(std::stoll(part));
  }
  return !shape.empty();
}

// Bytes of such a tensor; false where they are more than there can be.
bool size_of(ulpscope::DType dtype, const ulpscope::Shape& shape, uint64_t& bytes) {
  bytes = ulpscope::size_bytes(dtype);
  for (const int64_t dim : shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) return false;
  return true;
}

class MyPlugin final : public ulpscope::Source {
 public:
  static constexpr const char* kName = "my_plugin";
  static constexpr const char* kSummary = "dumps of my_plugin";

  // Looks at names and a few bytes only: it is asked about every dump.
  static ulpscope::Probe probe(std::string_view path) {
    std::error_code error;
    if (fs::is_regular_file(fs::path(path) / kList, error)) return {80, "holds records.txt"};
    return {0, "no records.txt"};
  }

  MyPlugin(ulpscope::Host host, std::string_view path, std::string_view) : host_(host), root_(path) {
    std::error_code error;
    if (!fs::is_regular_file(root_ / kList, error))
      throw ulpscope::Failure(ULPSCOPE_E_IO, (root_ / kList).string() + ": no such file");
  }

  // Ops in the order in which the model ran them, each before its tensors. No tensor is read: records say
  // where bytes lie.
  void scan(ulpscope::RecordSink& sink) override {
    std::ifstream list(root_ / kList);
    std::map<std::string, uint32_t> ops;
    int number = 0;
    for (std::string text; std::getline(list, text);) {
      host_.check_cancelled();
      ++number;
      Line line;
      std::istringstream in(text);
      if (in >> line.op >> line.role >> line.path >> line.dtype >> line.dims >> line.file)
        add(sink, ops, line, number);
      else if (!text.empty())
        trouble(sink, number, "expected OP ROLE PATH DTYPE DIMS FILE");
    }
    // A run that ended before it wrote is not a run without operations.
    if (number == 0) trouble(sink, 1, "the list is empty (an unfinished run?)");
  }

 private:
  // One bad line is a diagnosis; the rest of the dump is read all the same.
  static void trouble(ulpscope::RecordSink& sink, int number, const std::string& text) {
    sink.diagnose(ULPSCOPE_E_FORMAT, std::string(kList) + ":" + std::to_string(number), text);
  }

  void add(ulpscope::RecordSink& sink, std::map<std::string, uint32_t>& ops, const Line& line,
           int number) const {
    ulpscope::TensorRecord tensor;
    tensor.role = line.role == "input" ? ulpscope::Role::input : ulpscope::Role::output;
    tensor.path = line.path;
    tensor.dtype = ulpscope::dtype_from_name(line.dtype);
    uint64_t expected = 0;
    if (tensor.dtype == ulpscope::DType::none || !parse_dims(line.dims, tensor.shape) ||
        !size_of(tensor.dtype, tensor.shape, expected))
      return trouble(sink, number, "no such element type or shape: " + line.dtype + " " + line.dims);
    std::error_code error;
    const uintmax_t size = fs::file_size(root_ / line.file, error);
    if (!error && size == expected) {
      tensor.data = ulpscope::DataRef::at(line.file, 0, expected);
    } else {
      // The record stays, so that the tensor is a row of the report and not forgotten.
      tensor.absent = ULPSCOPE_ABSENT_BAD;
      sink.diagnose(ULPSCOPE_E_IO, line.file,
                    error ? error.message() : "has not the size that its line says");
    }
    const auto [op, is_new] = ops.try_emplace(line.op, 0);
    if (is_new) {
      ulpscope::OpRecord record;
      record.name = line.op;                               // the same in both runs
      record.type = line.op.substr(0, line.op.find('.'));  // for policies and control groups
      op->second = sink.add(record);
    }
    tensor.op = op->second;
    sink.add(tensor);
  }

  ulpscope::Host host_;
  fs::path root_;
};

}  // namespace

ULPSCOPE_PLUGIN("my_plugin", "0.1.0", "me", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(MyPlugin));
