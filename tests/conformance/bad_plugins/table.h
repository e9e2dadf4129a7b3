// A sound source for the plugins of this folder, each of which breaks one thing of it. C99.
#ifndef ULPSCOPE_TEST_TABLE_H
#define ULPSCOPE_TEST_TABLE_H

#include <ulpscope/abi.h>

static ulpscope_status probe(const ulpscope_host* host, ulpscope_str path, ulpscope_probe* out,
                             ulpscope_error* err) {
  (void)host, (void)path, (void)err;
  out->score = 0;
  out->why[0] = '\0';
  return ULPSCOPE_OK;
}
static ulpscope_status open_dump(const ulpscope_host* host, ulpscope_str path, ulpscope_str options,
                                 void** self, ulpscope_error* err) {
  (void)host, (void)path, (void)options, (void)err;
  *self = NULL;
  return ULPSCOPE_OK;
}
static void close_dump(void* self) { (void)self; }
static ulpscope_status scan(void* self, const ulpscope_record_sink* sink, ulpscope_error* err) {
  (void)self, (void)sink, (void)err;
  return ULPSCOPE_OK;
}

// The members of ulpscope_source_desc up to the last that every source must have.
#define SOURCE(NAME, SIZE, SCAN) \
  { SIZE, 0, NULL, NAME, "made for tests", probe, open_dump, close_dump, SCAN, NULL, NULL, NULL, NULL }

// A whole plugin of one component.
#define PLUGIN(NAME, MAJOR, MINOR, LEAST_HOST, SIZE, COMPONENT)                                        \
  static const ulpscope_component components[] = {COMPONENT};                                          \
  static const ulpscope_plugin plugin = {MAJOR, MINOR, SIZE, LEAST_HOST, NAME,       "1.0.0", "tests", \
                                         "MIT", "c99", 1,    0,          components, NULL}

#define ENTRY(RESULT)                                                 \
  ULPSCOPE_EXPORT const ulpscope_plugin* ulpscope_plugin_entry(void); \
  const ulpscope_plugin* ulpscope_plugin_entry(void) { return RESULT; }

#endif
