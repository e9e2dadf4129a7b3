#include "outputs/stream_join.hpp"

namespace ulpscope {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Lists that the pieces do not all have are of no use for the whole.
void append_tokens(TokenList& to, TokenList&& from) {
  const size_t before = to.size(), added = from.size();
  if (added == 0) return;
  const auto join = [&](auto& mine, auto&& theirs) {
    if (mine.size() == before && theirs.size() == added)
      append(mine, std::move(theirs));
    else
      mine.clear();
  };
  const bool had_bytes = to.bytes.size() == before && from.bytes.size() == added;
  join(to.ids, std::move(from.ids));
  join(to.texts, std::move(from.texts));
  if (had_bytes)
    append(to.bytes, std::move(from.bytes));
  else
    to.bytes.clear();
}

void append_logprobs(Logprobs& to, Logprobs&& from) {
  const bool with_ends = to.ends.size() == to.chosen.size() && from.ends.size() == from.chosen.size();
  if (with_ends)
    for (const size_t end : from.ends) to.ends.push_back(to.alternatives.size() + end);
  else
    to.ends.clear();
  append(to.alternatives, std::move(from.alternatives));
  to.chosen.insert(to.chosen.end(), from.chosen.begin(), from.chosen.end());
}

std::string name_of(const ModelOutput& piece) {
  return piece.request_id.empty() ? piece.id : piece.request_id;
}

}  // namespace

void append_piece(ModelOutput& output, ModelOutput&& piece) {
  append_tokens(output.tokens, std::move(piece.tokens));
  append_logprobs(output.logprobs, std::move(piece.logprobs));
  output.has_tokens |= piece.has_tokens;
  output.has_logprobs |= piece.has_logprobs;
  if (piece.text) {
    if (!output.text) output.text.emplace();
    *output.text += *piece.text;
  }
  if (piece.finish != Finish::unknown) output.finish = piece.finish;
  if (!output.prompt) output.prompt = std::move(piece.prompt);
  if (!output.prompt_ids) output.prompt_ids = std::move(piece.prompt_ids);
}

void StreamJoin::add(ModelOutput&& piece, ByteRange range) {
  const Name name = {name_of(piece), piece.choice};
  auto known = by_name_.find(name);
  if (known != by_name_.end() && open_.at(known->second).ended) {
    give(open_.at(known->second));
    open_.erase(known->second);
    by_name_.erase(known);
    known = by_name_.end();
  }
  const bool ends = piece.finish != Finish::unknown;
  if (known == by_name_.end()) {
    known = by_name_.emplace(name, begun_).first;
    Open& open = open_[begun_++];
    open.output = std::move(piece);
    open.name = name;
    open.place.file = file_;
    open.place.slot = static_cast<uint32_t>(name.second);
    open.place.ranges.push_back(range);
    open.ended = ends;
    return;
  }
  Open& open = open_.at(known->second);
  append_piece(open.output, std::move(piece));
  open.ended |= ends;
  ByteRange& last = open.place.ranges.back();
  // Neighbouring lines are one range; what of other outputs lies between is passed over when read again.
  constexpr uint64_t kGapBytes = 4;  // line ends
  if (range.offset - (last.offset + last.size) <= kGapBytes)
    last.size = range.offset + range.size - last.offset;
  else
    open.place.ranges.push_back(range);
}

void StreamJoin::give(Open& open) { visitor_(std::move(open.output), open.place); }

void StreamJoin::done() {
  for (auto each = open_.begin(); each != open_.end();) {
    if (!each->second.ended) {
      ++each;
      continue;
    }
    give(each->second);
    by_name_.erase(each->second.name);
    each = open_.erase(each);
  }
}

void StreamJoin::finish() {
  for (auto& [order, open] : open_) give(open);
  open_.clear();
  by_name_.clear();
}

}  // namespace ulpscope
