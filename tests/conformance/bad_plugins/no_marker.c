// Without the marker nothing of the file may run, not even its constructor.
#include <stdlib.h>

#include "table.h"

static const ulpscope_source_desc source = SOURCE("no_marker", sizeof(source), scan);
#define COMPONENT \
  { ULPSCOPE_SOURCE, 0, &source }
PLUGIN("no_marker", 1, 0, 0, sizeof(plugin), COMPONENT);
ENTRY(&plugin)

int setenv(const char* name, const char* value, int overwrite);
__attribute__((constructor)) static void run_at_load(void) { setenv("ULPSCOPE_TEST_NO_MARKER_RAN", "1", 1); }
