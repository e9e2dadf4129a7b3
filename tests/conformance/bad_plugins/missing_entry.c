// The marker without the entry that it promises.
#include "table.h"

ULPSCOPE_PLUGIN_MARK;
static const ulpscope_source_desc source = SOURCE("missing_entry", sizeof(source), scan);
ULPSCOPE_EXPORT const ulpscope_source_desc* another_symbol(void);
const ulpscope_source_desc* another_symbol(void) { return &source; }
