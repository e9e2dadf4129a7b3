#include "formats/framework_dump_data.hpp"

#include <ulpscope/half.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/file.hpp"
#include "formats/element_stream.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kDataFolder = "dump_tensor_data";
constexpr uint32_t kNoFolder = 0xffffffff;

[[noreturn]] void raise(const Error& error) {
  throw Failure(static_cast<ulpscope_status>(error.code), error.message);
}

template <class T>
T value_or_throw(Result<T> result) {
  if (!result.ok()) raise(result.error());
  return std::move(result).value();
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string tensor_text(DType dtype, const Shape& shape) { return name(dtype) + (" " + shape_text(shape)); }

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape)
    if (__builtin_mul_overflow(count, dim, &count)) return -1;
  return count;
}

uint64_t load(const std::byte* bytes, size_t size) {
  uint64_t code = 0;
  for (size_t i = size; i-- > 0;) code = (code << 8) | std::to_integer<uint64_t>(bytes[i]);
  return code;
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The elements of a file, in the record's dtype. A checksum is judged at the end, when all bytes have gone
// by.
class FileStream final : public ByteStream {
 public:
  FileStream(Host host, std::unique_ptr<ElementStream> elements, std::string file, DType from, DType to,
             bool strict)
      : host_(host),
        elements_(std::move(elements)),
        file_(std::move(file)),
        from_(from),
        to_(to),
        strict_(strict) {}

  uint64_t read(void* dst, uint64_t size) override {
    const std::span<std::byte> out(static_cast<std::byte*>(dst), static_cast<size_t>(size));
    const size_t got = from_ == to_ ? fill(out) : convert(out);
    if (got == 0 && size > 0) check_sum();
    return got;
  }

 private:
  size_t fill(std::span<std::byte> out) { return value_or_throw(elements_->read(out)); }

  // Elements that did not fit into the caller's last piece wait in converted_.
  size_t convert(std::span<std::byte> out) {
    if (waiting_ == converted_.size()) convert_next();
    const size_t size = std::min(out.size(), converted_.size() - waiting_);
    std::copy_n(converted_.data() + waiting_, size, out.data());
    waiting_ += size;
    return size;
  }

  void convert_next() {
    constexpr size_t kElements = 8192;
    const size_t from_size = size_bytes(from_), to_size = size_bytes(to_);
    source_.resize(kElements * from_size);
    size_t filled = 0;
    while (filled < source_.size()) {
      const size_t got = fill(std::span(source_).subspan(filled));
      if (got == 0) break;
      filled += got;
    }
    const size_t count = filled / from_size;
    converted_.resize(count * to_size);
    waiting_ = 0;
    for (size_t i = 0; i < count; ++i) {
      const double value = float_to_double(from_, load(source_.data() + i * from_size, from_size));
      const uint64_t code = float_from_double(to_, value);
      if (!is_same(float_to_double(to_, code), value))
        throw Failure(ULPSCOPE_E_FORMAT, file_ + ": holds " + name(from_) + " and dump.json says " +
                                             name(to_) + "; element " + std::to_string(done_ + i) +
                                             " does not fit it");
      for (size_t b = 0; b < to_size; ++b)
        converted_[i * to_size + b] = static_cast<std::byte>(code >> (8 * b));
    }
    done_ += count;
  }

  void check_sum() {
    if (std::exchange(checked_, true) || !elements_->crc_mismatch()) return;
    const std::string text = file_ + ": the checksum does not match the data";
    if (strict_) throw Failure(ULPSCOPE_E_FORMAT, text);
    host_.warn(text);
  }

  Host host_;
  std::unique_ptr<ElementStream> elements_;
  std::string file_;
  DType from_, to_;
  bool strict_, checked_ = false;
  std::vector<std::byte> source_, converted_;
  size_t waiting_ = 0;  // of converted_, given out
  uint64_t done_ = 0;   // elements converted
};

class EmptyStream final : public ByteStream {
 public:
  uint64_t read(void*, uint64_t) override { return 0; }
};

}  // namespace

Result<File> open_in_dump(const std::string& root, std::string_view name, bool follow_links,
                          bool has_link_option) {
  auto file = File::open_under(root, name, follow_links);
  if (file.ok() || follow_links || !has_link_option) return file;
  const bool is_link = File::open_under(root, name, true).ok();
  if (!is_link) return file;
  return Error{file.error().code, file.error().message + "; --source-option follow_links=true reads it"};
}

struct LateTensors::Opened {
  std::string name;
  File file;
  TensorPlace place;
  DType dtype = DType::none;  // of the record
  Shape shape;
  bool inside = true;  // false: found through a link that leaves the dump
};

bool is_convertible(DType from, DType to) {
  return is_floating(from) && is_floating(to) && from != DType::f4_e2m1x2 && to != DType::f4_e2m1x2;
}

uint64_t LateTensors::add(std::string_view folder, std::string_view data_name, DType dtype,
                          const Shape& shape) {
  if (folders_.empty() || folders_.back() != folder) folders_.emplace_back(folder);
  const uint64_t token = add_file(data_name, dtype, shape);
  slots_.back().folder = static_cast<uint32_t>(folders_.size() - 1);
  return token;
}

uint64_t LateTensors::add_file(std::string_view file, DType dtype, const Shape& shape) {
  slots_.push_back({names_.size(), dims_.size(), static_cast<uint32_t>(file.size()), kNoFolder,
                    static_cast<uint8_t>(shape.size()), dtype});
  names_ += file;
  dims_.insert(dims_.end(), shape.begin(), shape.end());
  return slots_.size() - 1;
}

std::string LateTensors::file_name(const Slot& slot) const {
  std::string text;
  if (slot.folder != kNoFolder) {
    text = folders_[slot.folder];
    if (!text.empty()) text += '/';
    text.append(kDataFolder).append("/");
  }
  text.append(names_, slot.name_begin, slot.name_size);
  return text;
}

LateTensors::Opened LateTensors::open(uint64_t token) {
  if (token >= slots_.size()) throw Failure(ULPSCOPE_E_USAGE, "no tensor has token " + std::to_string(token));
  const Slot& slot = slots_[token];
  const std::string name = file_name(slot);
  auto file = open_in_dump(root_, name, false, options_.has_link_option && !options_.follow_links);
  bool inside = true;
  if (!file.ok() && options_.follow_links) {
    file = File::open_under(root_, name, true);
    inside = false;
  }
  Opened opened{name, value_or_throw(std::move(file)), {}, slot.dtype, {}, inside};
  const auto dims = dims_.begin() + static_cast<std::ptrdiff_t>(slot.dims_begin);
  opened.shape.assign(dims, dims + slot.dim_count);
  std::vector<TensorPlace> places = value_or_throw(read_places(opened.file));
  if (places.size() != 1)
    throw Failure(ULPSCOPE_E_FORMAT,
                  name + ": holds " + std::to_string(places.size()) + " tensors, expected one");
  opened.place = std::move(places.front());
  settle(opened, token);
  return opened;
}

// What the file and dump.json disagree on: the file is right, but the record is out. Elements that can be
// given in the record's form are, with a warning; else nothing can be compared.
void LateTensors::settle(const Opened& opened, uint64_t token) {
  const TensorPlace& place = opened.place;
  const bool other_dtype = opened.dtype != DType::none && place.dtype != opened.dtype;
  const bool other_shape = place.shape != opened.shape;
  const std::string both = opened.name + ": holds " + tensor_text(place.dtype, place.shape) +
                           " and dump.json says " + tensor_text(opened.dtype, opened.shape);
  if (element_count(place.shape) != element_count(opened.shape) ||
      (other_dtype && !is_convertible(place.dtype, opened.dtype)))
    throw Failure(ULPSCOPE_E_FORMAT, both);
  std::string warning;
  // Writers of several months stored float8 tensors widened: known, and harmless.
  const bool widened = place.dtype == DType::f32 && size_bytes(opened.dtype) == 1;
  if (other_shape || (other_dtype && !widened)) warning = both;
  if (other_dtype && widened && !other_shape) host_.info(both + "; read as " + name(opened.dtype));
  for (const std::string& odd : place.warnings)
    warning += (warning.empty() ? opened.name + ": " : "; ") + odd;
  if (!warning.empty()) warn_once(token, warning);
}

void LateTensors::warn_once(uint64_t token, const std::string& text) {
  {
    const std::lock_guard<std::mutex> lock(warned_mutex_);
    if (!warned_.insert(token).second) return;
  }
  host_.warn(text);
}

// A tensor without elements has data even where no file was written for it.
bool LateTensors::is_empty(uint64_t token) const {
  if (token >= slots_.size()) return false;
  const Slot& slot = slots_[token];
  const auto dims = dims_.begin() + static_cast<std::ptrdiff_t>(slot.dims_begin);
  if (std::find(dims, dims + slot.dim_count, 0) == dims + slot.dim_count) return false;
  return slot.name_size == 0 || !File::open_under(root_, file_name(slot), options_.follow_links).ok();
}

DataRef LateTensors::locate(uint64_t token) {
  if (is_empty(token)) return DataRef::stream(token, 0);
  const Opened opened = open(token);
  const TensorPlace& place = opened.place;
  const bool as_is = opened.dtype == DType::none || place.dtype == opened.dtype;
  const bool checked_here = options_.strict && place.crc32.has_value();
  if (place.plain && as_is && opened.inside && !checked_here)
    return place.crc32 ? DataRef::at(opened.name, place.offset, place.size, *place.crc32)
                       : DataRef::at(opened.name, place.offset, place.size);
  const DType dtype = opened.dtype == DType::none ? place.dtype : opened.dtype;
  return DataRef::stream(token, static_cast<uint64_t>(element_count(opened.shape)) * size_bytes(dtype));
}

std::unique_ptr<ByteStream> LateTensors::stream(uint64_t token) {
  if (is_empty(token)) return std::make_unique<EmptyStream>();
  Opened opened = open(token);
  const DType dtype = opened.dtype == DType::none ? opened.place.dtype : opened.dtype;
  const std::string name = opened.name;
  const DType from = opened.place.dtype;
  auto elements = value_or_throw(open_elements(std::move(opened.file), opened.place));
  return std::make_unique<FileStream>(host_, std::move(elements), name, from, dtype, options_.strict);
}

}  // namespace ulpscope
