// A .npy file of any bytes is read or refused, inside its bounds.
#include "tensor_file_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ulpscope::fuzz::check_tensor_file(data, size);
  return 0;
}
