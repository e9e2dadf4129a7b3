#include "measure/mode.hpp"

#include "made_table.hpp"

namespace ulpscope::test {
namespace {

MadeItem offering(bool data, bool statistics, std::string digest, int32_t absent = 0) {
  MadeItem item = tensor(Role::output, "0", statistics ? stats(1, 0, 0.5, 2) : ulpscope_stats{});
  item.has_data = data;
  item.digest = std::move(digest);
  item.absent = absent;
  return item;
}

// The choice for a pair in dumps that also hold another pair, which offers everything.
ModeChoice choose(MadeItem target, MadeItem golden, DataChoice choice = DataChoice::best,
                  MadeItem others = offering(true, true, "crc32:00000001")) {
  others.path = "1";
  MadeTable made({std::move(target), others}, {std::move(golden), others});
  return ModeChooser(made.target(), *made.table().golden, choice).choose(made.row(0).pair);
}
const MadeItem kStatisticsOnly = offering(false, true, "");
const MadeItem kStatisticsAndDigest = offering(false, true, "crc32:00000001");

}  // namespace

TEST_CASE("mode: the best that both sides offer") {
  CHECK(choose(offering(true, true, "crc32:1"), offering(true, true, "crc32:1")).mode == Mode::data);
  CHECK(choose(kStatisticsAndDigest, kStatisticsAndDigest, DataChoice::best, kStatisticsAndDigest).mode ==
        Mode::digest);
  CHECK(choose(kStatisticsOnly, kStatisticsOnly, DataChoice::best, kStatisticsOnly).mode == Mode::statistics);
  CHECK(choose(offering(true, true, ""), kStatisticsOnly, DataChoice::best, kStatisticsOnly).mode ==
        Mode::statistics);
}

TEST_CASE("mode: what the user asks for") {
  const MadeItem all = offering(true, true, "crc32:1");
  CHECK(choose(all, all, DataChoice::data).mode == Mode::data);
  CHECK(choose(all, all, DataChoice::statistics).mode == Mode::statistics);
  CHECK(choose(all, all, DataChoice::digest).mode == Mode::digest);
  const ModeChoice none = choose(kStatisticsOnly, kStatisticsOnly, DataChoice::data);
  CHECK(none.mode == Mode::none);
  CHECK(none.absent == Absent::no_data);
  CHECK_FALSE(none.unreadable);
  CHECK(none.message == "no data on either side");
}

TEST_CASE("mode: data on one side only is never replaced by statistics") {
  const ModeChoice choice = choose(kStatisticsOnly, offering(true, true, ""));
  CHECK(choice.mode == Mode::none);
  CHECK(choice.absent == Absent::no_data);
  CHECK(choice.unreadable);
  CHECK(choice.message == "target has no data, the other side has");
  const ModeChoice filtered =
      choose(offering(true, true, ""), offering(false, true, "", ULPSCOPE_ABSENT_FILTERED));
  CHECK(filtered.absent == Absent::filtered);
  CHECK_FALSE(filtered.unreadable);
  CHECK(filtered.message == "golden has no data, the other side has");
}

TEST_CASE("mode: data on neither side of a dump with data falls back to statistics") {
  CHECK(choose(kStatisticsOnly, kStatisticsOnly).mode == Mode::statistics);
}

TEST_CASE("mode: statistics on one side only") {
  const ModeChoice choice =
      choose(offering(false, false, ""), kStatisticsOnly, DataChoice::best, kStatisticsOnly);
  CHECK(choice.mode == Mode::none);
  CHECK(choice.absent == Absent::no_statistics);
  CHECK(choice.unreadable);
  CHECK(choice.message == "target has no statistics, the other side has");
  const ModeChoice none =
      choose(offering(false, false, ""), offering(false, false, ""), DataChoice::best, kStatisticsOnly);
  CHECK(none.absent == Absent::no_statistics);
  CHECK_FALSE(none.unreadable);
  CHECK(none.message == "no statistics on either side");
}

TEST_CASE("mode: a checksum that is missing in dumps with checksums") {
  const ModeChoice none = choose(kStatisticsOnly, kStatisticsOnly, DataChoice::best, kStatisticsAndDigest);
  CHECK(none.mode == Mode::none);
  CHECK(none.absent == Absent::no_statistics);
  CHECK_FALSE(none.unreadable);
  CHECK(none.message == "no checksum on either side");
  CHECK(choose(kStatisticsOnly, kStatisticsAndDigest, DataChoice::best, kStatisticsAndDigest).mode ==
        Mode::statistics);
  const ModeChoice one = choose(offering(false, false, "xor64:1"), offering(false, false, ""),
                                DataChoice::best, offering(false, false, "xor64:1"));
  CHECK(one.unreadable);
  CHECK(one.message == "golden has no checksum, the other side has");
}

TEST_CASE("mode: checksums of different kinds are not compared") {
  const MadeItem crc = offering(false, false, "crc32:1"), md5 = offering(false, false, "md5:1");
  const ModeChoice choice = choose(crc, md5, DataChoice::best, crc);
  CHECK(choice.mode == Mode::none);
  CHECK(choice.absent == Absent::no_statistics);
  CHECK(choice.message == "checksum of target is crc32, of golden md5: kinds cannot be compared");
  CHECK(choose(kStatisticsAndDigest, offering(false, true, "md5:1"), DataChoice::best, kStatisticsAndDigest)
            .mode == Mode::statistics);
}

TEST_CASE("mode: a damaged record is said and makes the row unreadable") {
  const ModeChoice choice =
      choose(offering(false, false, "", ULPSCOPE_ABSENT_BAD), offering(false, false, ""));
  CHECK(choice.absent == Absent::bad);
  CHECK(choice.unreadable);
}

TEST_CASE("mode: a tensor without elements needs no data") {
  MadeItem empty = offering(false, false, "");
  empty.shape = {0, 4};
  CHECK(choose(empty, empty).mode == Mode::statistics);
  CHECK(choose(empty, offering(true, true, "")).mode == Mode::statistics);
}

TEST_CASE("mode: arguments are values, rows of one side are nothing") {
  MadeTable made({argument("dim", "int", "1"), tensor(Role::output, "0", {})}, {argument("dim", "int", "1")});
  const ModeChooser chooser(made.target(), *made.table().golden, DataChoice::best);
  CHECK(chooser.choose(made.row(0).pair).mode == Mode::value);
  CHECK(chooser.choose(made.row(1).pair).mode == Mode::none);
  CHECK(chooser.choose(made.row(1).pair).message.empty());
}

TEST_CASE("mode: each step and rank decides for itself") {
  const MadeOp with{"Torch.a.0.forward", "a", OpKind::api, {offering(true, true, "")}, 0, 0, ""};
  MadeOp without{"Torch.a.0.forward", "a", OpKind::api, {kStatisticsOnly}, 0, 1, ""};
  MadeOp with_on_1 = with;
  with_on_1.rank = 1;
  MadeTable made({with, without}, {with, with_on_1});
  const ModeChooser chooser(made.target(), *made.table().golden, DataChoice::best);
  CHECK(chooser.choose(made.row(0).pair).mode == Mode::data);
  CHECK(chooser.choose(made.row(1).pair).mode == Mode::statistics);
}

}  // namespace ulpscope::test
