#include "table.h"

ULPSCOPE_PLUGIN_MARK;
static const ulpscope_source_desc source = SOURCE("null_entry", sizeof(source), scan);
ENTRY(source.scan == NULL ? (const ulpscope_plugin*)&source : NULL)
