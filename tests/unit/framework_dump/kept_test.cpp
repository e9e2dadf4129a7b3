#include "formats/framework_dump_kept.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ulpscope;

namespace {

void read(EntryReader& reader, const std::string& json) {
  JsonLexer lexer(json);
  JsonTape tape;
  REQUIRE(tape.read(lexer) == JsonRead::ok);
  reader.read(tape, parse_dump_key("Torch.f.0.forward"));
}

const std::string kNumbers =
    R"({"type":"torch.Tensor","dtype":"torch.float32","shape":[2,3],"Max":1.5,"Min":-1,"Norm":2,"requires_grad":true})";
const std::string kFile =
    R"({"type":"torch.Tensor","dtype":"torch.int64","shape":[],"md5":"1b2c3d4e","data_name":"a.pt"})";
const std::string kBad = R"({"type":"torch.Tensor","dtype":"torch.float16"})";

}  // namespace

TEST_CASE("kept: an entry comes back as it was read, whichever was read in between") {
  EntryReader reader;
  KeptEntries kept;
  read(reader, "{\"input_args\":[" + kNumbers + "," + kFile +
                   "],\"input_kwargs\":{\"scale\":0.5},\"output\":[" + kBad + "]}");
  const std::string attributes = reader.attributes();
  kept.add(reader);
  kept.add_fault("nested deeper than 64 containers");
  read(reader, "{\"output\":[" + kFile + "]}");
  kept.add(reader);
  REQUIRE(kept.size() == 3);

  EntryReader back;
  kept.recall(2, back);
  CHECK(back.attributes().empty());
  REQUIRE(back.tensor_count() == 1);
  CHECK(back.tensor(0).role == Role::output);
  CHECK(back.tensor(0).data_name == "a.pt");
  CHECK(back.tensor(0).digest == "crc32:1b2c3d4e");
  CHECK(back.tensor(0).shape.empty());

  CHECK(kept.fault(0).empty());
  CHECK(kept.fault(1) == "nested deeper than 64 containers");
  kept.recall(0, back);
  CHECK_FALSE(attributes.empty());
  CHECK(back.attributes() == attributes);
  REQUIRE(back.tensor_count() == 3);
  const EntryTensor& numbers = back.tensor(0);
  CHECK(numbers.path == "0");
  CHECK(numbers.dtype == DType::f32);
  CHECK(numbers.shape == Shape{2, 3});
  CHECK(numbers.stats.present == (ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_L2));
  CHECK(numbers.stats.max == 1.5);
  CHECK(numbers.stats.min == -1);
  CHECK(numbers.flags == ULPSCOPE_GRAD_YES);
  CHECK(numbers.digest.empty());
  CHECK(back.tensor(1).path == "1");
  CHECK(back.tensor(1).dtype == DType::i64);
  CHECK(back.tensor(2).role == Role::output);
  CHECK(back.tensor(2).fault == "no shape");
}

TEST_CASE("kept: what was recalled leaves nothing in the entry that is read next") {
  EntryReader reader;
  KeptEntries kept;
  read(reader, "{\"output\":[" + kFile + "]}");
  kept.add(reader);
  read(reader, "{\"output\":[" + kNumbers + "]}");
  kept.add(reader);
  kept.recall(0, reader);
  read(reader, "{\"output\":[" + kNumbers + "]}");
  CHECK(reader.tensor(0).dtype == DType::f32);
  CHECK(reader.tensor(0).data_name.empty());
  CHECK(reader.tensor(0).digest.empty());
}

TEST_CASE("kept: an entry of another element type stays one that is passed over") {
  EntryReader reader;
  read(reader, R"({"output":[{"type":"numpy.ndarray","shape":[2],"data_name":"a.npy"}]})");
  const bool is_foreign = reader.tensor(0).foreign;
  KeptEntries kept;
  kept.add(reader);
  kept.recall(0, reader);
  CHECK(is_foreign);
  CHECK(reader.tensor(0).foreign);
}
