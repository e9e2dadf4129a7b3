#include "base/result.hpp"

namespace ulpscope {

std::string_view to_text(Code code) {
  switch (code) {
    case Code::usage:
      return "usage";
    case Code::io:
      return "io";
    case Code::format:
      return "format";
    case Code::unsupported:
      return "unsupported";
    case Code::cancelled:
      return "cancelled";
    case Code::no_memory:
      return "no_memory";
    case Code::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace ulpscope
