#include "formats/element_stream.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "formats/element_stream_gather.hpp"
#include "formats/zip_inflate.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kBlockBytes = uint64_t{8} << 20;   // of output that a strided copy prepares at once
constexpr uint64_t kWholeBytes = uint64_t{32} << 20;  // a stored storage up to this is loaded whole
constexpr uint64_t kUnpackedBytes = uint64_t{48}
                                    << 20;  // a packed storage must be loaded whole to be strided

// Follows the CRC-32 of a record that is read in order.
class CrcCheck {
 public:
  explicit CrcCheck(std::optional<uint32_t> expected) : expected_(expected) {}
  void add(std::span<const std::byte> bytes) {
    if (expected_) crc_ = libdeflate_crc32(crc_, bytes.data(), bytes.size());
  }
  // Compares once the whole record has passed.
  void close() { mismatch_ = expected_ && crc_ != *expected_; }
  bool mismatch() const { return mismatch_; }

 private:
  std::optional<uint32_t> expected_;
  uint32_t crc_ = 0;
  bool mismatch_ = false;
};

// Reverses each unit of unit bytes.
void swap_units(std::span<std::byte> bytes, size_t unit) {
  for (size_t i = 0; i + unit <= bytes.size(); i += unit) std::reverse(&bytes[i], &bytes[i] + unit);
}

// The bytes that byte order applies to: each half of a complex number on its own.
size_t swap_unit(DType dtype) { return size_bytes(dtype) / (is_complex(dtype) ? 2 : 1); }

// The bytes of a record in order: a range of the file, unpacked when deflated.
class RecordReader {
 public:
  static Result<RecordReader> open(const File& file, const TensorPlace& place) {
    RecordReader reader(file, place);
    if (place.deflated) {
      ULPSCOPE_ASSIGN(InflateStream stream,
                      InflateStream::open(file, place.offset, place.packed_size, place.size));
      reader.inflate_.emplace(std::move(stream));
    }
    return reader;
  }
  uint64_t left() const { return left_; }
  Result<size_t> read(std::span<std::byte> dst) {
    const std::span<std::byte> part = dst.first(static_cast<size_t>(std::min<uint64_t>(dst.size(), left_)));
    if (inflate_) {
      ULPSCOPE_ASSIGN(const size_t got, inflate_->read(part));
      if (got != part.size()) return Error{Code::format, file_->path() + ": packed bytes end early"};
    } else {
      ULPSCOPE_TRY(file_->read_exact(offset_, part));
      offset_ += part.size();
    }
    left_ -= part.size();
    crc_.add(part);
    if (left_ == 0) crc_.close();
    return part.size();
  }
  Status read_whole(std::vector<std::byte>& bytes) {
    bytes.resize(static_cast<size_t>(left_));
    ULPSCOPE_ASSIGN(const size_t got, read(bytes));
    static_cast<void>(got);
    return {};
  }
  bool mismatch() const { return crc_.mismatch(); }

 private:
  RecordReader(const File& file, const TensorPlace& place)
      : file_(&file), offset_(place.offset), left_(place.size), crc_(place.crc32) {}
  const File* file_;
  uint64_t offset_, left_;
  std::optional<InflateStream> inflate_;
  CrcCheck crc_;
};

// Elements that lie in the record in output order: skips to the first, swaps, and reads on to the record's
// end where a CRC-32 asks for it.
class OrderedStream final : public ElementStream {
 public:
  static Result<std::unique_ptr<ElementStream>> open(std::unique_ptr<File> file, const TensorPlace& place,
                                                     uint64_t bytes) {
    ULPSCOPE_ASSIGN(RecordReader reader, RecordReader::open(*file, place));
    auto stream =
        std::unique_ptr<OrderedStream>(new OrderedStream(std::move(file), std::move(reader), place, bytes));
    return std::unique_ptr<ElementStream>(std::move(stream));
  }
  Result<size_t> read(std::span<std::byte> dst) override {
    if (skip_ > 0) ULPSCOPE_TRY(pass_over(skip_));
    skip_ = 0;
    size_t done = 0;
    while (done < dst.size() && left_ + ready_ > 0) {
      if (ready_ > 0) {
        const size_t n = std::min(dst.size() - done, ready_);
        std::memcpy(dst.data() + done, unit_.data() + (unit_bytes_ - ready_), n);
        ready_ -= n;
        done += n;
        continue;
      }
      ULPSCOPE_ASSIGN(const size_t n, read_units(dst.subspan(done)));
      done += n;
    }
    if (left_ == 0 && ready_ == 0 && reads_to_end_) ULPSCOPE_TRY(pass_over(reader_.left()));
    return done;
  }
  uint64_t size() const override { return size_; }
  bool crc_mismatch() const override { return reader_.mismatch(); }

 private:
  OrderedStream(std::unique_ptr<File> file, RecordReader reader, const TensorPlace& place, uint64_t bytes)
      : file_(std::move(file)), reader_(std::move(reader)), size_(bytes), left_(bytes) {
    unit_bytes_ = place.big_endian ? swap_unit(place.dtype) : 1;
    skip_ = place.plain ? 0 : static_cast<uint64_t>(place.first_element) * size_bytes(place.dtype);
    reads_to_end_ = place.deflated;  // already paid for by unpacking; a stored rest is not read
  }

  // Whole units into dst, or one unit into the buffer when dst has less room than that.
  Result<size_t> read_units(std::span<std::byte> dst) {
    const size_t whole =
        static_cast<size_t>(std::min<uint64_t>(left_, dst.size())) / unit_bytes_ * unit_bytes_;
    const std::span<std::byte> to = whole > 0 ? dst.first(whole) : std::span(unit_).first(unit_bytes_);
    ULPSCOPE_ASSIGN(const size_t got, reader_.read(to));
    if (got != to.size()) return Error{Code::internal, file_->path() + ": elements end inside the record"};
    if (unit_bytes_ > 1) swap_units(to, unit_bytes_);
    left_ -= to.size();
    if (whole == 0) ready_ = unit_bytes_;
    return whole;
  }
  Status pass_over(uint64_t bytes) {
    std::vector<std::byte> sink(static_cast<size_t>(std::min<uint64_t>(bytes, 65536)));
    while (bytes > 0) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(bytes, sink.size()));
      ULPSCOPE_ASSIGN(const size_t got, reader_.read(std::span(sink).first(n)));
      if (got != n) return Error{Code::internal, file_->path() + ": elements end inside the record"};
      bytes -= n;
    }
    return {};
  }

  std::unique_ptr<File> file_;  // the reader refers to it, so it must not move
  RecordReader reader_;
  uint64_t size_, left_, skip_ = 0;
  size_t unit_bytes_ = 1, ready_ = 0;
  std::array<std::byte, 16> unit_ = {};
  bool reads_to_end_ = false;
};

// Any view: the output is prepared in blocks of whole sub-tensors, each gathered in storage order.
class StridedStream final : public ElementStream {
 public:
  static Result<std::unique_ptr<ElementStream>> open(std::unique_ptr<File> file, const TensorPlace& place,
                                                     uint64_t bytes) {
    auto stream = std::unique_ptr<StridedStream>(new StridedStream(std::move(file), place, bytes));
    ULPSCOPE_TRY(stream->load(place));
    return std::unique_ptr<ElementStream>(std::move(stream));
  }
  Result<size_t> read(std::span<std::byte> dst) override {
    size_t done = 0;
    while (done < dst.size()) {
      if (block_position_ == block_.size()) {
        if (left_ == 0) break;
        ULPSCOPE_TRY(fill_block());
      }
      const size_t n = std::min(dst.size() - done, block_.size() - block_position_);
      std::memcpy(dst.data() + done, block_.data() + block_position_, n);
      block_position_ += n;
      done += n;
    }
    return done;
  }
  uint64_t size() const override { return size_; }
  bool crc_mismatch() const override { return mismatch_; }

 private:
  StridedStream(std::unique_ptr<File> file, const TensorPlace& place, uint64_t bytes)
      : file_(std::move(file)), gather_(make_gather(place)), size_(bytes), left_(bytes) {
    swap_unit_ = place.big_endian ? swap_unit(place.dtype) : 1;
    source_.file = file_.get();
    source_.offset = place.offset;
    // The axis that is cut: everything after it fits a block.
    axis_ = gather_.sizes.size() - 1;
    while (axis_ > 0 && row_bytes_ * gather_.sizes[axis_] * gather_.element_bytes <= kBlockBytes)
      row_bytes_ *= gather_.sizes[axis_--];
    row_bytes_ *= gather_.element_bytes;
    rows_at_once_ = std::clamp<uint64_t>(kBlockBytes / row_bytes_, 1, gather_.sizes[axis_]);
    outer_.resize(axis_);
  }

  // Takes a small or packed storage into memory, where its CRC-32 is known before the first element.
  Status load(const TensorPlace& place) {
    if (!place.deflated && place.size > kWholeBytes) return {};
    if (place.deflated && place.size > kUnpackedBytes)
      return Error{Code::unsupported, file_->path() + ": a packed storage of " + std::to_string(place.size) +
                                          " bytes whose elements are not in row order, expected at most " +
                                          std::to_string(kUnpackedBytes)};
    ULPSCOPE_ASSIGN(RecordReader reader, RecordReader::open(*file_, place));
    ULPSCOPE_TRY(reader.read_whole(storage_));
    mismatch_ = reader.mismatch();
    source_.memory = storage_;
    source_.file = nullptr;
    return {};
  }

  Status fill_block() {
    const uint64_t rows = std::min(rows_at_once_, gather_.sizes[axis_] - row_);
    block_.resize(static_cast<size_t>(rows * row_bytes_));
    block_position_ = 0;
    ULPSCOPE_TRY(gather_block(gather_, source_, axis_, outer_, row_, rows, block_));
    if (swap_unit_ > 1) swap_units(block_, swap_unit_);
    left_ -= block_.size();
    row_ += rows;
    if (row_ < gather_.sizes[axis_]) return {};
    row_ = 0;
    for (size_t i = axis_; i-- > 0;) {
      if (++outer_[i] < gather_.sizes[i]) break;
      outer_[i] = 0;
    }
    return {};
  }

  std::unique_ptr<File> file_;
  Gather gather_;
  GatherSource source_;
  std::vector<std::byte> storage_, block_;
  size_t block_position_ = 0, axis_ = 0, swap_unit_ = 1;
  uint64_t size_, left_, row_bytes_ = 1, rows_at_once_ = 1, row_ = 0;
  std::vector<uint64_t> outer_;  // indexes of the dimensions before axis_
  bool mismatch_ = false;
};

// Whether the view is the record's own order from first_element on.
bool is_ordered(const TensorPlace& place) {
  if (place.plain) return true;
  const std::vector<int64_t> dense = dense_strides(place.shape);
  for (size_t i = 0; i < place.shape.size(); ++i)
    if (place.shape[i] != 1 && place.strides[i] != dense[i]) return false;
  return true;
}

// Whether every element lies in the record; the same rule as the readers', for places that others made.
bool is_inside(const TensorPlace& place, uint64_t bytes) {
  if (place.plain) return bytes == place.size;
  if (place.strides.size() != place.shape.size() || place.first_element < 0) return false;
  uint64_t last = static_cast<uint64_t>(place.first_element);
  for (size_t i = 0; i < place.shape.size(); ++i) {
    uint64_t reach = 0;
    if (place.strides[i] < 0 ||
        __builtin_mul_overflow(static_cast<uint64_t>(place.shape[i] - 1),
                               static_cast<uint64_t>(place.strides[i]), &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return false;
  }
  return last < place.size / size_bytes(place.dtype);
}

}  // namespace

Result<std::unique_ptr<ElementStream>> open_elements(File file, const TensorPlace& place,
                                                     uint64_t limit_bytes) {
  const std::string where =
      file.path() + (place.member.empty() ? std::string() : ": tensor '" + printable(place.member) + "'");
  if (!place.refusal.empty()) return Error{Code::unsupported, where + ": " + place.refusal};
  if (place.dtype == DType::none) return Error{Code::unsupported, where + ": no element type"};
  const auto bytes = dense_bytes(place.shape, place.dtype);
  if (!bytes) return Error{Code::format, where + ": a shape of more elements than any file holds"};
  const uint64_t in_file = place.deflated ? place.packed_size : place.size;
  if (place.offset > file.size() || in_file > file.size() - place.offset ||
      (*bytes > 0 && !is_inside(place, *bytes)))
    return Error{Code::format, where + ": elements outside the bytes from " + std::to_string(place.offset) +
                                   ", expected inside the file of " + std::to_string(file.size()) + " bytes"};
  if (*bytes > std::max(limit_bytes, file.size()))
    return Error{Code::unsupported, where + ": " + std::to_string(*bytes) +
                                        " bytes of elements out of a file of " + std::to_string(file.size()) +
                                        ", expected at most " + std::to_string(limit_bytes)};
  auto owned = std::make_unique<File>(std::move(file));
  if (*bytes == 0 || is_ordered(place)) return OrderedStream::open(std::move(owned), place, *bytes);
  return StridedStream::open(std::move(owned), place, *bytes);
}

}  // namespace ulpscope
