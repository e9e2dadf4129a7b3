#include "table.h"

ULPSCOPE_PLUGIN_MARK;
static const ulpscope_source_desc source = SOURCE("needs_newer_host", sizeof(source), scan);
#define COMPONENT \
  { ULPSCOPE_SOURCE, 0, &source }
PLUGIN("needs_newer_host", 1, 7, 7, sizeof(plugin), COMPONENT);
ENTRY(&plugin)
