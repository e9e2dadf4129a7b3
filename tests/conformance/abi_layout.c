// The binary layout of ABI 1.0, member by member: a change of abi.h that moves, resizes or drops one does not
// compile here. New members and values are added to the lists; no line of a released minor is ever changed.
// The numbers are those of the LP64 data model (every 64-bit Linux). Compiled as C99, C11, C++17 and C++20 by
// every compiler that is there.
#include <stddef.h>
#include <ulpscope/abi.h>

#ifdef __cplusplus
#define CHECK(condition, text) static_assert(condition, text)
#else
#define CHECK(condition, text) __extension__ _Static_assert(condition, text)
#endif
#define SIZE(type, bytes) CHECK(sizeof(type) == (bytes), "the size of " #type " changed")
#define MEMBER(type, member, at, bytes)                                             \
  CHECK(offsetof(type, member) == (at) && sizeof(((type*)NULL)->member) == (bytes), \
        "the place of " #type "." #member " changed")
#define VALUE(name, value) CHECK((name) == (value), "the value of " #name " changed")

CHECK(sizeof(void*) == 8, "the numbers below are those of 64-bit systems");

SIZE(ulpscope_str, 16);
MEMBER(ulpscope_str, data, 0, 8);
MEMBER(ulpscope_str, size, 8, 8);

SIZE(ulpscope_error, 1024);
MEMBER(ulpscope_error, code, 0, 4);
MEMBER(ulpscope_error, message, 4, 1020);

SIZE(ulpscope_view, 24);
MEMBER(ulpscope_view, data, 0, 8);
MEMBER(ulpscope_view, count, 8, 8);
MEMBER(ulpscope_view, dtype, 16, 4);
MEMBER(ulpscope_view, reserved, 20, 4);

SIZE(ulpscope_host, 48);
MEMBER(ulpscope_host, struct_size, 0, 4);
MEMBER(ulpscope_host, abi_minor, 4, 4);
MEMBER(ulpscope_host, version, 8, 8);
MEMBER(ulpscope_host, ctx, 16, 8);
MEMBER(ulpscope_host, log, 24, 8);
MEMBER(ulpscope_host, cancelled, 32, 8);
MEMBER(ulpscope_host, parallel_for, 40, 8);

SIZE(ulpscope_option_desc, 32);
MEMBER(ulpscope_option_desc, name, 0, 8);
MEMBER(ulpscope_option_desc, type, 8, 8);
MEMBER(ulpscope_option_desc, default_text, 16, 8);
MEMBER(ulpscope_option_desc, doc, 24, 8);

SIZE(ulpscope_op_record, 112);
MEMBER(ulpscope_op_record, struct_size, 0, 4);
MEMBER(ulpscope_op_record, kind, 4, 4);
MEMBER(ulpscope_op_record, phase, 8, 4);
MEMBER(ulpscope_op_record, step, 12, 4);
MEMBER(ulpscope_op_record, rank, 16, 4);
MEMBER(ulpscope_op_record, call, 20, 4);
MEMBER(ulpscope_op_record, parent, 24, 4);
MEMBER(ulpscope_op_record, token, 28, 4);
MEMBER(ulpscope_op_record, name, 32, 16);
MEMBER(ulpscope_op_record, type, 48, 16);
MEMBER(ulpscope_op_record, stack, 64, 16);
MEMBER(ulpscope_op_record, attributes_json, 80, 16);
MEMBER(ulpscope_op_record, originals, 96, 16);

SIZE(ulpscope_data_ref, 48);
MEMBER(ulpscope_data_ref, kind, 0, 4);
MEMBER(ulpscope_data_ref, reserved, 4, 4);
MEMBER(ulpscope_data_ref, file, 8, 16);
MEMBER(ulpscope_data_ref, offset, 24, 8);
MEMBER(ulpscope_data_ref, size, 32, 8);
MEMBER(ulpscope_data_ref, token, 40, 8);

SIZE(ulpscope_stats, 40);
MEMBER(ulpscope_stats, present, 0, 4);
MEMBER(ulpscope_stats, reserved, 4, 4);
MEMBER(ulpscope_stats, max, 8, 8);
MEMBER(ulpscope_stats, min, 16, 8);
MEMBER(ulpscope_stats, mean, 24, 8);
MEMBER(ulpscope_stats, l2norm, 32, 8);

SIZE(ulpscope_tensor_record, 208);
MEMBER(ulpscope_tensor_record, struct_size, 0, 4);
MEMBER(ulpscope_tensor_record, op, 4, 4);
MEMBER(ulpscope_tensor_record, role, 8, 4);
MEMBER(ulpscope_tensor_record, dtype, 12, 4);
MEMBER(ulpscope_tensor_record, path, 16, 16);
MEMBER(ulpscope_tensor_record, dims, 32, 8);
MEMBER(ulpscope_tensor_record, dim_count, 40, 4);
MEMBER(ulpscope_tensor_record, flags, 44, 4);
MEMBER(ulpscope_tensor_record, data, 48, 48);
MEMBER(ulpscope_tensor_record, stats, 96, 40);
MEMBER(ulpscope_tensor_record, digest, 136, 16);
MEMBER(ulpscope_tensor_record, link, 152, 16);
MEMBER(ulpscope_tensor_record, origin, 168, 16);
MEMBER(ulpscope_tensor_record, storage, 184, 16);
MEMBER(ulpscope_tensor_record, absent, 200, 4);
MEMBER(ulpscope_tensor_record, absent_reserved, 204, 4);

SIZE(ulpscope_record_sink, 40);
MEMBER(ulpscope_record_sink, struct_size, 0, 4);
MEMBER(ulpscope_record_sink, reserved, 4, 4);
MEMBER(ulpscope_record_sink, ctx, 8, 8);
MEMBER(ulpscope_record_sink, add_op, 16, 8);
MEMBER(ulpscope_record_sink, add_tensor, 24, 8);
MEMBER(ulpscope_record_sink, diagnose, 32, 8);

SIZE(ulpscope_probe, 256);
MEMBER(ulpscope_probe, score, 0, 4);
MEMBER(ulpscope_probe, why, 4, 252);

SIZE(ulpscope_source_desc, 96);
MEMBER(ulpscope_source_desc, struct_size, 0, 4);
MEMBER(ulpscope_source_desc, option_count, 4, 4);
MEMBER(ulpscope_source_desc, options, 8, 8);
MEMBER(ulpscope_source_desc, name, 16, 8);
MEMBER(ulpscope_source_desc, summary, 24, 8);
MEMBER(ulpscope_source_desc, probe, 32, 8);
MEMBER(ulpscope_source_desc, open, 40, 8);
MEMBER(ulpscope_source_desc, close, 48, 8);
MEMBER(ulpscope_source_desc, scan, 56, 8);
MEMBER(ulpscope_source_desc, locate, 64, 8);
MEMBER(ulpscope_source_desc, stream_open, 72, 8);
MEMBER(ulpscope_source_desc, stream_read, 80, 8);
MEMBER(ulpscope_source_desc, stream_close, 88, 8);

SIZE(ulpscope_metric_desc, 24);
MEMBER(ulpscope_metric_desc, name, 0, 8);
MEMBER(ulpscope_metric_desc, better, 8, 4);
MEMBER(ulpscope_metric_desc, reserved, 12, 4);
MEMBER(ulpscope_metric_desc, doc, 16, 8);

SIZE(ulpscope_pair, 64);
MEMBER(ulpscope_pair, struct_size, 0, 4);
MEMBER(ulpscope_pair, dim_count, 4, 4);
MEMBER(ulpscope_pair, dims, 8, 8);
MEMBER(ulpscope_pair, op, 16, 8);
MEMBER(ulpscope_pair, role, 24, 4);
MEMBER(ulpscope_pair, actual_dtype, 28, 4);
MEMBER(ulpscope_pair, golden_dtype, 32, 4);
MEMBER(ulpscope_pair, reserved, 36, 4);
MEMBER(ulpscope_pair, path, 40, 16);
MEMBER(ulpscope_pair, count, 56, 8);

SIZE(ulpscope_element, 32);
MEMBER(ulpscope_element, index, 0, 8);
MEMBER(ulpscope_element, actual, 8, 8);
MEMBER(ulpscope_element, golden, 16, 8);
MEMBER(ulpscope_element, error, 24, 8);

SIZE(ulpscope_metric, 16);
MEMBER(ulpscope_metric, value, 0, 8);
MEMBER(ulpscope_metric, available, 8, 4);
MEMBER(ulpscope_metric, reserved, 12, 4);

SIZE(ulpscope_measurement, 152);
MEMBER(ulpscope_measurement, struct_size, 0, 4);
MEMBER(ulpscope_measurement, metric_count, 4, 4);
MEMBER(ulpscope_measurement, metrics, 8, 8);
MEMBER(ulpscope_measurement, worst_count, 16, 4);
MEMBER(ulpscope_measurement, reserved, 20, 4);
MEMBER(ulpscope_measurement, worst, 24, 128);

SIZE(ulpscope_verdict, 536);
MEMBER(ulpscope_verdict, struct_size, 0, 4);
MEMBER(ulpscope_verdict, overall, 4, 4);
MEMBER(ulpscope_verdict, metric_count, 8, 4);
MEMBER(ulpscope_verdict, reserved, 12, 4);
MEMBER(ulpscope_verdict, per_metric, 16, 8);
MEMBER(ulpscope_verdict, message, 24, 512);

SIZE(ulpscope_judgement_desc, 120);
MEMBER(ulpscope_judgement_desc, struct_size, 0, 4);
MEMBER(ulpscope_judgement_desc, option_count, 4, 4);
MEMBER(ulpscope_judgement_desc, options, 8, 8);
MEMBER(ulpscope_judgement_desc, name, 16, 8);
MEMBER(ulpscope_judgement_desc, summary, 24, 8);
MEMBER(ulpscope_judgement_desc, metric_count, 32, 4);
MEMBER(ulpscope_judgement_desc, needs_reference, 36, 4);
MEMBER(ulpscope_judgement_desc, metrics, 40, 8);
MEMBER(ulpscope_judgement_desc, create, 48, 8);
MEMBER(ulpscope_judgement_desc, destroy, 56, 8);
MEMBER(ulpscope_judgement_desc, applies, 64, 8);
MEMBER(ulpscope_judgement_desc, begin, 72, 8);
MEMBER(ulpscope_judgement_desc, consume, 80, 8);
MEMBER(ulpscope_judgement_desc, merge, 88, 8);
MEMBER(ulpscope_judgement_desc, finish, 96, 8);
MEMBER(ulpscope_judgement_desc, end, 104, 8);
MEMBER(ulpscope_judgement_desc, judge, 112, 8);

SIZE(ulpscope_tensor, 64);
MEMBER(ulpscope_tensor, role, 0, 4);
MEMBER(ulpscope_tensor, dim_count, 4, 4);
MEMBER(ulpscope_tensor, dims, 8, 8);
MEMBER(ulpscope_tensor, path, 16, 16);
MEMBER(ulpscope_tensor, view, 32, 24);
MEMBER(ulpscope_tensor, flags, 56, 4);
MEMBER(ulpscope_tensor, reserved, 60, 4);

SIZE(ulpscope_output_sink, 24);
MEMBER(ulpscope_output_sink, struct_size, 0, 4);
MEMBER(ulpscope_output_sink, reserved, 4, 4);
MEMBER(ulpscope_output_sink, ctx, 8, 8);
MEMBER(ulpscope_output_sink, add_output, 16, 8);

SIZE(ulpscope_executor_desc, 64);
MEMBER(ulpscope_executor_desc, struct_size, 0, 4);
MEMBER(ulpscope_executor_desc, option_count, 4, 4);
MEMBER(ulpscope_executor_desc, options, 8, 8);
MEMBER(ulpscope_executor_desc, name, 16, 8);
MEMBER(ulpscope_executor_desc, summary, 24, 8);
MEMBER(ulpscope_executor_desc, create, 32, 8);
MEMBER(ulpscope_executor_desc, destroy, 40, 8);
MEMBER(ulpscope_executor_desc, supports, 48, 8);
MEMBER(ulpscope_executor_desc, run, 56, 8);

SIZE(ulpscope_component, 16);
MEMBER(ulpscope_component, kind, 0, 4);
MEMBER(ulpscope_component, reserved, 4, 4);
MEMBER(ulpscope_component, desc, 8, 8);

SIZE(ulpscope_plugin, 80);
MEMBER(ulpscope_plugin, abi_major, 0, 4);
MEMBER(ulpscope_plugin, abi_minor, 4, 4);
MEMBER(ulpscope_plugin, struct_size, 8, 4);
MEMBER(ulpscope_plugin, min_host_minor, 12, 4);
MEMBER(ulpscope_plugin, name, 16, 8);
MEMBER(ulpscope_plugin, version, 24, 8);
MEMBER(ulpscope_plugin, vendor, 32, 8);
MEMBER(ulpscope_plugin, license, 40, 8);
MEMBER(ulpscope_plugin, build, 48, 8);
MEMBER(ulpscope_plugin, component_count, 56, 4);
MEMBER(ulpscope_plugin, reserved, 60, 4);
MEMBER(ulpscope_plugin, components, 64, 8);
MEMBER(ulpscope_plugin, extension, 72, 8);

VALUE(ULPSCOPE_OK, 0);
VALUE(ULPSCOPE_E_USAGE, 1);
VALUE(ULPSCOPE_E_IO, 2);
VALUE(ULPSCOPE_E_FORMAT, 3);
VALUE(ULPSCOPE_E_UNSUPPORTED, 4);
VALUE(ULPSCOPE_E_CANCELLED, 5);
VALUE(ULPSCOPE_E_NO_MEMORY, 6);
VALUE(ULPSCOPE_E_INTERNAL, 7);
VALUE(ULPSCOPE_DTYPE_NONE, 0);
VALUE(ULPSCOPE_BOOL, 1);
VALUE(ULPSCOPE_U8, 2);
VALUE(ULPSCOPE_I8, 3);
VALUE(ULPSCOPE_U16, 4);
VALUE(ULPSCOPE_I16, 5);
VALUE(ULPSCOPE_U32, 6);
VALUE(ULPSCOPE_I32, 7);
VALUE(ULPSCOPE_U64, 8);
VALUE(ULPSCOPE_I64, 9);
VALUE(ULPSCOPE_F16, 10);
VALUE(ULPSCOPE_BF16, 11);
VALUE(ULPSCOPE_F32, 12);
VALUE(ULPSCOPE_F64, 13);
VALUE(ULPSCOPE_C64, 14);
VALUE(ULPSCOPE_C128, 15);
VALUE(ULPSCOPE_F8_E4M3FN, 16);
VALUE(ULPSCOPE_F8_E5M2, 17);
VALUE(ULPSCOPE_HIF8, 18);
VALUE(ULPSCOPE_F8_E8M0, 19);
VALUE(ULPSCOPE_I4X2, 20);
VALUE(ULPSCOPE_F4_E2M1X2, 21);
VALUE(ULPSCOPE_C32, 22);
VALUE(ULPSCOPE_F8_E4M3FNUZ, 23);
VALUE(ULPSCOPE_F8_E5M2FNUZ, 24);
VALUE(ULPSCOPE_OP_API, 1);
VALUE(ULPSCOPE_OP_MODULE, 2);
VALUE(ULPSCOPE_OP_LAYER, 3);
VALUE(ULPSCOPE_OP_KERNEL, 4);
VALUE(ULPSCOPE_OP_COMMUNICATION, 5);
VALUE(ULPSCOPE_PHASE_NONE, 0);
VALUE(ULPSCOPE_FORWARD, 1);
VALUE(ULPSCOPE_BACKWARD, 2);
VALUE(ULPSCOPE_INPUT, 1);
VALUE(ULPSCOPE_KWARG, 2);
VALUE(ULPSCOPE_OUTPUT, 3);
VALUE(ULPSCOPE_PARAMETER, 4);
VALUE(ULPSCOPE_GRADIENT, 5);
VALUE(ULPSCOPE_DATA_NONE, 0);
VALUE(ULPSCOPE_DATA_FILE, 1);
VALUE(ULPSCOPE_DATA_LATER, 2);
VALUE(ULPSCOPE_DATA_STREAM, 3);
VALUE(ULPSCOPE_GRAD_NO, 1);
VALUE(ULPSCOPE_GRAD_YES, 2);
VALUE(ULPSCOPE_STAT_MAX, 1);
VALUE(ULPSCOPE_STAT_MIN, 2);
VALUE(ULPSCOPE_STAT_MEAN, 4);
VALUE(ULPSCOPE_STAT_L2, 8);
VALUE(ULPSCOPE_ABSENT_NOT_DUMPED, 1);
VALUE(ULPSCOPE_ABSENT_FILTERED, 2);
VALUE(ULPSCOPE_ABSENT_NO_DATA, 3);
VALUE(ULPSCOPE_ABSENT_NO_STATISTICS, 4);
VALUE(ULPSCOPE_ABSENT_INNER, 5);
VALUE(ULPSCOPE_ABSENT_BAD, 6);
VALUE(ULPSCOPE_SKIP, 0);
VALUE(ULPSCOPE_PASS, 1);
VALUE(ULPSCOPE_WARNING, 2);
VALUE(ULPSCOPE_FAIL, 3);
VALUE(ULPSCOPE_SOURCE, 1);
VALUE(ULPSCOPE_JUDGEMENT, 2);
VALUE(ULPSCOPE_EXECUTOR, 3);
VALUE(ULPSCOPE_ABI_MAJOR, 1);
VALUE(ULPSCOPE_ABI_MINOR, 0);
VALUE(ULPSCOPE_NO_INDEX, 4294967295);
VALUE(ULPSCOPE_BLOCK, 1024);
