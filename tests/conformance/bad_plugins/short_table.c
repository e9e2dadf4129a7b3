// A table that ends before the members that every source must have.
#include "table.h"

ULPSCOPE_PLUGIN_MARK;
static const ulpscope_source_desc source = SOURCE("short_table", 24, scan);
#define COMPONENT \
  { ULPSCOPE_SOURCE, 0, &source }
PLUGIN("short_table", 1, 0, 0, sizeof(plugin), COMPONENT);
ENTRY(&plugin)
