#include "report/row_writer.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/ordered_batches.hpp"

namespace ulpscope {
namespace {

// About 100 KiB of text, which is still in the cache when it is written.
constexpr int64_t kTextRows = 512;
// A row with its metrics takes about a kilobyte.
constexpr int64_t kVisitRows = 64;

// Calls body(batch, first, end, worker) for the batches of rows [0, count), on the workers of pool if there
// is one.
void for_row_batches(int64_t count, int64_t batch_rows, ThreadPool* pool,
                     const std::function<void(int64_t, int64_t, int64_t, int)>& body) {
  const int64_t batches = (count + batch_rows - 1) / batch_rows;
  const auto run = [&](int64_t batch, int worker) {
    body(batch, batch * batch_rows, std::min(count, (batch + 1) * batch_rows), worker);
  };
  if (pool != nullptr) return pool->parallel_for(batches, run);
  for (int64_t batch = 0; batch < batches; ++batch) run(batch, 0);
}

int workers_of(const ThreadPool* pool) { return pool == nullptr ? 1 : pool->workers(); }

}  // namespace

void write_rows(OutputFile& file, const ReportView& report, const RowFormatter& format, ThreadPool* pool,
                RowParts parts) {
  OrderedBatches<std::string> texts(workers_of(pool), [&](const std::string& text) { file.write(text); });
  std::vector<RowView> rows(static_cast<size_t>(workers_of(pool)));
  for (RowView& row : rows) row.wants_octaves = parts.octaves;
  for_row_batches(report.row_count(), kTextRows, pool,
                  [&](int64_t batch, int64_t first, int64_t end, int worker) {
                    std::string text = texts.take_room();
                    text.clear();
                    RowView& row = rows[static_cast<size_t>(worker)];
                    for (int64_t i = first; i < end; ++i) {
                      report.read_row(i, row);
                      format(text, row, i);
                    }
                    texts.add(batch, std::move(text));
                  });
}

void visit_rows(const ReportView& report, ThreadPool* pool, const RowVisitor& visit) {
  struct Rows {
    int64_t first = 0, count = 0;
    std::vector<RowView> rows;
  };
  OrderedBatches<Rows> read(workers_of(pool), [&](const Rows& batch) {
    for (int64_t i = 0; i < batch.count; ++i) visit(batch.rows[static_cast<size_t>(i)], batch.first + i);
  });
  for_row_batches(report.row_count(), kVisitRows, pool, [&](int64_t batch, int64_t first, int64_t end, int) {
    Rows room = read.take_room();
    room.rows.resize(static_cast<size_t>(kVisitRows));
    room.first = first;
    room.count = end - first;
    for (int64_t i = first; i < end; ++i) report.read_row(i, room.rows[static_cast<size_t>(i - first)]);
    read.add(batch, std::move(room));
  });
}

}  // namespace ulpscope
