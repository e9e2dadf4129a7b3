// A source: what ONNX Runtime writes when it dumps node inputs and outputs to files, a TensorProto for each
// tensor (README.md). Only the few fields before the elements are read; the elements stay where they are in
// the file.
#include <ulpscope/plugin.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".tensorproto";
constexpr size_t kMostDims = 32, kHeadBytes = 65536;

// A TensorProto as far as it is needed; offset and size say where raw_data lies in the file.
struct Proto {
  std::string name, trouble;
  ulpscope::Shape dims;
  ulpscope::DType dtype = ulpscope::DType::none;
  uint64_t offset = 0, size = 0;
};

// By the numbers of TensorProto.DataType; none where elements have no raw form.
ulpscope::DType dtype_of(uint64_t number) {
  using ulpscope::DType;
  constexpr DType kTypes[] = {DType::none, DType::f32, DType::u8,   DType::i8,   DType::u16, DType::i16,
                              DType::i32,  DType::i64, DType::none, DType::b8,   DType::f16, DType::f64,
                              DType::u32,  DType::u64, DType::none, DType::none, DType::bf16};
  return number < std::size(kTypes) ? kTypes[number] : DType::none;
}

// The next number of the wire format; false where text ends within it.
bool varint(const std::string& text, uint64_t& at, uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && at < text.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text[at++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Reads fields up to raw_data, which is written behind all that describes it. False: no TensorProto.
bool read_fields(const std::string& head, Proto& proto) {
  enum : uint64_t { kDims = 1, kDataType = 2, kName = 8, kRawData = 9 };
  for (uint64_t at = 0, key = 0, value = 0; at < head.size();) {
    if (!varint(head, at, key) || !varint(head, at, value) || (key & 7) % 2 != 0) return false;
    const uint64_t field = key >> 3;
    if (field == kRawData) return proto.offset = at, proto.size = value, true;
    if ((key & 7) == 0) {
      if (field == kDims) proto.dims.push_back(static_cast<int64_t>(value));
      if (field == kDataType) proto.dtype = dtype_of(value);
      continue;
    }
    if (value > head.size() - at) return false;
    if (field == kName) proto.name = head.substr(at, value);
    at += value;
  }
  return false;
}

Proto read(const fs::path& path) {
  Proto proto;
  std::string head(kHeadBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error || !read_fields(head, proto) || proto.dtype == ulpscope::DType::none ||
      proto.dims.size() > kMostDims) {
    proto.trouble = "no TensorProto with raw elements";
  } else if (proto.size > size - proto.offset) {
    proto.trouble = "its elements reach past the end of the file";
  } else {
    uint64_t expected = ulpscope::size_bytes(proto.dtype);
    bool wrong = false;
    for (const int64_t dim : proto.dims)
      wrong |= dim < 0 || __builtin_mul_overflow(expected, static_cast<uint64_t>(dim), &expected);
    if (wrong || expected != proto.size) proto.trouble = "its elements are not what type and shape say";
  }
  return proto;
}

class OnnxNodeDumps final : public ulpscope::Source {
 public:
  static constexpr const char* kName = "onnx_node_dumps";
  static constexpr const char* kSummary = "node inputs and outputs of ONNX Runtime: NAME.tensorproto";

  static ulpscope::Probe probe(std::string_view path) {
    const size_t count = files_of(path).size();
    return {count > 0 ? 90 : 0, std::to_string(count) + " files NAME.tensorproto"};
  }

  OnnxNodeDumps(ulpscope::Host host, std::string_view path, std::string_view) : host_(host), root_(path) {
    if (files_of(root_).empty())
      throw ulpscope::Failure(ULPSCOPE_E_IO, root_.string() + ": no file NAME.tensorproto");
  }

  void scan(ulpscope::RecordSink& sink) override {
    for (const std::string& file : files_of(root_)) {
      host_.check_cancelled();
      const Proto proto = read(root_ / file);
      ulpscope::OpRecord op;
      op.name =
          proto.name.empty() ? file.substr(0, file.size() - std::string(kExtension).size()) : proto.name;
      op.type = "tensor";
      ulpscope::TensorRecord tensor;
      tensor.op = sink.add(op);
      tensor.role = ulpscope::Role::output;
      tensor.path = "0";
      if (proto.trouble.empty()) {
        tensor.dtype = proto.dtype;
        tensor.shape = proto.dims;
        tensor.data = ulpscope::DataRef::at(file, proto.offset, proto.size);
      } else {
        tensor.absent = ULPSCOPE_ABSENT_BAD;  // a row of the report all the same
        sink.diagnose(ULPSCOPE_E_IO, file, proto.trouble);
      }
      sink.add(tensor);
    }
  }

 private:
  static std::vector<std::string> files_of(const fs::path& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error))
      if (entry->path().extension() == kExtension) files.push_back(entry->path().filename().string());
    std::sort(files.begin(), files.end());
    return files;
  }

  ulpscope::Host host_;
  fs::path root_;
};

}  // namespace

ULPSCOPE_PLUGIN("onnx_node_dumps", "0.1.0", "example", "Apache-2.0",
                ULPSCOPE_COMPONENT_SOURCE(OnnxNodeDumps));
