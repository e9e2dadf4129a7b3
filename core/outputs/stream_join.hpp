// Pieces of streamed responses put together: one output for each response and choice. Used by the scan of
// outputs. Holds the outputs that are not finished yet, no others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "outputs/model_output.hpp"
#include "outputs/output_scan.hpp"

namespace ulpscope {

// Appends what a later piece of the same output adds.
void append_piece(ModelOutput& output, ModelOutput&& piece);

class StreamJoin {
 public:
  StreamJoin(uint32_t file, const OutputVisitor& visitor) : file_(file), visitor_(visitor) {}

  // A piece from the bytes at range. A piece for an output that has ended begins a new one of that name.
  void add(ModelOutput&& piece, ByteRange range);
  // "[DONE]": gives the outputs that have ended.
  void done();
  // The end of the file: gives all that is left, in the order of their beginning.
  void finish();

 private:
  using Name = std::pair<std::string, int64_t>;  // response and choice
  struct Open {
    ModelOutput output;
    OutputPlace place;
    Name name;
    bool ended = false;
  };
  void give(Open& open);

  uint32_t file_;
  const OutputVisitor& visitor_;
  int64_t begun_ = 0;
  std::map<Name, int64_t> by_name_;  // to the key of open_
  std::map<int64_t, Open> open_;     // by the order of beginning
};

}  // namespace ulpscope
