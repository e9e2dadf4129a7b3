#include "table.h"

ULPSCOPE_PLUGIN_MARK;
static const ulpscope_source_desc source = SOURCE("wrong_major", sizeof(source), scan);
#define COMPONENT \
  { ULPSCOPE_SOURCE, 0, &source }
PLUGIN("wrong_major", 2, 0, 0, sizeof(plugin), COMPONENT);
ENTRY(&plugin)
