#include "formats/npy.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/text.hpp"

// Layout: 0 "\x93NUMPY"  6 major  7 minor  8 header length (u16 in version 1, u32 later)  header  elements.
// Header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } padded with spaces, ended by a newline.
namespace ulpscope {
namespace {

constexpr uint64_t kMaxHeaderBytes = 1 << 20;

struct NpyType {
  std::string_view code;  // without the byte order
  DType dtype;
};
constexpr NpyType kTypes[] = {{"b1", DType::b8},  {"?", DType::b8},   {"i1", DType::i8},   {"u1", DType::u8},
                              {"i2", DType::i16}, {"u2", DType::u16}, {"i4", DType::i32},  {"u4", DType::u32},
                              {"i8", DType::i64}, {"u8", DType::u64}, {"f2", DType::f16},  {"f4", DType::f32},
                              {"f8", DType::f64}, {"c8", DType::c64}, {"c16", DType::c128}};

struct Header {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
};

// Reads the dictionary of a header. Every step moves forward and nothing nests, so it ends after the last
// byte.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}
  Result<Header> parse();

 private:
  Status parse_member(Header& header);
  Result<std::string_view> parse_text();
  Result<bool> parse_flag();
  Result<Shape> parse_shape();
  void skip_space() {
    while (position_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos)
      ++position_;
  }
  bool take(std::string_view token) {
    skip_space();
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }
  Error expected(std::string_view what) const {
    return {Code::format,
            "npy header: byte " + std::to_string(position_) + ": expected " + std::string(what)};
  }

  std::string_view text_;
  size_t position_ = 0;
};

Result<Header> HeaderParser::parse() {
  Header header;
  if (!take("{")) return expected("'{'");
  while (!take("}")) {
    ULPSCOPE_TRY(parse_member(header));
    if (take(",")) continue;
    if (take("}")) break;
    return expected("',' or '}'");
  }
  skip_space();
  if (position_ != text_.size()) return expected("the end of the header");
  if (!header.descr || !header.fortran_order || !header.shape)
    return Error{Code::format, "npy header: expected descr, fortran_order and shape"};
  return header;
}

Status HeaderParser::parse_member(Header& header) {
  ULPSCOPE_ASSIGN(const std::string_view key, parse_text());
  if (!take(":")) return expected("':'");
  const auto again = [&] { return Error{Code::format, "npy header: '" + printable(key) + "' occurs twice"}; };
  if (key == "descr") {
    if (header.descr) return again();
    skip_space();
    if (text_.substr(position_).starts_with("["))
      return Error{Code::unsupported, "an array of records, expected plain elements"};
    ULPSCOPE_ASSIGN(header.descr, parse_text());
  } else if (key == "fortran_order") {
    if (header.fortran_order) return again();
    ULPSCOPE_ASSIGN(header.fortran_order, parse_flag());
  } else if (key == "shape") {
    if (header.shape) return again();
    ULPSCOPE_ASSIGN(header.shape, parse_shape());
  } else {
    return Error{Code::format, "npy header: unknown member '" + printable(key) + "'"};
  }
  return {};
}

// A Python text without escapes; Python 2 may have put a letter in front.
Result<std::string_view> HeaderParser::parse_text() {
  if (!take("u")) take("b");
  skip_space();
  const char quote = position_ < text_.size() ? text_[position_] : '\0';
  if (quote != '\'' && quote != '"') return expected("a quoted text");
  const size_t end = text_.find(quote, position_ + 1);
  if (end == std::string_view::npos) return expected("a quoted text that ends");
  const std::string_view text = text_.substr(position_ + 1, end - position_ - 1);
  if (text.find('\\') != std::string_view::npos) return expected("a text without escapes");
  position_ = end + 1;
  return text;
}

Result<bool> HeaderParser::parse_flag() {
  if (take("True")) return true;
  if (take("False")) return false;
  return expected("True or False");
}

// "()", "(3,)", "(2, 3)"; Python 2 wrote "(3L,)".
Result<Shape> HeaderParser::parse_shape() {
  Shape shape;
  if (!take("(")) return expected("'('");
  while (!take(")")) {
    skip_space();
    int64_t value = 0;
    const char* const begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) return expected("a dimension from 0 to 2^63 - 1");
    if (shape.size() == kMaxRank)
      return Error{Code::unsupported, "more than " + std::to_string(kMaxRank) + " dimensions"};
    shape.push_back(value);
    position_ += static_cast<size_t>(end - begin);
    take("L");
    if (take(",")) continue;
    if (take(")")) break;
    return expected("',' or ')'");
  }
  return shape;
}

Error refused_type(std::string_view descr, std::string_view code) {
  const std::string quoted = " (" + printable(descr) + ")";
  const char kind = code.empty() ? '\0' : code.front();
  switch (kind) {
    case 'O':
      return {Code::unsupported, "an object array" + quoted + ", which would need code to read"};
    case 'S':
    case 'U':
    case 'a':
      return {Code::unsupported, "a string array" + quoted + ", which has no numbers"};
    case 'M':
    case 'm':
      return {Code::unsupported, "an array of dates" + quoted + ", expected plain elements"};
    default:
      return {Code::unsupported, "npy dtype '" + printable(descr) + "'"};
  }
}

struct ElementType {
  DType dtype = DType::none;
  bool big_endian = false;
};

Result<ElementType> element_type(std::string_view descr) {
  std::string_view code = descr;
  const char order = code.empty() ? '\0' : code.front();
  if (std::string_view("<>|=").find(order) != std::string_view::npos && order != '\0') code.remove_prefix(1);
  for (const NpyType& type : kTypes)
    if (type.code == code) return ElementType{type.dtype, order == '>' && size_bytes(type.dtype) > 1};
  return refused_type(descr, code);
}

std::vector<int64_t> fortran_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

// Whether column-major order is row-major order: at most one dimension is longer than 1.
bool has_one_axis(const Shape& shape) {
  return std::count_if(shape.begin(), shape.end(), [](int64_t n) { return n > 1; }) <= 1;
}

struct Text {
  std::string_view header;
  uint64_t data_offset = 0;
};

Result<Text> find_header(const FileEnds& ends, std::vector<std::byte>& scratch) {
  const Bytes head = ends.head();
  if (head.size() < 10)
    return Error{Code::format, "npy: ends at byte " + std::to_string(head.size()) + ", expected a header"};
  const auto major = std::to_integer<int>(head[6]), minor = std::to_integer<int>(head[7]);
  if (major < 1 || major > 3 || minor != 0)
    return Error{Code::unsupported, "npy version " + std::to_string(major) + "." + std::to_string(minor) +
                                        ", expected 1.0, 2.0 or 3.0"};
  const uint64_t begin = major == 1 ? 10 : 12;
  if (head.size() < begin)
    return Error{Code::format, "npy: ends at byte " + std::to_string(head.size()) + ", expected a header"};
  const uint64_t length = major == 1 ? load_le<uint16_t>(head, 8) : load_le<uint32_t>(head, 8);
  if (length > kMaxHeaderBytes)
    return Error{Code::unsupported, "npy header of " + std::to_string(length) + " bytes, expected at most " +
                                        std::to_string(kMaxHeaderBytes)};
  ULPSCOPE_ASSIGN(const Bytes header, ends.view(begin, length, scratch));
  return Text{as_text(header), begin + length};
}

Result<TensorPlace> read_place(const FileEnds& ends) {
  std::vector<std::byte> scratch;
  ULPSCOPE_ASSIGN(const Text text, find_header(ends, scratch));
  ULPSCOPE_ASSIGN(Header header, HeaderParser(text.header).parse());
  ULPSCOPE_ASSIGN(const ElementType type, element_type(*header.descr));
  TensorPlace place;
  place.dtype = type.dtype;
  place.shape = *std::move(header.shape);
  const auto bytes = dense_bytes(place.shape, place.dtype);
  if (!bytes) return Error{Code::format, "npy: a shape of more elements than any file holds"};
  const uint64_t available = ends.file().size() - text.data_offset;
  if (*bytes > available)
    return Error{Code::format, "npy: " + std::to_string(available) + " bytes of elements, expected " +
                                   std::to_string(*bytes)};
  if (*bytes < available)
    place.warnings.push_back(std::to_string(available - *bytes) + " bytes after the last element");
  place.offset = text.data_offset;
  place.size = *bytes;
  place.big_endian = type.big_endian && *bytes > 0;
  const bool fortran = *header.fortran_order && !has_one_axis(place.shape) && *bytes > 0;
  place.plain = !place.big_endian && !fortran;
  if (!place.plain) place.strides = fortran ? fortran_strides(place.shape) : dense_strides(place.shape);
  return place;
}

}  // namespace

Result<TensorPlace> read_npy(const FileEnds& ends) {
  auto place = read_place(ends);
  if (place.ok() || place.error().message.starts_with(ends.file().path())) return place;
  return std::move(place).error().within(ends.file().path());
}

std::string_view npy_descr(DType dtype) {
  switch (dtype) {
    case DType::b8:
      return "|b1";
    case DType::u8:
      return "|u1";
    case DType::i8:
      return "|i1";
    case DType::u16:
      return "<u2";
    case DType::i16:
      return "<i2";
    case DType::u32:
      return "<u4";
    case DType::i32:
      return "<i4";
    case DType::u64:
      return "<u8";
    case DType::i64:
      return "<i8";
    case DType::f16:
      return "<f2";
    case DType::f32:
      return "<f4";
    case DType::f64:
      return "<f8";
    case DType::c64:
      return "<c8";
    case DType::c128:
      return "<c16";
    default:
      return {};
  }
}

}  // namespace ulpscope
