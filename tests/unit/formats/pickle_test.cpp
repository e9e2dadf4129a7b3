#include "formats/pickle.hpp"

#include <doctest/doctest.h>

#include "support.hpp"

// Pickles are spelled out opcode by opcode, as pickletools of Python names them in the comments.
namespace ulpscope::test {
namespace {

Result<PickleResult> read(const std::string& bytes) { return read_pickle(std::as_bytes(std::span(bytes))); }

void refused(const std::string& bytes, Code code, const std::string& message) {
  CAPTURE(message);
  const auto result = read(bytes);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == code);
  CHECK(result.error().message == message);
}

std::string text(const std::string& value) { return "X" + little_endian(value.size(), 4) + value; }

// A persistent id and BINPERSID.
std::string storage(const std::string& type = "ctorch\nFloatStorage\n", const std::string& more = "") {
  return "(" + text("storage") + type + text("0") + text("cpu") + "K\6" + more + "tQ";
}
// Four arguments: storage, offset, size, stride.
const std::string kSizes = raw("K\0K\2K\3\x86K\3K\1\x86");
const std::string kRebuild2 = "ctorch._utils\n_rebuild_tensor_v2\n";
const std::string kRest = "\x89)";  // requires_grad, hooks

std::string call(const std::string& function, const std::string& arguments) {
  return function + "(" + arguments + "tR";
}

}  // namespace

TEST_CASE("pickle: numbers, texts and constants") {
  const auto top = [](const std::string& bytes) {
    const auto result = read(bytes + ".");
    REQUIRE_MESSAGE(result.ok(), message_of(result));
    return result->top;
  };
  CHECK(top("K\xff").integer == 255);                         // BININT1
  CHECK(top("M\1\2").integer == 513);                         // BININT2
  CHECK(top("J\xfe\xff\xff\xff").integer == -2);              // BININT
  CHECK(top(raw("\x8a\0")).integer == 0);                     // LONG1 of no bytes
  CHECK(top("\x8a\1\xfe").integer == -2);                     // LONG1
  CHECK(top(raw("\x8a\5\0\0\0\0\1")).integer == 4294967296);  // LONG1
  CHECK(top(raw("G\x3f\xf8\0\0\0\0\0\0")).real == 1.5);       // BINFLOAT, big-endian
  CHECK(top("\x88").integer == 1);                            // NEWTRUE
  CHECK(top("N").kind == PickleKind::none);
  CHECK(top("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19").kind == PickleKind::magic);
  CHECK(top("\x80\2\x95" + std::string(8, '\0') + "K\1").integer == 1);  // PROTO, FRAME
}

TEST_CASE("pickle: short texts") {
  const std::string old = "U\2ab.", recent = "\x8c\2ab.";  // SHORT_BINSTRING, SHORT_BINUNICODE
  CHECK(read(old)->top.text == "ab");
  CHECK(read(recent)->top.text == "ab");
}

TEST_CASE("pickle: containers and the memo keep one object") {
  // EMPTY_LIST, BINPUT 0, BININT1 1, APPEND, POP is not allowed, so the memo's copy is the top: BINGET 0
  const auto list = read("(]q" + raw("\0") + "(K\1K\2e" + "h" + raw("\0") + "t.");
  REQUIRE_MESSAGE(list.ok(), message_of(list));
  const auto both = list->tuple(list->top);
  REQUIRE(both.size() == 2);
  CHECK(both[0].index == both[1].index);
  CHECK(list->lists[both[1].index].size() == 2);
  const auto dict = read("}" + text("a") + "K\1s(" + text("b") + "K\2u.");  // EMPTY_DICT … SETITEM … SETITEMS
  REQUIRE(dict.ok());
  CHECK(dict->dicts[dict->top.index].size() == 4);
  const auto memo = read("K\1\x94K\2\x94j" + raw("\1\0\0\0") + ".");  // MEMOIZE twice, LONG_BINGET 1
  REQUIRE(memo.ok());
  CHECK(memo->top.integer == 2);
  const auto put = read("K\7r" + raw("\5\0\0\0") + "h\5\x86.");  // LONG_BINPUT 5, BINGET 5, TUPLE2
  CHECK(put.ok());
  CHECK(read("]K\1a.")->consumed == 5);  // APPEND; the full stop is counted
}

TEST_CASE("pickle: the stack and the bytes are checked") {
  refused("", Code::format, "byte 0: the pickle is cut off");
  refused("J\1", Code::format, "byte 0: the pickle is cut off");
  refused("ctorch", Code::format, "byte 0: a line without an end");
  refused(".", Code::format, "byte 0: the pickle stack is empty");
  refused("(.", Code::format, "byte 1: the pickle stack is empty");
  refused("K\1(.", Code::format, "byte 3: the pickle stack is empty");
  refused("K\1\x87", Code::format, "byte 2: a tuple of more values than the stack has");
  refused("t", Code::format, "byte 0: no mark on the pickle stack");
  refused("a", Code::format, "byte 0: the pickle stack is empty");
  refused("s", Code::format, "byte 0: the pickle stack is empty");
  refused("q\1", Code::format, "byte 0: the pickle stack is empty");
  refused("Nb", Code::format, "byte 1: the pickle stack is empty");
  refused("NNa", Code::format, "byte 2: items appended to None, expected a list");
  refused("]NNs", Code::format, "byte 3: items set in a list, expected a dict");
  refused("}(Nu", Code::format, "byte 3: a key without a value");
  refused("h\1", Code::format, "byte 0: memo slot 1 was never written");
  refused("NN\x93", Code::format, "byte 2: a global named by None and None, expected texts");
}

TEST_CASE("pickle: limits hold") {
  refused(std::string(10001, 'N') + ".", Code::unsupported,
          "byte 10000: more than 10000 values on the pickle stack");
  refused(std::string(10001, '(') + ".", Code::unsupported,
          "byte 10000: more than 10000 marks on the pickle stack");
  refused("Nr" + little_endian(10000, 4), Code::unsupported,
          "byte 1: more than 10000 values in the pickle memo");
  refused("X" + little_endian((1 << 20) + 1, 4), Code::unsupported,
          "byte 0: a text of 1048577 bytes, expected at most 1048576");
  refused("\x8a\x09" + std::string(9, '\1'), Code::unsupported,
          "byte 0: an integer of 9 bytes, expected at most 8");
  std::string endless = "N";
  for (int i = 0; i < 100000; ++i) endless += "q\1";
  refused(endless, Code::unsupported, "byte 199999: a pickle of more than 100000 opcodes");
}

TEST_CASE("pickle: other opcodes and globals are refused by name") {
  refused("N0", Code::unsupported, "byte 1: pickle opcode POP (0x30) does not occur in tensors");
  refused("(cos\nsystem\no", Code::unsupported,
          "byte 12: pickle opcode OBJ (0x6F) does not occur in tensors");
  refused("ios\nsystem\n", Code::unsupported, "byte 0: pickle opcode INST (0x69) does not occur in tensors");
  refused("\xff", Code::format, "byte 0: no pickle opcode 0xFF");
  refused("cos\nsystem\n(X\2" + raw("\0\0\0") + "lstR.", Code::unsupported,
          "byte 20: global os system is not part of a tensor");
  refused("X\2" + raw("\0\0\0") + "osX\6" + raw("\0\0\0") + "system\x93)R.", Code::unsupported,
          "byte 20: global os system is not part of a tensor");
  refused("cbuiltins\neval\n)\x81.", Code::unsupported,
          "byte 16: global builtins eval is not part of a tensor");
  refused("ctorch._utils\n_rebuild_sparse_tensor\n)R.", Code::unsupported,
          "byte 38: global torch._utils _rebuild_sparse_tensor is not part of a tensor");
  refused("N)R.", Code::format, "byte 2: a call of None");
  refused("cos\nsystem\nNR.", Code::format, "byte 12: a call with None, expected a tuple");
}

TEST_CASE("pickle: tensors are built from storages") {
  // What is read refers to the bytes, which must outlive it. BUILD drops the state.
  const std::string bytes = call(kRebuild2, storage() + kSizes + kRest) + "Nb.";
  const auto result = read(bytes);
  REQUIRE_MESSAGE(result.ok(), message_of(result));
  REQUIRE(result->top.kind == PickleKind::tensor);
  const PickleTensor& tensor = result->tensors[result->top.index];
  CHECK(tensor.shape == Shape{2, 3});
  CHECK(tensor.strides == std::vector<int64_t>{3, 1});
  CHECK(tensor.dtype == DType::f32);
  CHECK(result->storages[tensor.storage].key == "0");
  const auto sized = read(call("ctorch._utils\n_rebuild_tensor\n",
                               storage() + raw("K\0") + "ctorch\nSize\n(K\2K\3t\x85R" + "K\3K\1\x86") +
                          ".");
  REQUIRE_MESSAGE(sized.ok(), message_of(sized));
  CHECK(sized->tensors.front().shape == Shape{2, 3});
  const auto typed =
      read(call("ctorch._utils\n_rebuild_tensor_v3\n",
                storage("ctorch.storage\nUntypedStorage\n") + kSizes + kRest + "ctorch\nuint64\n") +
           ".");
  REQUIRE_MESSAGE(typed.ok(), message_of(typed));
  CHECK(typed->tensors.front().dtype == DType::u64);
}

TEST_CASE("pickle: tensors with wrong arguments are refused") {
  const auto tensor = [](const std::string& arguments, Code code, const std::string& message) {
    const auto result = read(call(kRebuild2, arguments) + ".");
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == code);
    CHECK_MESSAGE(says(result, message), message_of(result));
  };
  tensor("NNNN", Code::format, "a tensor over None, expected a storage");
  tensor("N", Code::format, "a tensor of 1 arguments, expected 4");
  tensor(storage() + "NNN", Code::format, "a storage offset is None");
  tensor(storage() + "J\xff\xff\xff\xffNN", Code::format, "a storage offset is -1");
  tensor(storage() + raw("K\0NN"), Code::format, "a size is None");
  tensor(storage() + raw("K\0N\x85)"), Code::format, "a size is None");
  tensor(storage() + raw("K\0K\2\x85)"), Code::format, "1 sizes and 0 strides");
  std::string sizes = "(";
  for (int i = 0; i < 33; ++i) sizes += "K\1";
  tensor(storage() + raw("K\0") + sizes + "t)", Code::unsupported, "33 dimensions, expected at most 32");
  tensor(storage("ctorch.storage\nUntypedStorage\n") + kSizes, Code::format,
         "an untyped storage without a dtype");
  tensor(storage() + kSizes + kRest + "}" + text("conj") + "\x88s", Code::unsupported,
         "a tensor with the lazy 'conj' flag");
  tensor(storage("ctorch\nQUInt4x2Storage\n"), Code::unsupported,
         "global torch QUInt4x2Storage is not a storage of supported elements");
  tensor(storage("N"), Code::format, "the class of a storage is None");
  tensor("NQ", Code::format, "a persistent id is None");
  tensor("(NNNNNtQ", Code::format, "a persistent id that names no storage");
  tensor(storage("ctorch\nFloatStorage\n", "K\1\x85"), Code::format,
         "a storage view of 1 members, expected 3");
}

TEST_CASE("pickle: dtypes, quantizers and wrappers are checked") {
  const std::string typed = "ctorch._utils\n_rebuild_tensor_v3\n",
                    quantised = "ctorch._utils\n_rebuild_qtensor\n";
  const std::string wrapper = "ctorch._tensor\n_rebuild_from_type_v2\n",
                    parameter = "ctorch._utils\n_rebuild_parameter\n";
  const auto check = [](const std::string& bytes, const std::string& message) {
    const auto result = read(bytes + ".");
    CHECK_MESSAGE(says(result, message), message_of(result));
  };
  check(call(typed, storage() + kSizes + kRest + "N"), "a dtype is None");
  check(call(typed, storage() + kSizes + kRest + "ctorch\nbits8\n"), "dtype torch.bits8");
  check(call(typed, storage() + kSizes), "a tensor of 4 arguments, expected 7");
  check(call(quantised, storage() + kSizes + "N"), "a quantizer is None");
  check(call(quantised, storage() + kSizes + "N\x85"), "a quantizer scheme is None");
  check(call(parameter, ""), "no argument");
  check(call(parameter, "N"), "an argument is None");
  check(call(wrapper, "N"), "_rebuild_from_type_v2 with 1 arguments, expected 4");
  std::string nested = "()";
  nested = "(NNNNt";
  for (int i = 0; i < 5; ++i) nested = "(" + wrapper + "N" + nested + "Nt";
  check(wrapper + nested + "R", "_rebuild_from_type_v2 nested more than 4 deep");
}

}  // namespace ulpscope::test
