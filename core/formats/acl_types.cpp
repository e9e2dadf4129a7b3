#include "formats/acl_types.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ulpscope {
namespace {

constexpr std::array kTypes = {
    AclType{"UNDEFINED", 0, DType::none},
    AclType{"FLOAT", 32, DType::f32},
    AclType{"FLOAT16", 16, DType::f16},
    AclType{"INT8", 8, DType::i8},
    AclType{"UINT8", 8, DType::u8},
    AclType{"INT16", 16, DType::i16},
    AclType{"UINT16", 16, DType::u16},
    AclType{"INT32", 32, DType::i32},
    AclType{"INT64", 64, DType::i64},
    AclType{"UINT32", 32, DType::u32},
    AclType{"UINT64", 64, DType::u64},
    AclType{"BOOL", 8, DType::b8},
    AclType{"DOUBLE", 64, DType::f64},
    AclType{"STRING", 0, DType::none},
    AclType{"DUAL_SUB_INT8", 0, DType::none},
    AclType{"DUAL_SUB_UINT8", 0, DType::none},
    AclType{"COMPLEX64", 64, DType::c64},
    AclType{"COMPLEX128", 128, DType::c128},
    AclType{"QINT8", 8, DType::i8},
    AclType{"QINT16", 16, DType::i16},
    AclType{"QINT32", 32, DType::i32},
    AclType{"QUINT8", 8, DType::u8},
    AclType{"QUINT16", 16, DType::u16},
    AclType{"RESOURCE", 64, DType::i64},
    AclType{"STRING_REF", 0, DType::none},
    AclType{"DUAL", 0, DType::none},
    AclType{"VARIANT", 0, DType::none},
    AclType{"BF16", 16, DType::bf16},
    AclType{"INT4", 4, DType::i4x2},
    AclType{"UINT1", 1, DType::none},
    AclType{"INT2", 2, DType::none},
    AclType{"UINT2", 2, DType::none},
    AclType{"COMPLEX32", 32, DType::c32},
    AclType{"HIFLOAT8", 8, DType::hif8},
    AclType{"FLOAT8_E5M2", 8, DType::f8_e5m2},
    AclType{"FLOAT8_E4M3FN", 8, DType::f8_e4m3fn},
    AclType{"FLOAT8_E8M0", 8, DType::f8_e8m0},
    AclType{"FLOAT6_E3M2", 6, DType::none},
    AclType{"FLOAT6_E2M3", 6, DType::none},
    AclType{"FLOAT4_E2M1", 4, DType::f4_e2m1x2},
    AclType{"FLOAT4_E1M2", 4, DType::none},
    AclType{"HIFLOAT4", 4, DType::none},
    AclType{"HIFLOAT4_SCALE", 8, DType::none},
};

// Number of the compiler, number of the dump format.
constexpr std::pair<int32_t, int32_t> kCompilerTypes[] = {
    {0, 1},   {1, 2},   {2, 3},   {3, 7},   {4, 4},   {6, 5},   {7, 6},   {8, 9},  {9, 8},   {10, 10},
    {11, 12}, {12, 11}, {13, 13}, {16, 16}, {17, 17}, {23, 23}, {27, 27}, {28, 0}, {29, 28}, {30, 29}};

constexpr std::array<std::string_view, 50> kFormats = {"NCHW",
                                                       "NHWC",
                                                       "ND",
                                                       "NC1HWC0",
                                                       "FRACTAL_Z",
                                                       "NC1C0HWPAD",
                                                       "NHWC1C0",
                                                       "FSR_NCHW",
                                                       "FRACTAL_DECONV",
                                                       "C1HWNC0",
                                                       "FRACTAL_DECONV_TRANSPOSE",
                                                       "FRACTAL_DECONV_SP_STRIDE_TRANS",
                                                       "NC1HWC0_C04",
                                                       "FRACTAL_Z_C04",
                                                       "CHWN",
                                                       "FRACTAL_DECONV_SP_STRIDE8_TRANS",
                                                       "HWCN",
                                                       "NC1KHKWHWC0",
                                                       "BN_WEIGHT",
                                                       "FILTER_HWCK",
                                                       "HASHTABLE_LOOKUP_LOOKUPS",
                                                       "HASHTABLE_LOOKUP_KEYS",
                                                       "HASHTABLE_LOOKUP_VALUE",
                                                       "HASHTABLE_LOOKUP_OUTPUT",
                                                       "HASHTABLE_LOOKUP_HITS",
                                                       "C1HWNCoC0",
                                                       "MD",
                                                       "NDHWC",
                                                       "FRACTAL_ZZ",
                                                       "FRACTAL_NZ",
                                                       "NCDHW",
                                                       "DHWCN",
                                                       "NDC1HWC0",
                                                       "FRACTAL_Z_3D",
                                                       "CN",
                                                       "NC",
                                                       "DHWNC",
                                                       "FRACTAL_Z_3D_TRANSPOSE",
                                                       "FRACTAL_ZN_LSTM",
                                                       "FRACTAL_Z_G",
                                                       "RESERVED",
                                                       "ALL",
                                                       "NULL",
                                                       "ND_RNN_BIAS",
                                                       "FRACTAL_ZN_RNN",
                                                       "NYUV",
                                                       "NYUV_A",
                                                       "NCL",
                                                       "FRACTAL_Z_WINO",
                                                       "C1HWC0"};

}  // namespace

AclType acl_type(int32_t number) {
  if (number < 0 || number >= static_cast<int32_t>(kTypes.size())) return {"UNKNOWN", 0, DType::none};
  return kTypes[static_cast<size_t>(number)];
}

std::optional<int32_t> acl_type_number(std::string_view name) {
  if (name.starts_with("DT_")) name.remove_prefix(3);
  const auto found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const AclType& type) { return type.name == name; });
  if (found == kTypes.end()) return std::nullopt;
  return static_cast<int32_t>(found - kTypes.begin());
}

int32_t acl_type_of_compiler(int32_t compiler_number) {
  for (const auto& [compiler, dump] : kCompilerTypes)
    if (compiler == compiler_number) return dump;
  return 0;
}

std::string acl_format_name(int32_t number) {
  if (number < 0 || number >= static_cast<int32_t>(kFormats.size()))
    return "format " + std::to_string(number);
  return std::string(kFormats[static_cast<size_t>(number)]);
}

std::optional<int32_t> acl_format_number(std::string_view name) {
  if (name.starts_with("FORMAT_")) name.remove_prefix(7);
  const auto found = std::find(kFormats.begin(), kFormats.end(), name);
  if (found == kFormats.end()) return std::nullopt;
  return static_cast<int32_t>(found - kFormats.begin());
}

std::string acl_escaped(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c == '.' || c == '/' || c == '\\' || c == ' ') c = '_';
  return text;
}

}  // namespace ulpscope
