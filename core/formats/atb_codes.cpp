#include "formats/atb_codes.hpp"

#include <algorithm>

namespace ulpscope {
namespace {

constexpr AtbDType kTypes[] = {
    {0, "float", DType::f32, 32},
    {1, "float16", DType::f16, 16},
    {2, "int8", DType::i8, 8},
    {3, "int32", DType::i32, 32},
    {4, "uint8", DType::u8, 8},
    {6, "int16", DType::i16, 16},
    {7, "uint16", DType::u16, 16},
    {8, "uint32", DType::u32, 32},
    {9, "int64", DType::i64, 64},
    {10, "uint64", DType::u64, 64},
    {11, "double", DType::f64, 64},
    {12, "bool", DType::b8, 8},
    {13, "string", DType::none, 0},
    {16, "complex64", DType::c64, 64},
    {17, "complex128", DType::c128, 128},
    {27, "bf16", DType::bf16, 16},
    // How elements below one byte are packed is not documented: their bytes are compared, not their values.
    {29, "int4", DType::none, 4},
    {30, "uint1", DType::none, 1},
    {33, "complex32", DType::c32, 32},
    {34, "hifloat8", DType::hif8, 8},
    {35, "float8_e5m2", DType::f8_e5m2, 8},
    {36, "float8_e4m3fn", DType::f8_e4m3fn, 8},
    {37, "float8_e8m0", DType::f8_e8m0, 8},
    {38, "float6_e3m2", DType::none, 6},
    {39, "float6_e2m3", DType::none, 6},
    {40, "float4_e2m1", DType::none, 4},
    {41, "float4_e1m2", DType::none, 4},
};

struct Format {
  int64_t code;
  const char* name;
  bool is_dense;
};
constexpr Format kFormats[] = {{-1, "undefined", true},
                               {0, "nchw", true},
                               {1, "nhwc", true},
                               {2, "nd", true},
                               {3, "nc1hwc0", false},
                               {4, "fractal_z", false},
                               {12, "nc1hwc0_c04", false},
                               {16, "hwcn", true},
                               {27, "ndhwc", true},
                               {29, "fractal_nz", false},
                               {30, "ncdhw", true},
                               {32, "ndc1hwc0", false},
                               {33, "fractal_z_3d", false},
                               {35, "nc", true},
                               {47, "ncl", true},
                               {50, "fractal_nz_c0_16", false},
                               {51, "fractal_nz_c0_32", false}};

template <class F>
const AtbDType* find_type(F fits) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), fits);
  return found == std::end(kTypes) ? nullptr : found;
}

const Format* find_format(int64_t code) {
  const auto* found =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& f) { return f.code == code; });
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace

const AtbDType* atb_dtype(int64_t code) {
  return find_type([&](const AtbDType& type) { return type.code == code; });
}

const AtbDType* atb_dtype(std::string_view name) {
  return find_type([&](const AtbDType& type) { return type.name == name; });
}

std::string_view atb_dtype_name(DType dtype) {
  const AtbDType* type =
      find_type([&](const AtbDType& t) { return t.dtype == dtype && dtype != DType::none; });
  return type == nullptr ? "undefined" : type->name;
}

std::string atb_format_name(int64_t code) {
  const Format* format = find_format(code);
  return format != nullptr && code >= 0 ? format->name : "undefined(" + std::to_string(code) + ")";
}

bool is_dense_atb_format(int64_t code) {
  const Format* format = find_format(code);
  return format != nullptr && format->is_dense;
}

}  // namespace ulpscope
