// Nothing wrong with this one.
#include "table.h"

ULPSCOPE_PLUGIN_MARK;
static const ulpscope_source_desc source = SOURCE("sound", sizeof(source), scan);
#define COMPONENT \
  { ULPSCOPE_SOURCE, 0, &source }
PLUGIN("sound", 1, 0, 0, sizeof(plugin), COMPONENT);
ENTRY(&plugin)
