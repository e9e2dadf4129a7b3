#include "table.h"

ULPSCOPE_PLUGIN_MARK;
static const ulpscope_source_desc source = SOURCE("Bad-Name", sizeof(source), scan);
#define COMPONENT \
  { ULPSCOPE_SOURCE, 0, &source }
PLUGIN("bad_name", 1, 0, 0, sizeof(plugin), COMPONENT);
ENTRY(&plugin)
