// As a host sees a plugin of an earlier minor: tables that end before the latest members. What lies behind
// struct_size is not the plugin's to answer for, and a host that looks there finds a trap.
#include <stdlib.h>

#include "table.h"

ULPSCOPE_PLUGIN_MARK;
static ulpscope_status trap(void* self, uint64_t token, ulpscope_data_ref* out, ulpscope_error* err) {
  (void)self, (void)token, (void)out, (void)err;
  abort();
}
static const ulpscope_source_desc source = {offsetof(ulpscope_source_desc, locate),
                                            0,
                                            NULL,
                                            "older",
                                            "made for tests",
                                            probe,
                                            open_dump,
                                            close_dump,
                                            scan,
                                            trap,
                                            NULL,
                                            NULL,
                                            NULL};
#define COMPONENT \
  { ULPSCOPE_SOURCE, 0, &source }
PLUGIN("older", 1, 0, 0, offsetof(ulpscope_plugin, extension), COMPONENT);
ENTRY(&plugin)
