// Writes .pt: a stored ZIP archive with the records archive/{data.pkl,byteorder,data/0,version}, each payload
// aligned to 64 bytes as torch does it. The sizes are known before the elements come; only the CRC-32 of the
// elements is filled in at the end.
#include <libdeflate.h>

#include <array>

#include "formats/tensor_writer_formats.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint32_t kFull32 = 0xffffffff;
constexpr size_t kCrcInLocalHeader = 14;

// Little-endian text building.
void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

struct Record {
  std::string name;
  uint64_t header = 0, size = 0;
  uint32_t crc32 = 0;
};

bool is_wide(uint64_t value) { return value >= kFull32; }
uint64_t narrow(uint64_t value) { return is_wide(value) ? kFull32 : value; }

// Version needed, flags (names are UTF-8), method, time, date 1980-01-01, CRC-32, sizes, lengths of name and
// extra.
void put_common(std::string& out, const Record& record, size_t extra_bytes) {
  put(out, 45, 2);
  put(out, 0x0800, 2);
  put(out, 0, 2);
  put(out, 0, 2);
  put(out, 0x21, 2);
  put(out, record.crc32, 4);
  put(out, narrow(record.size), 4);
  put(out, narrow(record.size), 4);
  put(out, record.name.size(), 2);
  put(out, extra_bytes, 2);
}

std::string local_header(const Record& record) {
  std::string extra;
  if (is_wide(record.size)) {
    put(extra, 1, 2);
    put(extra, 16, 2);
    put(extra, record.size, 8);
    put(extra, record.size, 8);
  }
  // torch's padding field: 'F' 'B', length, 'Z'…
  const uint64_t end = record.header + 30 + record.name.size() + extra.size() + 4;
  const uint64_t padding = (kAlignment - end % kAlignment) % kAlignment;
  extra += "FB";
  put(extra, padding, 2);
  extra.append(static_cast<size_t>(padding), 'Z');
  std::string out = "PK\3\4";
  put_common(out, record, extra.size());
  return out + record.name + extra;
}

std::string directory_entry(const Record& record) {
  std::string values;
  if (is_wide(record.size)) {
    put(values, record.size, 8);
    put(values, record.size, 8);
  }
  if (is_wide(record.header)) put(values, record.header, 8);
  std::string extra;
  if (!values.empty()) {
    put(extra, 1, 2);
    put(extra, values.size(), 2);
    extra += values;
  }
  std::string out = "PK\1\2";
  put(out, 45, 2);  // version made by
  put_common(out, record, extra.size());
  put(out, 0, 2);  // comment
  put(out, 0, 2);  // disk
  put(out, 0, 2);  // internal attributes
  put(out, 0, 4);  // external attributes
  put(out, narrow(record.header), 4);
  return out + record.name + extra;
}

// ZIP64 end record, its locator and the end record.
std::string end_records(uint64_t count, uint64_t offset, uint64_t size) {
  std::string out = "PK\6\6";
  put(out, 44, 8);  // bytes of this record after this field
  put(out, 45, 2);
  put(out, 45, 2);
  put(out, 0, 8);  // disks
  put(out, count, 8);
  put(out, count, 8);
  put(out, size, 8);
  put(out, offset, 8);
  out += "PK\6\7";
  put(out, 0, 4);
  put(out, offset + size, 8);
  put(out, 1, 4);
  out += "PK\5\6";
  put(out, 0, 4);  // disks
  put(out, count, 2);
  put(out, count, 2);
  put(out, narrow(size), 4);
  put(out, narrow(offset), 4);
  put(out, 0, 2);
  return out;
}

// The storage class of torch, or empty when the dtype needs an untyped storage.
std::string_view storage_class(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "DoubleStorage";
    case DType::f32:
      return "FloatStorage";
    case DType::f16:
      return "HalfStorage";
    case DType::bf16:
      return "BFloat16Storage";
    case DType::i64:
      return "LongStorage";
    case DType::i32:
      return "IntStorage";
    case DType::i16:
      return "ShortStorage";
    case DType::i8:
      return "CharStorage";
    case DType::u8:
      return "ByteStorage";
    case DType::b8:
      return "BoolStorage";
    case DType::c64:
      return "ComplexFloatStorage";
    case DType::c128:
      return "ComplexDoubleStorage";
    default:
      return {};
  }
}

bool has_torch_dtype(DType dtype) {
  return dtype != DType::none && dtype != DType::hif8 && dtype != DType::i4x2;
}

void put_integer(std::string& out, uint64_t value) {
  if (value < 0x100) {
    out += 'K';
    put(out, value, 1);
  } else if (value < 0x10000) {
    out += 'M';
    put(out, value, 2);
  } else if (value < 0x80000000) {
    out += 'J';
    put(out, value, 4);
  } else {
    out += '\x8a';
    put(out, 8, 1);
    put(out, value, 8);
  }
}

void put_text(std::string& out, std::string_view text) {
  out += 'X';
  put(out, text.size(), 4);
  out += text;
}

void put_tuple(std::string& out, const std::vector<int64_t>& values) {
  out += '(';
  for (const int64_t value : values) put_integer(out, static_cast<uint64_t>(value));
  out += 't';
}

// _rebuild_tensor_v2(storage, 0, size, stride, False, OrderedDict()) over a typed storage; _rebuild_tensor_v3
// with the dtype behind over an untyped one, whose count is in bytes.
std::string tensor_pickle(DType dtype, const Shape& shape) {
  const std::string_view type = storage_class(dtype);
  const uint64_t bytes = *dense_bytes(shape, dtype);
  std::string out = "\x80\x02";
  out += type.empty() ? "ctorch._utils\n_rebuild_tensor_v3\n" : "ctorch._utils\n_rebuild_tensor_v2\n";
  out += "((";
  put_text(out, "storage");
  out += type.empty() ? "ctorch.storage\nUntypedStorage\n" : "ctorch\n" + std::string(type) + "\n";
  put_text(out, "0");
  put_text(out, "cpu");
  put_integer(out, type.empty() ? bytes : bytes / size_bytes(dtype));
  out += "tQ";
  put_integer(out, 0);
  put_tuple(out, shape);
  put_tuple(out, dense_strides(shape));
  out +=
      "\x89"
      "ccollections\nOrderedDict\n)R";
  if (type.empty()) out += "ctorch\n" + std::string(name(dtype)) + "\n";
  return out + "tR.";
}

class PtFormat final : public TensorWriter::Format {
 public:
  PtFormat(NewFile new_file, uint64_t bytes) : Format(std::move(new_file)), bytes_(bytes) {}

  Status start(const std::string& pickle) {
    ULPSCOPE_TRY(add("archive/data.pkl", pickle));
    ULPSCOPE_TRY(add("archive/byteorder", "little"));
    records_.push_back({"archive/data/0", file.size(), bytes_, 0});
    data_ = records_.size() - 1;
    return file.append(local_header(records_.back()));
  }
  Status append(std::span<const std::byte> bytes) override {
    crc32_ = libdeflate_crc32(crc32_, bytes.data(), bytes.size());
    return file.append(bytes);
  }
  Status finish() override {
    Record& data = records_[data_];
    data.crc32 = crc32_;
    std::string crc;
    put(crc, crc32_, 4);
    ULPSCOPE_TRY(file.patch(data.header + kCrcInLocalHeader, std::as_bytes(std::span(crc))));
    ULPSCOPE_TRY(add("archive/version", "3\n"));
    const uint64_t offset = file.size();
    std::string directory;
    for (const Record& record : records_) directory += directory_entry(record);
    return file.append(directory + end_records(records_.size(), offset, directory.size()));
  }

 private:
  Status add(std::string name, const std::string& payload) {
    records_.push_back(
        {std::move(name), file.size(), payload.size(), libdeflate_crc32(0, payload.data(), payload.size())});
    return file.append(local_header(records_.back()) + payload);
  }

  uint64_t bytes_;
  std::vector<Record> records_;
  size_t data_ = 0;
  uint32_t crc32_ = 0;
};

}  // namespace

Result<std::unique_ptr<TensorWriter::Format>> begin_pt(const std::string& path, DType dtype,
                                                       const Shape& shape) {
  if (!has_torch_dtype(dtype))
    return Error{Code::unsupported, path + ": torch has no dtype for " + name(dtype)};
  ULPSCOPE_ASSIGN(NewFile file, NewFile::create(path));
  auto format = std::make_unique<PtFormat>(std::move(file), *dense_bytes(shape, dtype));
  ULPSCOPE_TRY(format->start(tensor_pickle(dtype, shape)));
  return std::unique_ptr<TensorWriter::Format>(std::move(format));
}

}  // namespace ulpscope
