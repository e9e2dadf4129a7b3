#include "formats/safetensors.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/text.hpp"

// Layout: u64 header length, header, elements. Header: {name: {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [0, 24]},
// "__metadata__": {text: text}}; offsets count from the end of the header.
namespace ulpscope {
namespace {

struct WordOfDType {
  std::string_view word;
  DType dtype;
};
constexpr WordOfDType kWords[] = {{"F64", DType::f64},
                                  {"F32", DType::f32},
                                  {"F16", DType::f16},
                                  {"BF16", DType::bf16},
                                  {"F8_E4M3", DType::f8_e4m3fn},
                                  {"F8_E5M2", DType::f8_e5m2},
                                  {"F8_E8M0", DType::f8_e8m0},
                                  {"I64", DType::i64},
                                  {"I32", DType::i32},
                                  {"I16", DType::i16},
                                  {"I8", DType::i8},
                                  {"U64", DType::u64},
                                  {"U32", DType::u32},
                                  {"U16", DType::u16},
                                  {"U8", DType::u8},
                                  {"BOOL", DType::b8},
                                  {"C64", DType::c64}};

constexpr size_t kLengthBytes = 8;

// Builds the places while the JSON parser walks the header. The grammar is fixed, so the state is one word;
// nothing nests deeper than an array in a tensor in the header.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(uint64_t data_offset, uint64_t data_bytes)
      : data_offset_(data_offset), data_bytes_(data_bytes) {}

  std::vector<TensorPlace> places;
  std::string problem;  // empty: none

  bool null() override { return refuse("null"); }
  bool boolean(bool /*value*/) override { return refuse("a boolean"); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override {
    return refuse("a fraction");
  }
  bool number_integer(number_integer_t /*value*/) override { return refuse("a negative number"); }
  bool binary(binary_t& /*value*/) override { return refuse("binary data"); }
  bool number_unsigned(number_unsigned_t value) override;
  bool string(string_t& value) override;
  bool start_object(std::size_t /*elements*/) override;
  bool key(string_t& value) override;
  bool end_object() override;
  bool start_array(std::size_t /*elements*/) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    problem = "not JSON at byte " + std::to_string(kLengthBytes + position);
    return false;
  }

 private:
  enum class State : uint8_t {
    outside,
    names,
    tensor,
    metadata,
    dtype,
    shape,
    offsets,
    in_shape,
    in_offsets,
    done
  };

  bool refuse(const std::string& what) { return fail("unexpected " + what); }
  bool fail(const std::string& what) {
    problem = name_.empty() ? what : "tensor '" + printable(name_) + "': " + what;
    return false;
  }
  bool tensor_key(const std::string& member);
  bool finish_tensor();

  const uint64_t data_offset_, data_bytes_;
  State state_ = State::outside;
  std::unordered_set<std::string> names_;
  std::string name_;
  std::optional<std::string> dtype_;
  std::optional<Shape> shape_;
  std::optional<std::vector<uint64_t>> offsets_;
  std::unordered_set<std::string> metadata_keys_;
};

bool HeaderReader::number_unsigned(number_unsigned_t value) {
  if (state_ == State::in_shape) {
    if (shape_->size() == kMaxRank) return fail("more than " + std::to_string(kMaxRank) + " dimensions");
    if (value > static_cast<uint64_t>(INT64_MAX)) return fail("dimension " + std::to_string(value));
    shape_->push_back(static_cast<int64_t>(value));
    return true;
  }
  if (state_ == State::in_offsets && offsets_->size() < 2) {
    offsets_->push_back(value);
    return true;
  }
  return refuse("number");
}

bool HeaderReader::string(string_t& value) {
  if (state_ == State::metadata) return true;
  if (state_ != State::dtype) return refuse("text");
  dtype_ = value;
  state_ = State::tensor;
  return true;
}

bool HeaderReader::start_object(std::size_t /*elements*/) {
  if (state_ == State::outside) {
    state_ = State::names;
    return true;
  }
  if (state_ != State::names || name_.empty()) return refuse("object");
  state_ = name_ == kSafetensorsMetadata ? State::metadata : State::tensor;
  return true;
}

bool HeaderReader::key(string_t& value) {
  if (state_ == State::metadata)
    return metadata_keys_.insert(value).second || fail("'" + printable(value) + "' occurs twice");
  if (state_ == State::tensor) return tensor_key(value);
  name_ = value;
  if (name_.empty()) return fail("a tensor without a name");
  if (!names_.insert(name_).second) return fail("the name occurs twice");
  return true;
}

bool HeaderReader::tensor_key(const std::string& member) {
  const bool again = (member == "dtype" && dtype_) || (member == "shape" && shape_) ||
                     (member == "data_offsets" && offsets_);
  if (again) return fail("'" + member + "' occurs twice");
  if (member == "dtype") {
    state_ = State::dtype;
  } else if (member == "shape") {
    state_ = State::shape;
  } else if (member == "data_offsets") {
    state_ = State::offsets;
  } else {
    return fail("unknown member '" + printable(member) + "'");
  }
  return true;
}

bool HeaderReader::end_object() {
  if (state_ == State::names) {
    state_ = State::done;
    return true;
  }
  if (state_ == State::tensor && !finish_tensor()) return false;
  if (state_ != State::tensor && state_ != State::metadata) return refuse("end");
  state_ = State::names;
  name_.clear();
  return true;
}

bool HeaderReader::start_array(std::size_t /*elements*/) {
  if (state_ == State::shape) {
    state_ = State::in_shape;
    shape_.emplace();
    return true;
  }
  if (state_ != State::offsets) return refuse("array");
  state_ = State::in_offsets;
  offsets_.emplace();
  return true;
}

bool HeaderReader::end_array() {
  if (state_ == State::in_offsets && offsets_->size() != 2) return fail("data_offsets, expected two numbers");
  state_ = State::tensor;
  return true;
}

bool HeaderReader::finish_tensor() {
  if (!dtype_ || !shape_ || !offsets_) return fail("expected dtype, shape and data_offsets");
  const uint64_t begin = offsets_->front(), end = offsets_->back();
  if (begin > end || end > data_bytes_)
    return fail("data_offsets " + std::to_string(begin) + " to " + std::to_string(end) +
                ", but the file has " + std::to_string(data_bytes_) + " bytes of elements");
  TensorPlace place;
  place.member = name_;
  place.offset = data_offset_ + begin;
  place.size = end - begin;
  for (const WordOfDType& known : kWords)
    if (known.word == *dtype_) place.dtype = known.dtype;
  if (place.dtype == DType::none) {
    place.plain = false;
    place.refusal = "dtype " + printable(*dtype_) + " is not supported";
  } else {
    const auto bytes = dense_bytes(*shape_, place.dtype);
    if (!bytes || *bytes != place.size)
      return fail("data_offsets hold " + std::to_string(place.size) + " bytes, expected " +
                  (bytes ? std::to_string(*bytes) : std::string("more than any file holds")));
  }
  place.shape = *std::move(shape_);
  places.push_back(std::move(place));
  dtype_.reset();
  shape_.reset();
  offsets_.reset();
  return true;
}

// The name of a tensor whose bytes another one uses too, or null.
const TensorPlace* find_overlap(const std::vector<TensorPlace>& places) {
  std::vector<const TensorPlace*> order;
  for (const TensorPlace& place : places)
    if (place.size > 0) order.push_back(&place);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->offset - order[i - 1]->offset < order[i - 1]->size) return order[i];
  return nullptr;
}

}  // namespace

bool looks_like_safetensors(Bytes head, uint64_t file_size) {
  if (head.size() <= kLengthBytes || file_size <= kLengthBytes || head[kLengthBytes] != std::byte{'{'})
    return false;
  const auto length = load_le<uint64_t>(head, 0);
  return length >= 2 && length <= kMaxSafetensorsHeader;
}

Result<std::vector<TensorPlace>> read_safetensors(const FileEnds& ends) {
  const File& file = ends.file();
  const auto broken = [&](const std::string& what) {
    return Error{Code::format, file.path() + ": safetensors header: " + what};
  };
  std::vector<std::byte> scratch;
  ULPSCOPE_ASSIGN(const Bytes raw, ends.view(0, kLengthBytes, scratch));
  const auto length = load_le<uint64_t>(raw, 0);
  if (length > kMaxSafetensorsHeader || length > file.size() - kLengthBytes)
    return broken(std::to_string(length) + " bytes, but the file has " + std::to_string(file.size()) +
                  " and the format allows " + std::to_string(kMaxSafetensorsHeader));
  ULPSCOPE_ASSIGN(const Bytes header, ends.view(kLengthBytes, length, scratch));
  const uint64_t data_offset = kLengthBytes + length;
  HeaderReader reader(data_offset, file.size() - data_offset);
  const std::string_view text = as_text(header);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader))
    return broken(reader.problem.empty() ? "not JSON" : reader.problem);
  if (const TensorPlace* twice = find_overlap(reader.places))
    return broken("tensor '" + printable(twice->member) + "': overlaps another tensor");
  return std::move(reader.places);
}

std::string_view safetensors_dtype(DType dtype) {
  for (const WordOfDType& known : kWords)
    if (known.dtype == dtype) return known.word;
  return {};
}

}  // namespace ulpscope
