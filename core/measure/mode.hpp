// Decides what a pair is compared by: elements, recorded statistics, checksums, or the value of an argument.
// The best that both dumps offer is taken, unless the user asks for one; a row that offers less than its dump
// is a skip row that says so, never a silent comparison of something weaker. Used by the measuring. Opens no
// file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "match/matcher.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// What the user asks for (--data).
enum class DataChoice : uint8_t { best, data, statistics, digest };

// The mode of a row; mode none always has absent and message.
struct ModeChoice {
  Mode mode = Mode::none;
  Absent absent = Absent::none;
  bool unreadable = false;  // one side offers what the other lacks without saying why: exit code 3
  std::string message;
};

// Chooses for the rows of one comparison. Elements are taken where both dumps hold elements for that step and
// rank; else checksums where both hold checksums (equal checksums prove more than equal statistics); else
// statistics.
class ModeChooser {
 public:
  // Both indexes outlive the chooser.
  ModeChooser(const DumpIndex& target, const DumpIndex& golden, DataChoice choice);

  // For a pair with an item on both sides; a pair of one side only gives mode none with an empty message.
  // Never fails. Any thread.
  ModeChoice choose(const ItemPair& pair) const;

 private:
  const DumpIndex& target_;
  const DumpIndex& golden_;
  DataChoice choice_;
  std::vector<uint8_t> target_offers_, golden_offers_;  // by op: Offer bits of its step and rank
};

// The kind of a digest text ("crc32" of "crc32:1b2c3d4e"); empty for an empty text.
std::string_view digest_kind(std::string_view digest);

}  // namespace ulpscope
