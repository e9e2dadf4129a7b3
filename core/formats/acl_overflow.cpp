#include "formats/acl_overflow.hpp"

#include <algorithm>

#include "formats/json_lexer.hpp"

namespace ulpscope {
namespace {

constexpr uint32_t kMagic = 0x5a5a5a5a;
constexpr size_t kHeadBytes = 24;
constexpr uint64_t kNone = 65535;  // of context and thread

// Places in the old record.
struct OldBlock {
  const char* kind;
  size_t block, status;
};
constexpr OldBlock kOldBlocks[] = {
    {"DHA Atomic Add", 0, 512}, {"L2 Atomic Add", 128, 768}, {"AI Core", 256, 1040}};

// Places, in words, of the new records by acc_type.
struct NewLayout {
  const char* kind;
  size_t context, thread, status;
};
constexpr NewLayout kNewLayouts[] = {
    {"AIC", 4, 5, 10}, {"AIV", 4, 5, 10}, {"AICPU", 4, 6, 7}, {"SDMA", 4, 5, 9}};

uint64_t word(Bytes bytes, size_t at) { return load_le<uint64_t>(bytes, at); }

AclOverflowRecord read_old(Bytes record) {
  AclOverflowRecord out;
  for (const OldBlock& block : kOldBlocks) {
    const uint64_t status = word(record, block.status);
    if (status == 0) continue;
    AclOverflow found;
    found.kind = block.kind;
    found.stream = word(record, block.block + 8);
    found.task = word(record, block.block + 16);
    found.status = {status};
    out.findings.push_back(std::move(found));
  }
  if (out.findings.empty()) out.note = "all status words are 0";
  return out;
}

// Bytes of data that a record of a kind has.
bool is_known_length(uint32_t acc_type, uint32_t length) {
  if (acc_type <= 1) return length == 88 || length == 112;
  return length == (acc_type == 2 ? 64U : 80U);
}

AclOverflowRecord read_new(Bytes record) {
  AclOverflowRecord out;
  const auto valid = load_le<uint32_t>(record, 8), acc_type = load_le<uint32_t>(record, 12);
  const auto length = load_le<uint32_t>(record, 20);
  if (valid != 1)
    out.note = "the record is marked as not valid";
  else if (acc_type > 3)
    out.note = "accelerator type " + std::to_string(acc_type) + " is not known";
  else if (!is_known_length(acc_type, length))
    out.note = std::to_string(length) + " bytes of data, which no record of its kind has";
  else if (length > record.size() - kHeadBytes)
    out.note = "its data is cut off";
  if (!out.note.empty()) return out;
  const Bytes data = record.subspan(kHeadBytes, length);
  const NewLayout& layout = kNewLayouts[acc_type];
  AclOverflow found;
  found.kind = layout.kind;
  found.stream = word(data, 8);
  found.task = word(data, 16);
  const uint64_t context = word(data, layout.context * 8), thread = word(data, layout.thread * 8);
  if (context != kNone) found.context = static_cast<int64_t>(context & 0xffffffff);
  if (thread != kNone) found.thread = static_cast<int64_t>(thread & 0xffffffff);
  for (size_t i = layout.status; i < length / 8; ++i) found.status.push_back(word(data, i * 8));
  if (std::all_of(found.status.begin(), found.status.end(), [](uint64_t status) { return status == 0; }))
    out.note = "all status words are 0";
  else
    out.findings.push_back(std::move(found));
  return out;
}

}  // namespace

Result<AclOverflowRecord> parse_acl_overflow(Bytes record) {
  if (record.size() >= kHeadBytes && load_le<uint32_t>(record, 0) == kMagic) return read_new(record);
  if (record.size() == kAclOverflowBytes) return read_old(record);
  return Error{Code::format, "an overflow record of " + std::to_string(record.size()) +
                                 " bytes, expected 2048 or one with a magic number"};
}

std::string overflow_json(const std::vector<AclOverflow>& findings) {
  std::string out = "{\"overflow\": [";
  for (size_t i = 0; i < findings.size(); ++i) {
    const AclOverflow& found = findings[i];
    out += i > 0 ? ", {\"kind\": " : "{\"kind\": ";
    append_json_text(out, found.kind);
    out += ", \"stream\": " + std::to_string(found.stream) + ", \"task\": " + std::to_string(found.task);
    if (found.context >= 0) out += ", \"context\": " + std::to_string(found.context);
    if (found.thread >= 0) out += ", \"thread\": " + std::to_string(found.thread);
    out += ", \"status\": \"";
    for (size_t w = 0; w < found.status.size(); ++w)
      out += (w > 0 ? " " : "") + std::to_string(found.status[w]);
    out += "\"}";
  }
  return out + "]}";
}

}  // namespace ulpscope
