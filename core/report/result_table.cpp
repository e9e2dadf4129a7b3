#include "report/result_table.hpp"

#include "index/dump_level.hpp"

namespace ulpscope {

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::skip:
      return "skip";
    case Verdict::pass:
      return "pass";
    case Verdict::warning:
      return "warning";
    case Verdict::fail:
      return "fail";
  }
  return "skip";
}

std::string_view to_text(Mode mode) {
  switch (mode) {
    case Mode::none:
      return "none";
    case Mode::data:
      return "data";
    case Mode::statistics:
      return "statistics";
    case Mode::digest:
      return "digest";
    case Mode::value:
      return "value";
  }
  return "none";
}

std::string_view to_text(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "none";
    case Cause::culprit:
      return "culprit";
    case Cause::rounding:
      return "rounding";
    case Cause::inherited:
      return "inherited";
  }
  return "none";
}

std::string_view to_text(Absent absent) {
  switch (absent) {
    case Absent::none:
      return "none";
    case Absent::filtered:
      return "filtered";
    case Absent::not_dumped:
      return "not_dumped";
    case Absent::no_data:
      return "no_data";
    case Absent::no_statistics:
      return "no_statistics";
    case Absent::inner:
      return "inner";
    case Absent::no_reference:
      return "no_reference";
    case Absent::bad:
      return "bad";
  }
  return "none";
}

SideInfo side_info(const DumpIndex& index) {
  SideInfo info;
  info.path = index.path();
  info.source = index.source_name();
  info.task = index.task();
  info.level = dump_level(index);
  info.ops = static_cast<int64_t>(index.ops().size());
  info.tensors = static_cast<int64_t>(index.tensors().size());
  return info;
}

Summary summarise(const ResultTable& table) {
  Summary summary;
  for (const ResultRow& row : table.rows) {
    const bool only_target = row.pair.golden == kNoIndex, only_golden = row.pair.target == kNoIndex;
    summary.only_target += only_target;
    summary.only_golden += only_golden;
    summary.pairs += !only_target && !only_golden;
    summary.unreadable += row.unreadable;
    switch (row.verdict) {
      case Verdict::pass:
        ++summary.pass;
        break;
      case Verdict::warning:
        ++summary.warning;
        break;
      case Verdict::fail:
        ++summary.fail;
        break;
      case Verdict::skip:
        summary.skip += !only_target && !only_golden;
        break;
    }
  }
  summary.diagnostics = table.diagnostic_count;
  return summary;
}

}  // namespace ulpscope
