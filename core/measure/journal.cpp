#include "measure/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY  // the state of a hash as a member, not on the heap
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "base/file.hpp"
#include "base/folder.hpp"

namespace ulpscope {
namespace {

// A journal is read whole at the start of a resumed run; this bounds what a damaged one can cost.
constexpr uint64_t kMaxJournalBytes = uint64_t{4} << 30;
// The identity is hashed in pieces of about this size.
constexpr size_t kHashedBytes = 64 * 1024;
constexpr std::string_view kSchema = "ulpscope.journal/1";

using Json = nlohmann::json;

// The fixed-size part of a row's metrics, as its bytes are written.
struct StoredMetrics {
  PairSums sums;
  uint64_t hashes[4];
  uint64_t crc_mismatch_target, crc_mismatch_golden;
};
static_assert(std::is_trivially_copyable_v<StoredMetrics> && std::is_trivially_copyable_v<PeerSums>);

// The two digits of each byte.
constexpr std::array<std::array<char, 2>, 256> kHexPairs = [] {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<std::array<char, 2>, 256> pairs = {};
  for (size_t byte = 0; byte < 256; ++byte) pairs[byte] = {kDigits[byte >> 4], kDigits[byte & 15]};
  return pairs;
}();

template <class T>
void append_hex(std::string& out, const T& value) {
  std::array<unsigned char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  std::array<std::array<char, 2>, sizeof(T)> digits;
  for (size_t i = 0; i < bytes.size(); ++i) digits[i] = kHexPairs[bytes[i]];
  out.append(digits.front().data(), sizeof(digits));
}

template <class T>
void append_bytes(std::string& out, const T& value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.append(bytes.data(), bytes.size());
}

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

template <class T>
bool read_hex(std::string_view text, T& value) {
  if (text.size() != 2 * sizeof(T)) return false;
  std::array<unsigned char, sizeof(T)> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<unsigned char>(high * 16 + low);
  }
  std::memcpy(&value, bytes.data(), sizeof(T));
  return true;
}

template <class T>
bool read_hex_list(std::string_view text, std::vector<T>& values) {
  constexpr size_t kDigits = 2 * sizeof(T);
  if (text.size() % kDigits != 0) return false;
  values.resize(text.size() / kDigits);
  for (size_t i = 0; i < values.size(); ++i)
    if (!read_hex(text.substr(i * kDigits, kDigits), values[i])) return false;
  return true;
}

// A hash of a line up to its own place in it: a line that was changed or put behind another number is not
// believed.
uint64_t line_check(std::string_view line) { return XXH3_64bits(line.data(), line.size()); }

std::string entry_line(const Journal::Entry& entry) {
  StoredMetrics stored = {};
  stored.sums = entry.metrics->sums;
  stored.hashes[0] = entry.metrics->hash_target[0];
  stored.hashes[1] = entry.metrics->hash_target[1];
  stored.hashes[2] = entry.metrics->hash_golden[0];
  stored.hashes[3] = entry.metrics->hash_golden[1];
  stored.crc_mismatch_target = entry.metrics->crc_mismatch_target ? 1 : 0;
  stored.crc_mismatch_golden = entry.metrics->crc_mismatch_golden ? 1 : 0;
  std::string line = fmt::format("{{\"row\":{},\"metrics\":\"", entry.row);
  append_hex(line, stored);
  if (entry.metrics->peer) {
    line += "\",\"peer\":\"";
    append_hex(line, *entry.metrics->peer);
  }
  if (!entry.metrics->judgement.empty()) {
    line += "\",\"judgement\":\"";
    for (const ulpscope_metric& metric : entry.metrics->judgement) append_hex(line, metric);
  }
  if (!entry.metrics->worst.empty()) {
    line += "\",\"worst\":\"";
    for (const ulpscope_element& element : entry.metrics->worst) append_hex(line, element);
  }
  line += "\",\"check\":\"";
  append_hex(line, line_check(line));
  return line += "\"}\n";
}

// The row and metrics of a line; nothing when it is torn.
std::optional<std::pair<int64_t, DataMetrics>> read_entry(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("row") || !json["row"].is_number_integer()) return std::nullopt;
  const auto text = [&](const char* member) {
    const auto found = json.find(member);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const size_t check_at = line.rfind("\",\"check\":\"");
  uint64_t check = 0;
  if (check_at == std::string_view::npos || !read_hex(text("check"), check) ||
      check != line_check(line.substr(0, check_at + std::string_view("\",\"check\":\"").size())))
    return std::nullopt;
  StoredMetrics stored;
  if (!read_hex(text("metrics"), stored)) return std::nullopt;
  DataMetrics metrics;
  metrics.sums = stored.sums;
  metrics.hash_target[0] = stored.hashes[0];
  metrics.hash_target[1] = stored.hashes[1];
  metrics.hash_golden[0] = stored.hashes[2];
  metrics.hash_golden[1] = stored.hashes[3];
  metrics.crc_mismatch_target = stored.crc_mismatch_target != 0;
  metrics.crc_mismatch_golden = stored.crc_mismatch_golden != 0;
  if (json.contains("peer")) {
    metrics.peer.emplace();
    if (!read_hex(text("peer"), *metrics.peer)) return std::nullopt;
  }
  if (!read_hex_list(text("judgement"), metrics.judgement) || !read_hex_list(text("worst"), metrics.worst))
    return std::nullopt;
  return std::pair(json["row"].get<int64_t>(), std::move(metrics));
}

std::string path_in(const std::string& folder) { return folder + "/" + Journal::kFileName; }

Error io_error(const std::string& path) { return {Code::io, path + ": " + std::strerror(errno)}; }

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(Journal::kFileName);
    text.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

std::string header_line(const JournalHeader& header) {
  Json json = {{"schema", kSchema},
               {"identity", header.identity},
               {"command", header.command},
               {"started_ns", header.started_ns},
               {"metrics_bytes", sizeof(StoredMetrics)},
               {"peer_bytes", sizeof(PeerSums)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<JournalHeader> parse_header(const std::string& path, std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  const auto expected = [&](const char* what) { return Error{Code::format, path + ": line 1: " + what}; };
  if (!json.is_object() || json.value("schema", "") != kSchema)
    return expected("not a journal of this program");
  if (json.value("metrics_bytes", uint64_t{0}) != sizeof(StoredMetrics) ||
      json.value("peer_bytes", uint64_t{0}) != sizeof(PeerSums))
    return expected("written by another version of this program");
  if (!json.contains("identity") || !json["identity"].is_string() || !json.contains("command") ||
      !json["command"].is_array() || !json.contains("started_ns") || !json["started_ns"].is_number_integer())
    return expected("identity, command or started_ns is missing");
  JournalHeader header{json["identity"].get<std::string>(), {}, json["started_ns"].get<int64_t>()};
  for (const Json& word : json["command"]) {
    if (!word.is_string()) return expected("command holds something that is not text");
    header.command.push_back(word.get<std::string>());
  }
  return header;
}

Result<std::string> read_journal(const std::string& folder) {
  // It is written to as well: a link would let a folder from elsewhere choose the file.
  if (entry_kind(path_in(folder)) == EntryKind::link)
    return Error{Code::io, path_in(folder) + ": is a symbolic link, expected the file that the run wrote"};
  ULPSCOPE_ASSIGN(const File file, File::open(path_in(folder)));
  return file.read_text(kMaxJournalBytes);
}

}  // namespace

Result<Journal> Journal::create(const std::string& folder, const JournalHeader& header) {
  const std::string path = path_in(folder);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return io_error(path);
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  JournalHeader stamped = header;
  stamped.started_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  Journal journal(fd, stamped.started_ns);
  ULPSCOPE_TRY(write_all(fd, header_line(stamped)));
  return journal;
}

Result<JournalHeader> Journal::read_header(const std::string& folder) {
  ULPSCOPE_ASSIGN(const std::string text, read_journal(folder));
  return parse_header(path_in(folder), std::string_view(text).substr(0, text.find('\n')));
}

Result<Journal> Journal::resume(const std::string& folder, const JournalHeader& header) {
  const std::string path = path_in(folder);
  ULPSCOPE_ASSIGN(const std::string text, read_journal(folder));
  std::string_view rest = text;
  size_t end = rest.find('\n');
  ULPSCOPE_ASSIGN(const JournalHeader found, parse_header(path, rest.substr(0, end)));
  if (found.identity != header.identity)
    return Error{Code::usage, path + ": belongs to a comparison of other dumps or with other options"};
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return io_error(path);
  Journal journal(fd, found.started_ns);
  uint64_t whole = 0;  // bytes up to the end of the last whole line
  while (end != std::string_view::npos) {
    whole += end + 1;
    rest.remove_prefix(end + 1);
    end = rest.find('\n');
    if (end == std::string_view::npos) break;
    auto entry = read_entry(rest.substr(0, end));
    if (entry) journal.finished_.insert_or_assign(entry->first, std::move(entry->second));
  }
  if (::ftruncate(fd, static_cast<off_t>(whole)) != 0) return io_error(path);
  return journal;
}

Journal::Journal(Journal&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      started_ns_(other.started_ns_),
      finished_(std::move(other.finished_)) {}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);
}

Status Journal::append(const std::vector<Entry>& entries) {
  std::string lines;
  for (const Entry& entry : entries) lines += entry_line(entry);
  const std::lock_guard lock(write_mutex_);
  return write_all(fd_, lines);
}

namespace {

// A hash of parts that are a few bytes long: gathered, they are hashed at the speed of memory.
class PartsHash {
 public:
  PartsHash() { XXH3_128bits_reset(&state_); }

  void add(std::string_view text) {
    const uint64_t size = text.size();
    append_bytes(gathered_, size);
    gathered_ += text;
    if (gathered_.size() >= kHashedBytes) flush();
  }
  template <class T>
  void add_number(const T& number) {
    append_bytes(gathered_, number);
  }
  void add_numbers(std::span<const int64_t> numbers) {
    const auto bytes = std::as_bytes(numbers);
    gathered_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  XXH128_hash_t finish() {
    flush();
    return XXH3_128bits_digest(&state_);
  }

 private:
  void flush() {
    XXH3_128bits_update(&state_, gathered_.data(), gathered_.size());
    gathered_.clear();
  }

  XXH3_state_t state_;
  std::string gathered_;
};

XXH128_hash_t side_hash(const DumpIndex& index) {
  PartsHash hash;
  hash.add(index.path());
  for (const OpRow& op : index.ops()) {
    hash.add(index.text(op.name));
    hash.add_number(op.step);
    hash.add_number(op.rank);
    hash.add(index.text(op.attributes));
  }
  for (const TensorRow& tensor : index.tensors()) {
    hash.add(index.text(tensor.path));
    hash.add_number(tensor.dtype);
    hash.add_numbers(index.shape(tensor.shape));
    hash.add(index.text(tensor.data_file));
    hash.add_number(tensor.data_offset);
    hash.add_number(tensor.data_size);
    hash.add(index.text(tensor.digest));
    hash.add_number(std::array{tensor.stats.max, tensor.stats.min, tensor.stats.mean, tensor.stats.l2norm});
  }
  return hash.finish();
}

}  // namespace

std::string comparison_identity(const DumpIndex& target, const DumpIndex& golden,
                                std::string_view options_text, ThreadPool& pool) {
  std::array<XXH128_hash_t, 2> sides = {};
  pool.parallel_for(2, [&](int64_t side, int) {
    sides[static_cast<size_t>(side)] = side_hash(side == 0 ? target : golden);
  });
  PartsHash hash;
  for (const XXH128_hash_t& side : sides) hash.add_number(std::array{side.low64, side.high64});
  hash.add(options_text);
  const XXH128_hash_t whole = hash.finish();
  return fmt::format("{:016x}{:016x}", whole.high64, whole.low64);
}

}  // namespace ulpscope
