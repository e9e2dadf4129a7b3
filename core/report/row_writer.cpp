#include "report/row_writer.hpp"

#include <algorithm>
#include <vector>

namespace ulpscope {
namespace {

constexpr int64_t kBatchRows = 2048;
constexpr int64_t kBatchesPerWorker = 2;

}  // namespace

void write_rows(OutputFile& file, const ReportView& report, const RowFormatter& format, ThreadPool* pool) {
  const int64_t count = report.row_count();
  const int64_t lanes = pool == nullptr ? 1 : pool->workers() * kBatchesPerWorker;
  std::vector<std::string> texts(static_cast<size_t>(lanes));
  for (int64_t start = 0; start < count; start += lanes * kBatchRows) {
    const auto format_batch = [&](int64_t lane, int) {
      std::string& text = texts[static_cast<size_t>(lane)];
      text.clear();
      RowView row;
      const int64_t first = start + lane * kBatchRows, end = std::min(count, first + kBatchRows);
      for (int64_t i = first; i < end; ++i) {
        report.read_row(i, row);
        format(text, row, i);
      }
    };
    if (pool == nullptr)
      format_batch(0, 0);
    else
      pool->parallel_for(lanes, format_batch);
    for (const std::string& text : texts) {
      file.text() += text;
      file.flush_when_large();
    }
  }
}

}  // namespace ulpscope
