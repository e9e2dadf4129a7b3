#include "index/record_rules.hpp"

#include <ulpscope/types.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace ulpscope {
namespace {

class Mistakes {
 public:
  void number(const char* what, int32_t value, int32_t least, int32_t most) {
    if (value < least || value > most)
      found.push_back(
          {RecordRule::numbers, fmt::format("{} {}, expected {} to {}", what, value, least, most)});
  }
  void text(const char* what, ulpscope_str value) {
    const std::string_view view = to_view(value);
    if (!is_utf8(view))
      found.push_back({RecordRule::texts,
                       fmt::format("{} is not UTF-8: '{}'", what, printable(view.substr(0, kShownBytes)))});
  }
  std::vector<RecordMistake> found;

 private:
  static constexpr size_t kShownBytes = 80;
};

// The number of elements; nothing when it has no number.
bool can_be_counted(std::span<const int64_t> dims) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return true;
  int64_t count = 1;
  return std::none_of(dims.begin(), dims.end(),
                      [&](int64_t dim) { return __builtin_mul_overflow(count, dim, &count); });
}

std::string shape_mistake(const ulpscope_tensor_record& tensor) {
  if (tensor.dim_count > kMostDims)
    return fmt::format("{} dimensions, expected {} at most", tensor.dim_count, kMostDims);
  const std::span dims(tensor.dims, tensor.dim_count);
  const bool negative = std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; });
  if (!negative && can_be_counted(dims)) return {};
  return fmt::format("shape [{}] has {}", fmt::join(dims, ", "),
                     negative ? "a negative dimension" : "more elements than can be counted");
}

}  // namespace

std::vector<RecordMistake> mistakes_of(const ulpscope_op_record& op) {
  Mistakes mistakes;
  mistakes.number("kind", op.kind, ULPSCOPE_OP_API, ULPSCOPE_OP_COMMUNICATION);
  mistakes.number("phase", op.phase, ULPSCOPE_PHASE_NONE, ULPSCOPE_BACKWARD);
  for (const auto& [what, value] : {std::pair{"step", op.step}, {"rank", op.rank}, {"token", op.token}})
    if (value < -1)
      mistakes.found.push_back(
          {RecordRule::numbers, fmt::format("{} {}, expected 0 or more, or -1 for none", what, value)});
  mistakes.text("the name", op.name);
  mistakes.text("the type", op.type);
  mistakes.text("the stack", op.stack);
  mistakes.text("the attributes", op.attributes_json);
  mistakes.text("an original name", op.originals);
  return std::move(mistakes.found);
}

std::vector<RecordMistake> mistakes_of(const ulpscope_tensor_record& tensor) {
  Mistakes mistakes;
  mistakes.number("role", tensor.role, ULPSCOPE_INPUT, ULPSCOPE_GRADIENT);
  mistakes.number("element type", tensor.dtype, 0, kDTypeCount - 1);
  mistakes.number("reason of absence", tensor.absent, 0, ULPSCOPE_ABSENT_BAD);
  mistakes.number("kind of data", tensor.data.kind, ULPSCOPE_DATA_NONE, ULPSCOPE_DATA_STREAM);
  mistakes.text("the path", tensor.path);
  mistakes.text("the digest", tensor.digest);
  mistakes.text("the link", tensor.link);
  mistakes.text("the origin", tensor.origin);
  mistakes.text("the storage", tensor.storage);
  if (std::string text = shape_mistake(tensor); !text.empty())
    mistakes.found.push_back({RecordRule::shape, std::move(text)});
  return std::move(mistakes.found);
}

}  // namespace ulpscope
