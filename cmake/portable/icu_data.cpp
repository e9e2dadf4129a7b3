// ICU's data, left empty: the layout is that of ICU's own stubdata.cpp, a package without entries. What looks
// for data finds none and reports an error; the properties of characters and the names of scripts are
// compiled into ICU's code.
#include <unicode/udata.h>
#include <unicode/utypes.h>
#include <unicode/uversion.h>

namespace {

struct EmptyPackage {
  uint16_t header_size_bytes;
  uint8_t magic1, magic2;
  UDataInfo info;
  char padding[8];
  uint32_t count, reserved;
  int32_t first_names[4];
};

}  // namespace

extern "C" {
extern U_EXPORT const EmptyPackage U_ICUDATA_ENTRY_POINT;
alignas(16) const EmptyPackage U_ICUDATA_ENTRY_POINT = {32,
                                                        0xda,
                                                        0x27,
                                                        {sizeof(UDataInfo),
                                                         0,
                                                         U_IS_BIG_ENDIAN,
                                                         U_CHARSET_FAMILY,
                                                         sizeof(UChar),
                                                         0,
                                                         {'T', 'o', 'C', 'P'},
                                                         {1, 0, 0, 0},
                                                         {0, 0, 0, 0}},
                                                        {},
                                                        0,
                                                        0,
                                                        {}};
}
