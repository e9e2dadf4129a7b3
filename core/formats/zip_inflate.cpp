#include "formats/zip_inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>

namespace ulpscope {

struct InflateStream::State {
  State(const File& from, uint64_t first, uint64_t packed, uint64_t unpacked)
      : file(from), offset(first), packed_left(packed), size_left(unpacked) {}
  ~State() {
    if (started) inflateEnd(&zlib);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status refill();

  const File& file;
  uint64_t offset, packed_left, size_left;
  z_stream zlib = {};
  bool started = false, ended = false;
  std::array<std::byte, 16384> input;
};

Status InflateStream::State::refill() {
  if (zlib.avail_in > 0 || packed_left == 0) return {};
  const auto n = static_cast<size_t>(std::min<uint64_t>(packed_left, input.size()));
  ULPSCOPE_TRY(file.read_exact(offset, std::span(input).first(n)));
  offset += n;
  packed_left -= n;
  zlib.next_in = reinterpret_cast<Bytef*>(input.data());
  zlib.avail_in = static_cast<uInt>(n);
  return {};
}

InflateStream::InflateStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
InflateStream::InflateStream(InflateStream&&) noexcept = default;
InflateStream& InflateStream::operator=(InflateStream&&) noexcept = default;
InflateStream::~InflateStream() = default;

Result<InflateStream> InflateStream::open(const File& file, uint64_t offset, uint64_t packed_size,
                                          uint64_t size) {
  auto state = std::make_unique<State>(file, offset, packed_size, size);
  constexpr int kRawWindowBits = -15;  // no zlib header: ZIP stores bare deflate
  if (inflateInit2(&state->zlib, kRawWindowBits) != Z_OK)
    return Error{Code::no_memory, file.path() + ": no memory to unpack"};
  state->started = true;
  return InflateStream(std::move(state));
}

Result<size_t> InflateStream::read(std::span<std::byte> dst) {
  State& s = *state_;
  const auto damaged = [&](const char* what) {
    return Error{Code::format,
                 s.file.path() + ": packed bytes before byte " + std::to_string(s.offset) + ": " + what};
  };
  size_t done = 0;
  // At the announced size one spare byte of room is offered, so that a stream that goes on is seen.
  std::byte spare{};
  while (!s.ended && (done < dst.size() || (s.size_left == 0 && !dst.empty()))) {
    ULPSCOPE_TRY(s.refill());
    const auto room =
        static_cast<size_t>(std::min<uint64_t>({dst.size() - done, s.size_left, uint64_t{1} << 30}));
    s.zlib.next_out = reinterpret_cast<Bytef*>(room > 0 ? dst.data() + done : &spare);
    s.zlib.avail_out = room > 0 ? static_cast<uInt>(room) : 1;
    const uInt offered = s.zlib.avail_out;
    const int status = inflate(&s.zlib, Z_NO_FLUSH);
    const uInt got = offered - s.zlib.avail_out;
    if (got > s.size_left) return damaged("more bytes than the directory says");
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      return damaged("not a deflate stream");
    done += got;
    s.size_left -= got;
    s.ended = status == Z_STREAM_END;
    if (s.ended && s.size_left > 0) return damaged("fewer bytes than the directory says");
    if (!s.ended && got == 0 && s.zlib.avail_in == 0 && s.packed_left == 0)
      return damaged("the deflate stream is cut off");
  }
  return done;
}

}  // namespace ulpscope
