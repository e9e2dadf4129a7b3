#include "formats/atb_container.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "formats/atb_codes.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMaxDims = 32;
// Runs that were appended to one file; more is no dump.
constexpr int kMaxContainers = 1000;
constexpr std::string_view kFirstLine = "$Version=";

// The lines of one header, as written.
struct Header {
  uint64_t payload = 0;  // the byte behind the $End line
  std::optional<std::string> version, count, length, format, dtype, dims, alias, object;
  bool other_objects = false;
  ulpscope_stats stats = {};
};

Error wrong(uint64_t byte, const std::string& what) {
  return {Code::format, "byte " + std::to_string(byte) + ": " + what};
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void take_statistic(std::string_view name, std::string_view value, ulpscope_stats& stats) {
  const auto number = parse_double(value);
  if (!number) return;
  const std::pair<std::string_view, std::pair<uint32_t, double*>> kMembers[] = {
      {"max", {ULPSCOPE_STAT_MAX, &stats.max}},
      {"min", {ULPSCOPE_STAT_MIN, &stats.min}},
      {"mean", {ULPSCOPE_STAT_MEAN, &stats.mean}},
      {"l2norm", {ULPSCOPE_STAT_L2, &stats.l2norm}}};
  for (const auto& [member, place] : kMembers) {
    if (member != name) continue;
    stats.present |= place.first;
    *place.second = *number;
  }
}

// Takes one line; lines of other names are left alone, so that later versions can add some.
void take_line(std::string_view name, std::string_view value, Header& header) {
  const std::pair<std::string_view, std::optional<std::string>*> kMembers[] = {
      {"$Version", &header.version}, {"$Object.Count", &header.count}, {"$Object.Length", &header.length},
      {"format", &header.format},    {"dtype", &header.dtype},         {"dims", &header.dims},
      {"data", &header.alias},       {"$Object.data", &header.object}};
  for (const auto& [member, place] : kMembers)
    if (member == name) {
      *place = std::string(value);
      return;
    }
  header.other_objects |= name.starts_with("$Object.");
  take_statistic(name, value, header.stats);
}

Result<Header> read_header(const File& file, uint64_t begin) {
  std::array<std::byte, AtbContainer::kMaxHeaderBytes> buffer;
  ULPSCOPE_ASSIGN(const size_t got, file.read_at(begin, buffer));
  const std::string_view text(reinterpret_cast<const char*>(buffer.data()), got);
  if (got == 0) return wrong(begin, "the file ends, expected \"$Version=\"");
  Header header;
  for (size_t at = 0;;) {
    const size_t end = text.find('\n', at);
    const size_t size = std::min(end, text.size()) - at;
    if (size > AtbContainer::kMaxLineBytes)
      return wrong(begin + at, "a header line is longer than 512 bytes");
    if (end == std::string_view::npos) return wrong(begin + at, "the header has no line \"$End\"");
    std::string_view line = text.substr(at, size);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (valid_utf8(line) != line) return wrong(begin + at, "the header is not UTF-8");
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos)
      return wrong(begin + at, "expected a line name=value, found \"" + printable(line.substr(0, 40)) + "\"");
    const std::string_view name = without_blanks(line.substr(0, equals));
    if (at == 0 && name != "$Version")
      return wrong(begin, "expected \"$Version=\", found \"" + printable(line.substr(0, 40)) + "\"");
    take_line(name, without_blanks(line.substr(equals + 1)), header);
    at = end + 1;
    header.payload = begin + at;
    if (name == "$End") return header;
  }
}

// What an object line says: "0,24".
struct Object {
  uint64_t offset = 0, length = 0;
};

std::optional<Object> parse_object(std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto offset = parse_int(without_blanks(text.substr(0, comma)));
  const auto length = parse_int(without_blanks(text.substr(comma + 1)));
  if (!offset || !length || *offset < 0 || *length < 0) return std::nullopt;
  return Object{static_cast<uint64_t>(*offset), static_cast<uint64_t>(*length)};
}

Status set_type(const Header& header, AtbContainer& out, uint32_t& bits_of_element) {
  if (!header.dtype) return wrong(header.payload, "the header has no line \"dtype\"");
  out.type_text = *header.dtype;
  const auto code = parse_int(*header.dtype);
  const AtbDType* type = code ? atb_dtype(*code) : nullptr;
  if (type != nullptr) {
    out.type_text = type->name;
    out.dtype = type->dtype;
    bits_of_element = type->bits_of_element;
  } else if (out.type_text.empty()) {
    return wrong(header.payload, "the line \"dtype\" is empty, expected a number");
  }
  if (header.format) out.format = parse_int(*header.format).value_or(-1);
  return {};
}

Status set_shape(const Header& header, AtbContainer& out) {
  if (!header.dims) return wrong(header.payload, "the header has no line \"dims\"");
  if (header.dims->find(' ') != std::string::npos) out.warnings.emplace_back("dims hold blanks");
  auto shape = parse_atb_dims(*header.dims, ',');
  if (!shape.ok()) return wrong(header.payload, "dims: " + shape.error().message);
  out.shape = std::move(shape).value();
  if (atb_element_count(out.shape) < 0)
    return wrong(header.payload, "dims " + printable(*header.dims) + ": more elements than can be counted");
  return {};
}

// Bytes that dims and type make; nothing where the size of an element is not known or the product overflows.
std::optional<uint64_t> expected_bytes(const Shape& shape, uint32_t bits_of_element) {
  uint64_t bits = 0;
  const auto count = static_cast<uint64_t>(atb_element_count(shape));
  if (bits_of_element == 0 || __builtin_mul_overflow(count, uint64_t{bits_of_element}, &bits))
    return std::nullopt;
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

// One container on its way to an answer.
struct Parsed {
  AtbContainer container;
  uint64_t end = 0;  // where the next one would begin
};

bool continues(const File& file, uint64_t at) {
  std::array<std::byte, kFirstLine.size()> bytes;
  const auto got = file.read_at(at, bytes);
  return got.ok() && *got == bytes.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == kFirstLine;
}

void warn_of_header(const Header& header, uint64_t size, AtbContainer& out) {
  const auto lies = [&](const char* line, const std::optional<std::string>& text, uint64_t truth) {
    if (text && parse_int(*text) != static_cast<int64_t>(truth))
      out.warnings.push_back(std::string(line) + " says " + printable(*text) + ", expected " +
                             std::to_string(truth));
  };
  if (header.version && *header.version != "1.0")
    out.warnings.push_back("version " + printable(*header.version) + ", known is 1.0");
  lies("$Object.Count", header.count, 1);
  if (!header.other_objects) lies("$Object.Length", header.length, size);
}

// Places the elements. The dims decide how many bytes there must be; what the header says of lengths is only
// checked against that.
Status place_data(const File& file, const Header& header, uint32_t bits_of_element, Parsed& out) {
  const uint64_t payload = file.size() - header.payload;
  Object object{0, payload};
  if (header.object) {
    const auto stated = parse_object(*header.object);
    if (!stated)
      return wrong(header.payload,
                   "$Object.data: \"" + printable(*header.object) + "\", expected offset,length");
    object = *stated;
  }
  const auto expected = expected_bytes(out.container.shape, bits_of_element);
  const uint64_t size = expected.value_or(std::min(object.length, payload));
  if (bits_of_element != 0 && !expected)
    return wrong(header.payload, "dims " + *header.dims + ": more bytes than a file can hold");
  if (object.offset > payload || size > payload - object.offset) {
    if (object.offset != 0)
      return wrong(header.payload, "$Object.data begins at " + std::to_string(object.offset) + " and needs " +
                                       std::to_string(size) + " bytes, the payload has " +
                                       std::to_string(payload));
    return wrong(header.payload,
                 "truncated: " + std::to_string(payload) + " of " + std::to_string(size) + " bytes");
  }
  AtbContainer& container = out.container;
  container.has_data = true;
  container.data_offset = header.payload + object.offset;
  container.data_size = size;
  out.end = container.data_offset + size;
  if (header.other_objects && header.length) {
    const auto length = parse_int(*header.length);
    if (length && *length >= 0 && static_cast<uint64_t>(*length) <= payload)
      out.end = std::max(out.end, header.payload + static_cast<uint64_t>(*length));
  }
  if (out.end < file.size() && !continues(file, out.end)) {
    if (object.length == payload - object.offset && object.length != size)
      return wrong(header.payload, "dims give " + std::to_string(size) + " bytes, the payload has " +
                                       std::to_string(object.length));
    return wrong(out.end, std::to_string(file.size() - out.end) + " trailing bytes behind the " +
                              std::to_string(size) + " that dims give");
  }
  if (object.length != size)
    container.warnings.push_back("$Object.data says " + std::to_string(object.length) + " bytes, expected " +
                                 std::to_string(size));
  warn_of_header(header, size, container);
  return {};
}

Result<Parsed> parse(const File& file, uint64_t begin) {
  ULPSCOPE_ASSIGN(const Header header, read_header(file, begin));
  Parsed out;
  uint32_t bits_of_element = 0;
  ULPSCOPE_TRY(set_type(header, out.container, bits_of_element));
  ULPSCOPE_TRY(set_shape(header, out.container));
  out.container.stats = header.stats;
  out.end = header.payload;
  const bool nothing_follows = header.payload == file.size() || continues(file, header.payload);
  if (header.alias && !header.object) {
    if (!nothing_follows) return wrong(header.payload, "bytes behind the header of an alias, expected none");
    out.container.is_alias = true;
    out.container.alias = *header.alias;
    return out;
  }
  if (header.stats.present != 0 && nothing_follows && !header.object) return out;
  ULPSCOPE_TRY(place_data(file, header, bits_of_element, out));
  return out;
}

}  // namespace

Result<Shape> parse_atb_dims(std::string_view text, char separator) {
  Shape shape;
  if (without_blanks(text).empty()) return shape;
  for (const std::string_view part : split(text, separator)) {
    const auto number = parse_int(without_blanks(part));
    if (!number || *number < 0)
      return Error{Code::format, "\"" + printable(text.substr(0, 60)) + "\", expected whole numbers from 0"};
    if (shape.size() == kMaxDims) return Error{Code::format, "more than 32 dimensions"};
    shape.push_back(*number);
  }
  return shape;
}

int64_t atb_element_count(const Shape& shape) {
  int64_t count = 1;
  bool overflow = false;
  for (const int64_t dim : shape) {
    if (dim == 0) return 0;
    overflow |= __builtin_mul_overflow(count, dim, &count);
  }
  return overflow ? -1 : count;
}

bool is_atb_container(const File& file) { return continues(file, 0); }

Result<AtbContainer> read_atb_container(const File& file) {
  ULPSCOPE_ASSIGN(Parsed last, parse(file, 0));
  for (int number = 2; last.end < file.size(); ++number) {
    if (number > kMaxContainers)
      return wrong(last.end, "more than " + std::to_string(kMaxContainers) + " containers in one file");
    auto next = parse(file, last.end);
    if (!next.ok()) {
      last.container.warnings.push_back("the container behind this one is damaged: " + next.error().message);
      break;
    }
    next->container.warnings.push_back("several containers in one file, the last one is read");
    last = std::move(next).value();
  }
  return std::move(last.container);
}

}  // namespace ulpscope
