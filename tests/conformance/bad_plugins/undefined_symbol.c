// Calls a function that nobody defines.
#include "table.h"

ULPSCOPE_PLUGIN_MARK;
int nowhere(void);
static const ulpscope_source_desc source = SOURCE("undefined_symbol", sizeof(source), scan);
#define COMPONENT \
  { ULPSCOPE_SOURCE, 0, &source }
PLUGIN("undefined_symbol", 1, 0, 0, sizeof(plugin), COMPONENT);
ENTRY(nowhere() == 0 ? &plugin : NULL)
