#include "table.h"

ULPSCOPE_PLUGIN_MARK;
static const ulpscope_source_desc source = SOURCE("missing_scan", sizeof(source), scan != NULL ? NULL : scan);
#define COMPONENT \
  { ULPSCOPE_SOURCE, 0, &source }
PLUGIN("missing_scan", 1, 0, 0, sizeof(plugin), COMPONENT);
ENTRY(&plugin)
