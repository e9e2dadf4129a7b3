#include <cmath>

#include "formulas.hpp"

namespace ulpscope::npu_reference {
namespace {

struct State {
  Array var, m, v;
};

// The three tensors of "out", as a list or one by one.
State state_of(const Arguments& a) {
  const Argument& out = a.get("out");
  if (out.kind != Argument::Kind::list || out.items.size() != 3)
    throw Failure(ULPSCOPE_E_USAGE, "argument 'out', expected a list of var, m and v");
  for (const Argument& item : out.items)
    if (item.kind != Argument::Kind::array)
      throw Failure(ULPSCOPE_E_USAGE, "argument 'out', expected tensors");
  return {out.items[0].array, out.items[1].array, out.items[2].array};
}

// m' = m + (b1 - 1)(m - g), v' = v + (b2 - 1)(v - g^2), lr' = lr sqrt(1 - b2p) / (1 - b1p);
// var - lr' m' / (eps + sqrt(v')), with m' b1 + (1 - b1) g for m' when nesterov.
std::vector<Array> adam(const Arguments& a) {
  State s = state_of(a);
  const Array& g = a.array("grad");
  const double b1 = a.number("beta1"), b2 = a.number("beta2"), eps = a.number("epsilon");
  const double lr = a.number("lr") * std::sqrt(1 - a.number("beta2_power")) / (1 - a.number("beta1_power"));
  const bool nesterov = a.flag_or("use_nesterov", false);
  s.m = mapped(s.m, g, [&](double m, double x) { return m + (b1 - 1) * (m - x); });
  s.v = mapped(s.v, g, [&](double v, double x) { return v + (b2 - 1) * (v - x * x); });
  const Array step =
      nesterov ? mapped(s.m, g, [&](double m, double x) { return m * b1 + (1 - b1) * x; }) : s.m;
  const Array change = mapped(step, s.v, [&](double m, double v) { return lr * m / (eps + std::sqrt(v)); });
  return {mapped(s.var, change, [](double var, double d) { return var - d; }), s.m, s.v};
}

// 1 - b, moved off zero by eps.
double rest(double b, double eps) { return 1 - b == 0 ? 1 - b - eps : 1 - b; }

// B1 = b1p b1, B2 = b2p b2, t = ±g; m' = m b1 + (1 - b1) t, v' = v b2 + (1 - b2) t^2, with the larger of v'
// and max_grad_norm when amsgrad; var (1 - lr wd) - lr m' / (1 - B1) / (sqrt(v' / (1 - B2)) + eps).
std::vector<Array> adam_w(const Arguments& a) {
  State s = state_of(a);
  const double b1 = a.number("beta1"), b2 = a.number("beta2"), eps = a.number("epsilon");
  const double lr = a.number("lr"), decay = 1 - lr * a.number("weight_decay");
  const double rest1 = rest(a.number("beta1_power") * b1, eps),
               rest2 = rest(a.number("beta2_power") * b2, eps);
  const double sign = a.flag_or("maximize", false) ? -1 : 1;
  const Array t = mapped(a.array("grad"), [sign](double g) { return sign * g; });
  s.m = mapped(s.m, t, [&](double m, double x) { return m * b1 + (1 - b1) * x; });
  s.v = mapped(s.v, t, [&](double v, double x) { return v * b2 + (1 - b2) * x * x; });
  Array most = s.v;
  if (a.flag_or("amsgrad", false))
    most = mapped(s.v, a.array("max_grad_norm"), [](double v, double w) { return v > w ? v : w; });
  const Array change =
      mapped(s.m, most, [&](double m, double v) { return lr * m / rest1 / (std::sqrt(v / rest2) + eps); });
  return {mapped(s.var, change, [&](double var, double d) { return var * decay - d; }), s.m, s.v};
}

}  // namespace

void add_optimizers(std::map<std::string, Formula>& table) {
  table["npu_apply_adam"] = {{"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad",
                              "use_locking", "use_nesterov", "out"},
                             adam,
                             {}};
  table["npu_apply_adam_w"] = {{"beta1_power", "beta2_power", "lr", "weight_decay", "beta1", "beta2",
                                "epsilon", "grad", "max_grad_norm", "amsgrad", "maximize", "out"},
                               adam_w,
                               {}};
}

}  // namespace ulpscope::npu_reference
