// Built for a later minor: a longer table, and a kind of component that this host has never heard of.
#include "table.h"

ULPSCOPE_PLUGIN_MARK;
typedef struct longer_desc {
  ulpscope_source_desc source;
  void (*member_of_tomorrow)(void);
} longer_desc;
static const longer_desc source = {SOURCE("newer", sizeof(source), scan), NULL};
#define COMPONENT \
  {ULPSCOPE_SOURCE, 0, &source}, { 99, 0, &source }
static const ulpscope_component components[] = {COMPONENT};
static const ulpscope_plugin plugin = {1, 9, sizeof(plugin), 0,   "newer", "1.0.0", "tests", "MIT", "c99",
                                       2, 0, components,     NULL};
ENTRY(&plugin)
