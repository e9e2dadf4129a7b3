// Every code of the 8- and 16-bit formats against a decoder written here from the formats' text definitions,
// and f16 and bf16 besides against checksums of what numpy makes of all 65536 codes. The checksums come from
// numpy 1.24.2: zlib.crc32 of the little-endian float64 values of codes 0 … 65535
// (`.view(float16).astype(float64)`, for bf16 the code shifted up into a float32), each NaN as
// 0x7ff8000000000000.
#include <ulpscope/half.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ulpscope {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : detail::f64_to_bits(a) == detail::f64_to_bits(b);
}

// The bits of code from the highest to the lowest, as text.
std::string binary(unsigned code, int width) {
  std::string text;
  for (int i = width - 1; i >= 0; --i) text += ((code >> i) & 1) != 0 ? '1' : '0';
  return text;
}
double number(const std::string& digits) {
  double value = 0;
  for (const char c : digits) value = value * 2 + (c == '1' ? 1 : 0);
  return value;
}

struct Oracle {
  DType type;
  int width, exponent_bits, bias;
};

// Sign, exponent, mantissa formats by their definition: (-1)^s 2^(e-bias) 1.m, and 0.m at the least exponent.
double ieee_like(const Oracle& o, unsigned code) {
  const std::string text = binary(code, o.width);
  const auto exponent_text = text.substr(1, static_cast<size_t>(o.exponent_bits));
  const auto mantissa_text = text.substr(1 + static_cast<size_t>(o.exponent_bits));
  const bool full = exponent_text.find('0') == std::string::npos;
  const double fraction = number(mantissa_text) / std::pow(2.0, static_cast<double>(mantissa_text.size()));
  const double sign = text[0] == '1' ? -1.0 : 1.0;
  if (o.type == DType::f8_e4m3fn && full && fraction == 0.875) return kNan;
  if (o.type == DType::f8_e4m3fnuz || o.type == DType::f8_e5m2fnuz) {
    if (code == 0x80) return kNan;
  } else if (o.type != DType::f8_e4m3fn && full) {
    return fraction == 0 ? sign * kInf : kNan;
  }
  const double exponent = number(exponent_text);
  return exponent == 0 ? sign * fraction * std::pow(2.0, 1 - o.bias)
                       : sign * (1 + fraction) * std::pow(2.0, exponent - o.bias);
}

// HiFloat8 by its definition: prefix code of the exponent width, sign and magnitude exponent, mantissa.
double hifloat(unsigned code) {
  const std::string text = binary(code, 8);
  const double sign = text[0] == '1' ? -1.0 : 1.0;
  const std::string rest = text.substr(1);
  if (code == 0) return 0;
  if (code == 0x80) return kNan;
  if (rest == "1101111") return sign * kInf;
  const struct {
    const char* prefix;
    size_t exponent_bits;
  } modes[] = {{"11", 4}, {"10", 3}, {"01", 2}, {"001", 1}, {"0001", 0}};
  for (const auto& mode : modes) {
    const std::string prefix = mode.prefix;
    if (rest.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string exponent_text = rest.substr(prefix.size(), mode.exponent_bits);
    const std::string mantissa_text = rest.substr(prefix.size() + mode.exponent_bits);
    double exponent = 0;
    if (!exponent_text.empty()) {
      exponent = number("1" + exponent_text.substr(1));
      if (exponent_text[0] == '1') exponent = -exponent;
    }
    return sign * (1 + number(mantissa_text) / std::pow(2.0, static_cast<double>(mantissa_text.size()))) *
           std::pow(2.0, exponent);
  }
  return sign * std::pow(2.0, number(rest.substr(4)) - 23);
}

double scale8(unsigned code) { return code == 0xFF ? kNan : std::pow(2.0, static_cast<double>(code) - 127); }

uint32_t crc32(uint32_t crc, uint64_t value, int size_bytes) {
  for (int i = 0; i < size_bytes; ++i) {
    crc ^= static_cast<uint32_t>((value >> (8 * i)) & 0xFF);
    for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  return crc;
}

uint32_t crc_of_decoded(DType t) {
  uint32_t crc = 0xFFFFFFFFU;
  for (uint64_t code = 0; code < 65536; ++code) {
    const double value = float_to_double(t, code);
    crc = crc32(crc, std::isnan(value) ? 0x7ff8000000000000U : detail::f64_to_bits(value), 8);
  }
  return ~crc;
}

constexpr Oracle kOracles[] = {{DType::f16, 16, 5, 15},       {DType::bf16, 16, 8, 127},
                               {DType::f8_e4m3fn, 8, 4, 7},   {DType::f8_e5m2, 8, 5, 15},
                               {DType::f8_e4m3fnuz, 8, 4, 8}, {DType::f8_e5m2fnuz, 8, 5, 16}};

double oracle_value(DType t, unsigned code) {
  if (t == DType::hif8) return hifloat(code);
  if (t == DType::f8_e8m0) return scale8(code);
  for (const Oracle& o : kOracles)
    if (o.type == t) return ieee_like(o, code);
  return kNan;
}

constexpr DType kNarrow[] = {DType::f16,         DType::bf16,        DType::f8_e4m3fn, DType::f8_e5m2,
                             DType::f8_e4m3fnuz, DType::f8_e5m2fnuz, DType::hif8,      DType::f8_e8m0};

// Codes whose value the oracle says is finite and not negative, sorted by value; zero first where there is
// one.
std::vector<unsigned> positive_codes(DType t) {
  std::vector<unsigned> codes;
  for (unsigned code = 0; code < (1U << bits(t)); ++code) {
    const double value = oracle_value(t, code);
    if (std::isfinite(value) && !std::signbit(value)) codes.push_back(code);
  }
  std::sort(codes.begin(), codes.end(),
            [t](unsigned a, unsigned b) { return oracle_value(t, a) < oracle_value(t, b); });
  return codes;
}

}  // namespace

TEST_CASE("half: every code of every narrow format decodes as its definition says") {
  for (const DType t : kNarrow) {
    CAPTURE(std::string(name(t)));
    unsigned wrong = 0, first_wrong = 0;
    for (unsigned code = 0; code < (1U << bits(t)); ++code)
      if (!same(float_to_double(t, code), oracle_value(t, code)) && wrong++ == 0) first_wrong = code;
    CAPTURE(first_wrong);
    CHECK(wrong == 0);
  }
}

TEST_CASE("half: all codes of f16 and bf16 have numpy's values") {
  CHECK(crc_of_decoded(DType::f16) == 0x3e3e8f12U);
  CHECK(crc_of_decoded(DType::bf16) == 0xf9040be5U);
}

TEST_CASE("half: f16 rounds the midpoints of all neighbours and the doubles beside them as numpy does") {
  // zlib.crc32 of float64.astype(float16) codes for m, nextafter(m, 0), nextafter(m, inf), where m is the
  // middle of neighbours c and c + 1, c = 0 … 0x7bff, the last with 65536.
  uint32_t crc = 0xFFFFFFFFU;
  for (unsigned code = 0; code < 0x7c00; ++code) {
    const double above = code == 0x7bff ? 65536.0 : oracle_value(DType::f16, code + 1);
    const double middle = (oracle_value(DType::f16, code) + above) / 2;
    for (const double value : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, kInf)})
      crc = crc32(crc, f16_from_double(value), 2);
  }
  CHECK(~crc == 0x243e63d4U);
}

TEST_CASE("half: each code survives the way to double and back") {
  for (const DType t : kNarrow) {
    CAPTURE(std::string(name(t)));
    unsigned wrong = 0;
    for (unsigned code = 0; code < (1U << bits(t)); ++code) {
      const double value = float_to_double(t, code);
      if (std::isnan(value))
        wrong += std::isnan(float_to_double(t, float_from_double(t, value))) ? 0U : 1U;
      else
        wrong += float_from_double(t, value) == code ? 0U : 1U;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("half: what lies between two neighbours goes to the nearer, a tie to the even mantissa") {
  for (const DType t : kNarrow) {
    CAPTURE(std::string(name(t)));
    const std::vector<unsigned> codes = positive_codes(t);
    const bool has_sign = t != DType::f8_e8m0;
    unsigned wrong = 0;
    for (size_t i = 0; i + 1 < codes.size(); ++i) {
      const double low = oracle_value(t, codes[i]), high = oracle_value(t, codes[i + 1]);
      const double middle = low + (high - low) / 2;
      // Where the two have no mantissa (e8m0; hif8 up to 2^-15) a tie goes to the larger.
      const bool no_mantissa = t == DType::f8_e8m0 || (t == DType::hif8 && low < std::pow(2.0, -15));
      const unsigned even = no_mantissa || (codes[i] & 1) != 0 ? codes[i + 1] : codes[i];
      wrong += float_from_double(t, std::nextafter(middle, 0.0)) == codes[i] ? 0U : 1U;
      wrong += float_from_double(t, std::nextafter(middle, kInf)) == codes[i + 1] ? 0U : 1U;
      wrong += float_from_double(t, middle) == even ? 0U : 1U;
      if (has_sign && even != 0)
        wrong += float_to_double(t, float_from_double(t, -middle)) == -oracle_value(t, even) ? 0U : 1U;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("half: overflow gives infinity where the format has one and NaN elsewhere") {
  CHECK(f16_from_double(65519.99) == 0x7bff);
  CHECK(f16_from_double(65520) == 0x7c00);
  CHECK(f16_from_double(-1e300) == 0xfc00);
  CHECK(bf16_from_double(3.5e38) == 0x7f80);
  CHECK(f8_e5m2_from_double(61439) == 0x7b);
  CHECK(f8_e5m2_from_double(61440) == 0x7c);
  CHECK(hif8_from_double(40959) == 0x6e);
  CHECK(hif8_from_double(40960) == 0x6f);
  CHECK(hif8_from_double(-kInf) == 0xef);
  CHECK(f8_e4m3fn_from_double(464) == 0x7e);
  CHECK(f8_e4m3fn_from_double(464.1) == 0x7f);
  CHECK(f8_e4m3fn_from_double(-kInf) == 0xff);
  CHECK(f8_e4m3fnuz_from_double(248) == 0x80);
  CHECK(f8_e4m3fnuz_from_double(247.9) == 0x7f);
  CHECK(f8_e5m2fnuz_from_double(1e9) == 0x80);
  CHECK(f8_e8m0_from_double(kInf) == 0xff);
  CHECK(f8_e8m0_from_double(-1) == 0xff);
  CHECK(f8_e8m0_from_double(0) == 0);
}

TEST_CASE("half: NaN stays NaN and formats without minus zero have none") {
  for (const DType t : kNarrow) {
    CAPTURE(std::string(name(t)));
    CHECK(std::isnan(round_to(t, kNan)));
  }
  CHECK(f8_e4m3fnuz_from_double(-0.0) == 0);
  CHECK(f8_e5m2fnuz_from_double(-1e-30) == 0);
  CHECK(hif8_from_double(-0.0) == 0);
  CHECK(f16_from_double(-0.0) == 0x8000);
  CHECK(f8_e4m3fn_from_double(-0.0) == 0x80);
}

TEST_CASE("half: limits of the formats are those of their definitions") {
  CHECK(largest_finite(DType::f16) == 65504);
  CHECK(largest_finite(DType::bf16) == 0x1.fep127);
  CHECK(largest_finite(DType::f32) == static_cast<double>(std::numeric_limits<float>::max()));
  CHECK(largest_finite(DType::f64) == std::numeric_limits<double>::max());
  CHECK(largest_finite(DType::f8_e4m3fn) == 448);
  CHECK(largest_finite(DType::f8_e5m2) == 57344);
  CHECK(largest_finite(DType::f8_e4m3fnuz) == 240);
  CHECK(largest_finite(DType::f8_e5m2fnuz) == 57344);
  CHECK(largest_finite(DType::f8_e8m0) == 0x1p127);
  CHECK(largest_finite(DType::hif8) == 32768);
  CHECK(largest_finite(DType::i32) == 0);
  CHECK(smallest_positive(DType::f16) == 0x1p-24);
  CHECK(smallest_positive(DType::bf16) == 0x1p-133);
  CHECK(smallest_positive(DType::f32) == 0x1p-149);
  CHECK(smallest_positive(DType::f8_e4m3fn) == 0x1p-9);
  CHECK(smallest_positive(DType::f8_e5m2) == 0x1p-16);
  CHECK(smallest_positive(DType::f8_e4m3fnuz) == 0x1p-10);
  CHECK(smallest_positive(DType::f8_e5m2fnuz) == 0x1p-17);
  CHECK(smallest_positive(DType::hif8) == 0x1p-22);
  CHECK(smallest_positive(DType::f8_e8m0) == 0x1p-127);
}

TEST_CASE("half: unit roundoff, mantissa bits and least exponent") {
  CHECK(unit_roundoff(DType::f32) == 0x1p-24);
  CHECK(unit_roundoff(DType::f16) == 0x1p-11);
  CHECK(unit_roundoff(DType::bf16) == 0x1p-8);
  CHECK(unit_roundoff(DType::f8_e4m3fn) == 0x1p-4);
  CHECK(unit_roundoff(DType::f8_e5m2) == 0x1p-3);
  CHECK(unit_roundoff(DType::f64) == 0x1p-53);
  CHECK(unit_roundoff(DType::c64) == 0x1p-24);
  CHECK(unit_roundoff(DType::i64) == 0);
  CHECK(unit_roundoff(DType::b8) == 0);
  CHECK(mantissa_bits(DType::f16) == 10);
  CHECK(mantissa_bits(DType::bf16) == 7);
  CHECK(mantissa_bits(DType::f32) == 23);
  CHECK(least_exponent(DType::f16) == -14);
  CHECK(least_exponent(DType::bf16) == -126);
  CHECK(least_exponent(DType::f32) == -126);
  CHECK(least_exponent(DType::f8_e4m3fn) == -6);
  CHECK(least_exponent(DType::i8) == 0);
}

TEST_CASE("half: next_up walks through every value of a narrow format and next_down walks back") {
  for (const DType t : kNarrow) {
    CAPTURE(std::string(name(t)));
    const std::vector<unsigned> codes = positive_codes(t);
    unsigned wrong = 0;
    for (size_t i = 0; i + 1 < codes.size(); ++i) {
      const double low = oracle_value(t, codes[i]), high = oracle_value(t, codes[i + 1]);
      wrong += next_up(low, t) == high ? 0U : 1U;
      wrong += next_down(high, t) == low ? 0U : 1U;
      wrong += next_up(low + (high - low) / 4, t) == high ? 0U : 1U;
      if (t != DType::f8_e8m0) wrong += next_up(-high, t) == -low ? 0U : 1U;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("half: neighbours at the ends of a format") {
  CHECK(next_up(65504, DType::f16) == kInf);
  CHECK(next_down(kInf, DType::f16) == 65504);
  CHECK(next_up(-kInf, DType::bf16) == -0x1.fep127);
  CHECK(next_up(0, DType::f32) == 0x1p-149);
  CHECK(next_down(0, DType::f32) == -0x1p-149);
  CHECK(next_up(1, DType::f32) == 1 + 0x1p-23);
  CHECK(next_up(1, DType::f64) == 1 + 0x1p-52);
  CHECK(std::isnan(next_up(448, DType::f8_e4m3fn)));
  CHECK(next_up(32768, DType::hif8) == kInf);
  CHECK(std::isnan(next_down(0x1p-127, DType::f8_e8m0)));
  CHECK(std::isnan(next_up(1, DType::i32)));
}

TEST_CASE("half: f32 from double is the processor's own conversion") {
  for (const double value : {0.1, 1 + 0x1p-24, 1 + 0x1.8p-23, 0x1.fffffefp127, 0x1.ffffffp127, 0x1p-150,
                             0x1.8p-149, -3.14159265358979, 1e-310, 1e300}) {
    CAPTURE(value);
    CHECK(round_to(DType::f32, value) == static_cast<double>(static_cast<float>(value)));
  }
}

TEST_CASE("half: a type that is no floating type has NaN values and code 0") {
  CHECK(std::isnan(float_to_double(DType::i32, 1)));
  CHECK(std::isnan(float_to_double(DType::c64, 1)));
  CHECK(std::isnan(float_to_double(DType::f4_e2m1x2, 1)));
  CHECK(float_from_double(DType::i32, 1.0) == 0);
}

}  // namespace ulpscope
