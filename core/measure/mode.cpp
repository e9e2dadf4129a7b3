#include "measure/mode.hpp"

#include "base/text.hpp"

namespace ulpscope {
namespace {

enum Offer : uint8_t { kData = 1, kStatistics = 2, kDigest = 4 };

uint8_t offers_of(const TensorRow& tensor) {
  uint8_t offers = 0;
  if (tensor.data_kind != ULPSCOPE_DATA_NONE) offers |= kData;
  if (tensor.stats.present != 0) offers |= kStatistics;
  if (tensor.digest != 0) offers |= kDigest;
  return offers;
}

// What any tensor of the same step and rank offers, for each op.
std::vector<uint8_t> offers_by_op(const DumpIndex& index) {
  std::vector<uint8_t> own(index.ops().size(), 0);
  for (const TensorRow& tensor : index.tensors()) own[tensor.op] |= offers_of(tensor);
  for (const StepRank& group : index.groups()) {
    uint8_t all = 0;
    for (const OpId op : group.ops) all |= own[op];
    for (const OpId op : group.ops) own[op] = all;
  }
  return own;
}

Absent recorded_reason(const TensorRow& tensor) {
  switch (tensor.absent) {
    case ULPSCOPE_ABSENT_NOT_DUMPED:
      return Absent::not_dumped;
    case ULPSCOPE_ABSENT_FILTERED:
      return Absent::filtered;
    case ULPSCOPE_ABSENT_NO_DATA:
      return Absent::no_data;
    case ULPSCOPE_ABSENT_NO_STATISTICS:
      return Absent::no_statistics;
    case ULPSCOPE_ABSENT_INNER:
      return Absent::inner;
    case ULPSCOPE_ABSENT_BAD:
      return Absent::bad;
    default:
      return Absent::none;
  }
}

// Reasons that a dump is known to have: such a row is skipped without trouble.
bool is_by_design(Absent absent) {
  return absent == Absent::filtered || absent == Absent::not_dumped || absent == Absent::inner;
}

std::string_view thing(Offer offer) {
  switch (offer) {
    case kData:
      return "data";
    case kStatistics:
      return "statistics";
    case kDigest:
      return "checksum";
  }
  return "data";
}

// One side lacks what the other one offers.
ModeChoice lacks(const TensorRow& side, std::string_view side_name, Offer offer) {
  ModeChoice choice;
  const Absent reason = recorded_reason(side);
  const Absent missing = offer == kData ? Absent::no_data : Absent::no_statistics;
  choice.absent = is_by_design(reason) || reason == Absent::bad ? reason : missing;
  choice.unreadable = !is_by_design(choice.absent);
  choice.message = std::string(side_name) + " has no " + std::string(thing(offer)) + ", the other side has";
  return choice;
}

// Neither side offers it.
ModeChoice neither(const TensorRow& target, const TensorRow& golden, Offer offer) {
  ModeChoice choice;
  for (const TensorRow* side : {&target, &golden}) {
    const Absent reason = recorded_reason(*side);
    if (choice.absent == Absent::none || reason == Absent::bad) choice.absent = reason;
  }
  if (choice.absent == Absent::none) choice.absent = offer == kData ? Absent::no_data : Absent::no_statistics;
  choice.unreadable = choice.absent == Absent::bad;
  choice.message = "no " + std::string(thing(offer)) + " on either side";
  return choice;
}

// The reason of a record that is no more than a promise to say why when it is asked for its elements.
std::string reason_of(const DumpIndex& index, const TensorRow& tensor) {
  if (tensor.data_kind != ULPSCOPE_DATA_LATER) return {};
  const auto found = index.source().locate(tensor.data_token);
  return found.ok() ? std::string() : found.error().message;
}

ModeChoice unusable(std::string_view side_name, const DumpIndex& index, const TensorRow& tensor) {
  ModeChoice choice;
  choice.absent = Absent::bad;
  choice.unreadable = true;
  const std::string reason = reason_of(index, tensor);
  choice.message = reason.empty() ? "the record of " + std::string(side_name) + " is unusable"
                                  : std::string(side_name) + " cannot be read: " + reason;
  return choice;
}

// Some sources give elements in the order or packing in which they were stored, and say so in the storage
// text.
bool is_as_stored(std::string_view storage) { return storage.starts_with("as stored:"); }

ModeChoice stored_otherwise(std::string_view target, std::string_view golden) {
  ModeChoice choice;
  choice.absent = Absent::bad;
  choice.unreadable = true;
  choice.message =
      "elements cannot be paired: target is " + printable(target) + ", golden is " + printable(golden);
  return choice;
}

ModeChoice found(Mode mode) {
  ModeChoice choice;
  choice.mode = mode;
  return choice;
}

// One pair of tensors and what their dumps offer.
struct Sides {
  const TensorRow& target;
  const TensorRow& golden;
  uint8_t t, g;  // what the rows offer
  bool both(Offer offer) const { return (t & g & offer) != 0; }
  bool one(Offer offer) const { return ((t ^ g) & offer) != 0; }
};

ModeChoice by_statistics(const Sides& sides) {
  if (sides.both(kStatistics)) return found(Mode::statistics);
  if ((sides.t & kStatistics) == 0 && (sides.g & kStatistics) != 0)
    return lacks(sides.target, "target", kStatistics);
  if (sides.one(kStatistics)) return lacks(sides.golden, "golden", kStatistics);
  return neither(sides.target, sides.golden, kStatistics);
}

// Where a checksum is missing on one side, or the kinds differ, numbers are compared if both sides have them.
ModeChoice by_digest(const Sides& sides, const DumpIndex& target, const DumpIndex& golden) {
  if (sides.both(kDigest)) {
    const std::string kind_t(digest_kind(target.text(sides.target.digest)));
    const std::string kind_g(digest_kind(golden.text(sides.golden.digest)));
    if (kind_t == kind_g) return found(Mode::digest);
    if (sides.both(kStatistics)) return found(Mode::statistics);
    ModeChoice choice;
    choice.absent = Absent::no_statistics;
    choice.unreadable = true;
    choice.message =
        "checksum of target is " + kind_t + ", of golden " + kind_g + ": kinds cannot be compared";
    return choice;
  }
  if (!sides.one(kDigest)) return neither(sides.target, sides.golden, kDigest);
  if (sides.both(kStatistics)) {
    ModeChoice choice = found(Mode::statistics);
    choice.message = std::string("compared by statistics: ") +
                     ((sides.t & kDigest) == 0 ? "target" : "golden") + " has no checksum of it";
    return choice;
  }
  return (sides.t & kDigest) == 0 ? lacks(sides.target, "target", kDigest)
                                  : lacks(sides.golden, "golden", kDigest);
}

}  // namespace

std::string_view digest_kind(std::string_view digest) {
  const size_t colon = digest.find(':');
  return colon == std::string_view::npos ? digest.substr(0, 0) : digest.substr(0, colon);
}

ModeChooser::ModeChooser(const DumpIndex& target, const DumpIndex& golden, DataChoice choice)
    : target_(target),
      golden_(golden),
      choice_(choice),
      target_offers_(offers_by_op(target)),
      golden_offers_(offers_by_op(golden)) {}

ModeChoice ModeChooser::choose(const ItemPair& pair) const {
  if (pair.target == kNoIndex || pair.golden == kNoIndex) return {};
  const ItemRow& item_t = target_.items()[pair.target];
  const ItemRow& item_g = golden_.items()[pair.golden];
  if (item_t.tensor == kNoIndex || item_g.tensor == kNoIndex) return found(Mode::value);

  const TensorRow& target = target_.tensors()[item_t.tensor];
  const TensorRow& golden = golden_.tensors()[item_g.tensor];
  const uint8_t dumps = target_offers_[item_t.op] & golden_offers_[item_g.op];
  const Sides sides{target, golden, offers_of(target), offers_of(golden)};

  // An unusable record is never judged: not by its data, and not by something weaker.
  if (recorded_reason(target) == Absent::bad) return unusable("target", target_, target);
  if (recorded_reason(golden) == Absent::bad) return unusable("golden", golden_, golden);

  if (sides.both(kData) && choice_ != DataChoice::statistics) {
    const std::string_view stored_t = target_.text(target.storage), stored_g = golden_.text(golden.storage);
    if ((is_as_stored(stored_t) || is_as_stored(stored_g)) && stored_t != stored_g)
      return stored_otherwise(stored_t, stored_g);
  }

  // A tensor without elements has no data to offer: its shape decides.
  const bool empty = target_.element_count(item_t.tensor) == 0 || golden_.element_count(item_g.tensor) == 0;
  const bool has_digests =
      sides.both(kDigest) && choice_ != DataChoice::data && choice_ != DataChoice::statistics;
  if (empty && !sides.both(kData) && !has_digests) return found(Mode::statistics);

  if (choice_ == DataChoice::data || (choice_ == DataChoice::best && (dumps & kData) != 0)) {
    if (sides.both(kData)) return found(Mode::data);
    if (sides.one(kData))
      return (sides.t & kData) == 0 ? lacks(target, "target", kData) : lacks(golden, "golden", kData);
    if (choice_ == DataChoice::data) return neither(target, golden, kData);
  }
  if (choice_ == DataChoice::digest) return by_digest(sides, target_, golden_);
  if (choice_ == DataChoice::statistics) return by_statistics(sides);
  if ((dumps & kDigest) != 0 && ((dumps & kData) == 0 || sides.both(kDigest)))
    return by_digest(sides, target_, golden_);
  return by_statistics(sides);
}

}  // namespace ulpscope
