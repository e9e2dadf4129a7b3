// The binary contract between the host and its plugins. C, header only, no dependency.
//
// Rules for every declaration in this file:
//  - Layout is frozen within an ABI major. New members go at the end, and only of structs that
//    start with struct_size. A reader looks at a member only if struct_size covers it.
//  - Whoever allocates, frees. No pointer changes owner, except void* objects made by a
//    create/open/begin function, which the matching destroy/close/end function takes back.
//  - ulpscope_str and array arguments are valid until the call returns, unless their comment says more.
//  - Text is UTF-8. ulpscope_str is not NUL-terminated. Names in descriptors are C literals.
//  - No exception, longjmp or exit() leaves a function of this file, in either direction.
//  - [any-thread] may be called at the same time from several threads on one object;
//    [one-thread] is called by one thread at a time. Objects of different plugins are independent.
#ifndef ULPSCOPE_ABI_H
#define ULPSCOPE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ULPSCOPE_ABI_MAJOR 1u
#define ULPSCOPE_ABI_MINOR 0u

#define ULPSCOPE_EXPORT __attribute__((visibility("default")))
// Stands once in each plugin (ULPSCOPE_PLUGIN puts it there): a section that survives strip, by which a
// host recognises the file before it runs any code of it.
#define ULPSCOPE_PLUGIN_MARK \
  __attribute__((section("ulpscope_plugin"), used, retain)) static const char ulpscope_plugin_mark[] = "abi 1"

// ---- values ---------------------------------------------------------------------------------

typedef struct ulpscope_str { const char* data; uint64_t size; } ulpscope_str;

typedef int32_t ulpscope_status;
enum {
  ULPSCOPE_OK = 0,
  ULPSCOPE_E_USAGE = 1,        // the caller's option or argument is wrong
  ULPSCOPE_E_IO = 2,           // a file cannot be opened or read
  ULPSCOPE_E_FORMAT = 3,       // the bytes are not what the format says
  ULPSCOPE_E_UNSUPPORTED = 4,  // understood, but not implemented here
  ULPSCOPE_E_CANCELLED = 5,    // the host asked to stop
  ULPSCOPE_E_NO_MEMORY = 6,
  ULPSCOPE_E_INTERNAL = 7      // a bug; the message says where
};

// The caller owns it; the callee fills it only when it returns something other than ULPSCOPE_OK.
typedef struct ulpscope_error { int32_t code; char message[1020]; } ulpscope_error;

// Numbers are part of the contract: they are written into files.
typedef enum ulpscope_dtype {
  ULPSCOPE_DTYPE_NONE = 0, ULPSCOPE_BOOL = 1, ULPSCOPE_U8 = 2, ULPSCOPE_I8 = 3, ULPSCOPE_U16 = 4, ULPSCOPE_I16 = 5,
  ULPSCOPE_U32 = 6, ULPSCOPE_I32 = 7, ULPSCOPE_U64 = 8, ULPSCOPE_I64 = 9, ULPSCOPE_F16 = 10, ULPSCOPE_BF16 = 11,
  ULPSCOPE_F32 = 12, ULPSCOPE_F64 = 13, ULPSCOPE_C64 = 14, ULPSCOPE_C128 = 15, ULPSCOPE_F8_E4M3FN = 16,
  ULPSCOPE_F8_E5M2 = 17, ULPSCOPE_HIF8 = 18, ULPSCOPE_F8_E8M0 = 19, ULPSCOPE_I4X2 = 20, ULPSCOPE_F4_E2M1X2 = 21,
  ULPSCOPE_C32 = 22, ULPSCOPE_F8_E4M3FNUZ = 23, ULPSCOPE_F8_E5M2FNUZ = 24
} ulpscope_dtype;

// Contiguous, row-major, native byte order. count is in elements.
typedef struct ulpscope_view { const void* data; uint64_t count; int32_t dtype; int32_t reserved; } ulpscope_view;

// ---- what the host offers to a plugin --------------------------------------------------------

typedef struct ulpscope_host {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char* version;
  void* ctx;
  // level: 0 debug, 1 info, 2 warning, 3 error. Plugins never write to stdout or stderr.  [any-thread]
  void (*log)(void* ctx, int32_t level, ulpscope_str text);
  // Nonzero once the user wants to stop. Long loops ask at least every 100 ms.            [any-thread]
  int32_t (*cancelled)(void* ctx);
  // Runs body(arg, i) for i in [0, n) on the host's workers and returns when all are done. [any-thread]
  ulpscope_status (*parallel_for)(void* ctx, uint64_t n, void (*body)(void* arg, uint64_t i), void* arg);
} ulpscope_host;

// An option that a component reads from its JSON parameters; printed by `plugins show`.
typedef struct ulpscope_option_desc {
  const char* name; const char* type; const char* default_text; const char* doc;
} ulpscope_option_desc;

// ---- the tensor-record interface -------------------------------------------------------------

enum { ULPSCOPE_OP_API = 1, ULPSCOPE_OP_MODULE = 2, ULPSCOPE_OP_LAYER = 3, ULPSCOPE_OP_KERNEL = 4, ULPSCOPE_OP_COMMUNICATION = 5 };
enum { ULPSCOPE_PHASE_NONE = 0, ULPSCOPE_FORWARD = 1, ULPSCOPE_BACKWARD = 2 };
enum { ULPSCOPE_INPUT = 1, ULPSCOPE_KWARG = 2, ULPSCOPE_OUTPUT = 3, ULPSCOPE_PARAMETER = 4, ULPSCOPE_GRADIENT = 5 };
#define ULPSCOPE_NO_INDEX 0xffffffffu

// One call of an operation, in the order in which the model ran it.
typedef struct ulpscope_op_record {
  uint32_t struct_size;
  int32_t kind, phase;
  int32_t step, rank;        // -1: the dump does not say
  uint32_t call;             // n-th call of this name, from 0
  uint32_t parent;           // the op that encloses it, or ULPSCOPE_NO_INDEX
  int32_t token;             // which forward pass of its step, from 0; -1: not known
  ulpscope_str name;             // as in the dump: "Functional.linear.3.forward"
  ulpscope_str type;             // the operation alone: "linear", "MatMulV2"
  ulpscope_str stack;            // call stack, one frame a line; may be empty
  ulpscope_str attributes_json;  // non-tensor arguments; may be empty
  ulpscope_str originals;        // original names of a fused op, one a line; may be empty
} ulpscope_op_record;

enum { ULPSCOPE_DATA_NONE = 0, ULPSCOPE_DATA_FILE = 1, ULPSCOPE_DATA_LATER = 2, ULPSCOPE_DATA_STREAM = 3 };

// Where the elements of a tensor are. FILE: raw bytes at [offset, offset + size) of a file, path
// relative to the dump root. LATER: ask locate(token). STREAM: read through stream_open(token).
typedef struct ulpscope_data_ref {
  int32_t kind; int32_t reserved;
  ulpscope_str file;
  uint64_t offset, size;
  uint64_t token;
} ulpscope_data_ref;

enum { ULPSCOPE_GRAD_NO = 1, ULPSCOPE_GRAD_YES = 2 };  // flags of a tensor; neither: the dump does not say
enum { ULPSCOPE_STAT_MAX = 1, ULPSCOPE_STAT_MIN = 2, ULPSCOPE_STAT_MEAN = 4, ULPSCOPE_STAT_L2 = 8 };
typedef struct ulpscope_stats { uint32_t present; uint32_t reserved; double max, min, mean, l2norm; } ulpscope_stats;

// Why a tensor of the record has no data; the reasons that a dump is known to have. A skip row says them (cli.md 4).
enum { ULPSCOPE_ABSENT_NOT_DUMPED = 1, ULPSCOPE_ABSENT_FILTERED = 2, ULPSCOPE_ABSENT_NO_DATA = 3,
       ULPSCOPE_ABSENT_NO_STATISTICS = 4, ULPSCOPE_ABSENT_INNER = 5, ULPSCOPE_ABSENT_BAD = 6 };

typedef struct ulpscope_tensor_record {
  uint32_t struct_size;
  uint32_t op;               // index that add_op returned
  int32_t role;
  int32_t dtype;
  ulpscope_str path;             // position within the role: "0", "1.hidden_states"
  const int64_t* dims; uint32_t dim_count; uint32_t flags;
  ulpscope_data_ref data;
  ulpscope_stats stats;
  ulpscope_str digest;           // "crc32:1b2c3d4e" or "md5:..."; may be empty
  // The value's name in the graph, where the dump has one: an input is the latest earlier output of the
  // same step and rank with the same link. Empty: the host finds the edge by content.
  ulpscope_str link;
  ulpscope_str origin;           // matching key of the original model, across roles: "enc.0/q/MatMul:0"
  ulpscope_str storage;          // storage format and shape, for the reader: "FRACTAL_NZ 1,4,4,16,16"
  int32_t absent, absent_reserved;  // why there is no data: 0, or one of ULPSCOPE_ABSENT_*
} ulpscope_tensor_record;

// The host's side of a scan. It copies what it keeps. A nonzero status means: stop and return it.
typedef struct ulpscope_record_sink {
  uint32_t struct_size, reserved;
  void* ctx;
  ulpscope_status (*add_op)(void* ctx, const ulpscope_op_record* op, uint32_t* index, ulpscope_error* err);
  ulpscope_status (*add_tensor)(void* ctx, const ulpscope_tensor_record* t, uint32_t* index, ulpscope_error* err);
  // Something in the dump is unusable but the scan goes on. ULPSCOPE_E_IO: a part of the dump is lost to the run (its
  // exit code says so); any other code: a warning; ULPSCOPE_OK: a remark.
  void (*diagnose)(void* ctx, ulpscope_status code, ulpscope_str where, ulpscope_str text);
} ulpscope_record_sink;

// ---- component: dump source ------------------------------------------------------------------

typedef struct ulpscope_probe { int32_t score; char why[252]; } ulpscope_probe;  // score: 0 no ... 100 certain

typedef struct ulpscope_source_desc {
  uint32_t struct_size;
  uint32_t option_count; const ulpscope_option_desc* options;
  const char* name; const char* summary;
  // Decides from names and a few leading bytes; reads no tensor data.                     [any-thread]
  ulpscope_status (*probe)(const ulpscope_host*, ulpscope_str path, ulpscope_probe* out, ulpscope_error*);
  ulpscope_status (*open)(const ulpscope_host*, ulpscope_str path, ulpscope_str options_json, void** self, ulpscope_error*);
  void (*close)(void* self);
  // Emits ops in execution order, each before its tensors. Called once.                   [one-thread]
  ulpscope_status (*scan)(void* self, const ulpscope_record_sink* sink, ulpscope_error*);
  // Optional unless scan emits LATER. out->file stays valid until close.                  [any-thread]
  ulpscope_status (*locate)(void* self, uint64_t token, ulpscope_data_ref* out, ulpscope_error*);
  // Optional unless scan or locate yields STREAM. read sets *got = 0 at the end.          [any-thread]
  ulpscope_status (*stream_open)(void* self, uint64_t token, void** stream, ulpscope_error*);
  ulpscope_status (*stream_read)(void* stream, void* dst, uint64_t size, uint64_t* got, ulpscope_error*);
  void (*stream_close)(void* stream);
} ulpscope_source_desc;

// ---- component: judgement --------------------------------------------------------------------

enum { ULPSCOPE_SKIP = 0, ULPSCOPE_PASS = 1, ULPSCOPE_WARNING = 2, ULPSCOPE_FAIL = 3 };  // the worst is the largest

typedef struct ulpscope_metric_desc {
  const char* name;    // column name: "max_rel_err"
  int32_t better;      // -1 lower, +1 higher, 0 neither
  int32_t reserved;
  const char* doc;     // the formula, in one line
} ulpscope_metric_desc;

typedef struct ulpscope_pair {
  uint32_t struct_size;
  uint32_t dim_count; const int64_t* dims;
  const ulpscope_op_record* op;
  int32_t role; int32_t actual_dtype; int32_t golden_dtype; int32_t reserved;
  ulpscope_str path;
  uint64_t count;
} ulpscope_pair;

typedef struct ulpscope_element { uint64_t index; double actual, golden, error; } ulpscope_element;

// A metric may itself be NaN or infinite, so "not available" is a separate flag.
typedef struct ulpscope_metric { double value; int32_t available; int32_t reserved; } ulpscope_metric;

// metrics has room for metric_count values, all "not available" on entry. worst: up to 4 elements.
typedef struct ulpscope_measurement {
  uint32_t struct_size;
  uint32_t metric_count; ulpscope_metric* metrics;
  uint32_t worst_count; uint32_t reserved; ulpscope_element worst[4];
} ulpscope_measurement;

typedef struct ulpscope_verdict {
  uint32_t struct_size;
  int32_t overall;
  uint32_t metric_count; uint32_t reserved; int32_t* per_metric;  // ULPSCOPE_SKIP: has no say
  char message[512];
} ulpscope_verdict;

typedef struct ulpscope_judgement_desc {
  uint32_t struct_size;
  uint32_t option_count; const ulpscope_option_desc* options;
  const char* name; const char* summary;
  uint32_t metric_count;
  uint32_t needs_reference;  // 0 never looks at it, 1 cannot judge without, 2 judges more with it
  const ulpscope_metric_desc* metrics;
  ulpscope_status (*create)(const ulpscope_host*, ulpscope_str options_json, void** self, ulpscope_error*);
  void (*destroy)(void* self);
  // 0 with a reason in err->message: this judgement does not apply to the pair.           [any-thread]
  int32_t (*applies)(void* self, const ulpscope_pair* pair, ulpscope_error* reason);
  // Measuring: begin, consume chunks in order, finish. Chunks hold a multiple of
  // ULPSCOPE_BLOCK elements, except the last. Parts measured apart are merged in order.       [any-thread]
  ulpscope_status (*begin)(void* self, const ulpscope_pair* pair, void** measure, ulpscope_error*);
  ulpscope_status (*consume)(void* measure, const ulpscope_view* actual, const ulpscope_view* golden, ulpscope_error*);
  ulpscope_status (*merge)(void* measure, const void* next_part, ulpscope_error*);
  ulpscope_status (*finish)(void* measure, ulpscope_measurement* out, ulpscope_error*);
  void (*end)(void* measure);
  // A pure function of numbers. reference: the same metrics of the reference device, or NULL. [any-thread]
  ulpscope_status (*judge)(void* self, const ulpscope_pair* pair, const ulpscope_metric* metrics,
                       const ulpscope_metric* reference, ulpscope_verdict* out, ulpscope_error*);
} ulpscope_judgement_desc;

#define ULPSCOPE_BLOCK 1024u

// ---- component: executor ---------------------------------------------------------------------

typedef struct ulpscope_tensor {
  int32_t role; uint32_t dim_count; const int64_t* dims; ulpscope_str path; ulpscope_view view;
  uint32_t flags; uint32_t reserved;
} ulpscope_tensor;

typedef struct ulpscope_output_sink {
  uint32_t struct_size, reserved;
  void* ctx;
  // The host allocates; the executor fills *dst before run returns.
  ulpscope_status (*add_output)(void* ctx, ulpscope_str path, int32_t dtype, const int64_t* dims,
                            uint32_t dim_count, void** dst, ulpscope_error*);
} ulpscope_output_sink;

typedef struct ulpscope_executor_desc {
  uint32_t struct_size;
  uint32_t option_count; const ulpscope_option_desc* options;
  const char* name; const char* summary;
  ulpscope_status (*create)(const ulpscope_host*, ulpscope_str options_json, void** self, ulpscope_error*);
  void (*destroy)(void* self);
  int32_t (*supports)(void* self, const ulpscope_op_record* op);                            // [any-thread]
  ulpscope_status (*run)(void* self, const ulpscope_op_record* op, const ulpscope_tensor* inputs,
                     uint32_t input_count, const ulpscope_output_sink* out, ulpscope_error*);   // [any-thread]
} ulpscope_executor_desc;

// ---- the plugin ------------------------------------------------------------------------------

enum { ULPSCOPE_SOURCE = 1, ULPSCOPE_JUDGEMENT = 2, ULPSCOPE_EXECUTOR = 3 };
typedef struct ulpscope_component { int32_t kind; int32_t reserved; const void* desc; } ulpscope_component;

typedef struct ulpscope_plugin {
  uint32_t abi_major, abi_minor;  // of the headers it was built with; these two never move
  uint32_t struct_size;
  uint32_t min_host_minor;        // the oldest host that it can work with
  const char* name; const char* version; const char* vendor; const char* license; const char* build;
  uint32_t component_count; uint32_t reserved; const ulpscope_component* components;
  // Draft features by id, "ulpscope.<name>/<revision>" or "<vendor>.<name>/<revision>"; may be NULL.
  const void* (*extension)(const char* id);
} ulpscope_plugin;

// The one symbol that a plugin exports. Returns a constant table: no work, no failure.
typedef const ulpscope_plugin* (*ulpscope_plugin_entry_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
