// K of the roundoff model: how many terms one output element of a call sums up, from the name of its type and
// the shapes of its inputs. Used by the errors of operations.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "index/dump_index.hpp"

namespace ulpscope {

// Whether a call reads what stands in the role.
inline bool is_input(Role role) {
  return role == Role::input || role == Role::kwarg || role == Role::parameter;
}

// Of the calls of one dump, which must outlive it. Any thread.
class Reductions {
 public:
  explicit Reductions(const DumpIndex& index);

  // 1 for elementwise operations and where the shapes do not say.
  double length(OpId op) const;

 private:
  enum class Summed : uint8_t { nothing, last_dimension, kernel };
  static Summed summed_by(std::string_view type);

  const DumpIndex& index_;
  std::unordered_map<TextId, Summed> by_type_;
};

}  // namespace ulpscope
