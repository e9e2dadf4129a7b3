// The vocabulary of records: element types, shapes, ops, tensors, where a tensor's bytes lie. Used by plugins
// and by the host; mirrors abi.h one to one and holds no behaviour beyond conversion. C++17, no dependency.
#pragma once

#include <ulpscope/abi.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope {

// What plugin code throws to end a call with a status of its own; never crosses the boundary.
struct Failure : std::runtime_error {
  Failure(ulpscope_status status, const std::string& message) : std::runtime_error(message), code(status) {}
  ulpscope_status code;
};

// Element types; the numbers are those of ulpscope_dtype and are written into files.
enum class DType : int32_t {
  none = ULPSCOPE_DTYPE_NONE,
  b8 = ULPSCOPE_BOOL,
  u8 = ULPSCOPE_U8,
  i8 = ULPSCOPE_I8,
  u16 = ULPSCOPE_U16,
  i16 = ULPSCOPE_I16,
  u32 = ULPSCOPE_U32,
  i32 = ULPSCOPE_I32,
  u64 = ULPSCOPE_U64,
  i64 = ULPSCOPE_I64,
  f16 = ULPSCOPE_F16,
  bf16 = ULPSCOPE_BF16,
  f32 = ULPSCOPE_F32,
  f64 = ULPSCOPE_F64,
  c64 = ULPSCOPE_C64,
  c128 = ULPSCOPE_C128,
  f8_e4m3fn = ULPSCOPE_F8_E4M3FN,
  f8_e5m2 = ULPSCOPE_F8_E5M2,
  hif8 = ULPSCOPE_HIF8,
  f8_e8m0 = ULPSCOPE_F8_E8M0,
  i4x2 = ULPSCOPE_I4X2,
  f4_e2m1x2 = ULPSCOPE_F4_E2M1X2,
  c32 = ULPSCOPE_C32,
  f8_e4m3fnuz = ULPSCOPE_F8_E4M3FNUZ,
  f8_e5m2fnuz = ULPSCOPE_F8_E5M2FNUZ,
};
constexpr int32_t kDTypeCount = 25;

// Storage bits of one element; a packed pair (i4x2, f4_e2m1x2) counts as one element of 8 bits. 0 for none.
constexpr unsigned bits(DType t) {
  constexpr unsigned char kBits[kDTypeCount] = {0,  8,  8,   8, 16, 16, 32, 32, 64, 64, 16, 16, 32,
                                                64, 64, 128, 8, 8,  8,  8,  8,  8,  32, 8,  8};
  return static_cast<int32_t>(t) >= 0 && static_cast<int32_t>(t) < kDTypeCount
             ? kBits[static_cast<int32_t>(t)]
             : 0;
}
constexpr unsigned size_bytes(DType t) { return bits(t) / 8; }

// The names that torch gives; "none" for opaque bytes. Literals, never null.
constexpr const char* name(DType t) {
  constexpr const char* kNames[kDTypeCount] = {"none",           "bool",
                                               "uint8",          "int8",
                                               "uint16",         "int16",
                                               "uint32",         "int32",
                                               "uint64",         "int64",
                                               "float16",        "bfloat16",
                                               "float32",        "float64",
                                               "complex64",      "complex128",
                                               "float8_e4m3fn",  "float8_e5m2",
                                               "hifloat8",       "float8_e8m0fnu",
                                               "int4x2",         "float4_e2m1fn_x2",
                                               "complex32",      "float8_e4m3fnuz",
                                               "float8_e5m2fnuz"};
  return static_cast<int32_t>(t) >= 0 && static_cast<int32_t>(t) < kDTypeCount
             ? kNames[static_cast<int32_t>(t)]
             : "none";
}

// The dtype of such a name, with or without "torch."; none when there is no such type.
inline DType dtype_from_name(std::string_view text) {
  constexpr std::string_view kPrefix = "torch.";
  if (text.substr(0, kPrefix.size()) == kPrefix) text.remove_prefix(kPrefix.size());
  for (int32_t i = 1; i < kDTypeCount; ++i)
    if (text == name(static_cast<DType>(i))) return static_cast<DType>(i);
  return DType::none;
}

constexpr bool is_complex(DType t) { return t == DType::c32 || t == DType::c64 || t == DType::c128; }
constexpr bool is_integer(DType t) {
  return (static_cast<int32_t>(t) >= ULPSCOPE_U8 && static_cast<int32_t>(t) <= ULPSCOPE_I64) ||
         t == DType::i4x2;
}
// Real floating formats, the narrow ones included.
constexpr bool is_floating(DType t) {
  return t != DType::none && t != DType::b8 && !is_integer(t) && !is_complex(t);
}

using Shape = std::vector<int64_t>;

enum class OpKind : int32_t {
  api = ULPSCOPE_OP_API,
  module = ULPSCOPE_OP_MODULE,
  layer = ULPSCOPE_OP_LAYER,
  kernel = ULPSCOPE_OP_KERNEL,
  communication = ULPSCOPE_OP_COMMUNICATION,
};
enum class Phase : int32_t {
  none = ULPSCOPE_PHASE_NONE,
  forward = ULPSCOPE_FORWARD,
  backward = ULPSCOPE_BACKWARD
};
enum class Role : int32_t {
  input = ULPSCOPE_INPUT,
  kwarg = ULPSCOPE_KWARG,
  output = ULPSCOPE_OUTPUT,
  parameter = ULPSCOPE_PARAMETER,
  gradient = ULPSCOPE_GRADIENT,
};

constexpr uint32_t kNoIndex = ULPSCOPE_NO_INDEX;

// Where the elements of a tensor lie. A FILE reference may carry the CRC-32 of its range in token, as 1 << 32
// | crc.
struct DataRef {
  int32_t kind = ULPSCOPE_DATA_NONE;
  std::string file;  // relative to the dump root
  uint64_t offset = 0, size = 0;
  uint64_t token = 0;

  static DataRef none() { return {}; }
  static DataRef at(std::string path, uint64_t at_offset, uint64_t size_in_bytes) {
    return {ULPSCOPE_DATA_FILE, std::move(path), at_offset, size_in_bytes, 0};
  }
  static DataRef at(std::string path, uint64_t at_offset, uint64_t size_in_bytes, uint32_t crc32) {
    return {ULPSCOPE_DATA_FILE, std::move(path), at_offset, size_in_bytes, (uint64_t{1} << 32) | crc32};
  }
  static DataRef later(uint64_t token_value) { return {ULPSCOPE_DATA_LATER, {}, 0, 0, token_value}; }
  static DataRef stream(uint64_t token_value, uint64_t size_in_bytes) {
    return {ULPSCOPE_DATA_STREAM, {}, 0, size_in_bytes, token_value};
  }
};

// One call of an operation; members as in ulpscope_op_record.
struct OpRecord {
  OpKind kind = OpKind::api;
  Phase phase = Phase::none;
  int32_t step = -1, rank = -1;
  uint32_t call = 0, parent = kNoIndex;
  int32_t token = -1;
  std::string name, type, stack, attributes_json, originals;
};

// One tensor of an op; members as in ulpscope_tensor_record.
struct TensorRecord {
  uint32_t op = 0;
  Role role = Role::input;
  std::string path;
  DType dtype = DType::none;
  Shape shape;
  DataRef data;
  ulpscope_stats stats = {};
  std::string digest, origin, storage, link;
  int32_t absent = 0;
  uint32_t flags = 0;
};

inline ulpscope_str to_str(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view to_view(ulpscope_str text) {
  return text.data == nullptr ? std::string_view()
                              : std::string_view(text.data, static_cast<size_t>(text.size));
}

}  // namespace ulpscope
