// The rows of a report in order, made ready on all workers: written as text, or given to a writer one at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/thread_pool.hpp"
#include "report/output_file.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

// Appends the text of one row. Called from any worker; rows of one batch in order.
using RowFormatter = std::function<void(std::string& out, const RowView& row, int64_t index)>;

// What a writer shows beside the columns that every row has.
struct RowParts {
  bool octaves = false;
};

// Formats every row and writes the texts in report order. pool null: on this thread alone; the bytes are the
// same.
void write_rows(OutputFile& file, const ReportView& report, const RowFormatter& format, ThreadPool* pool,
                RowParts parts = {});

// Takes one row; the row is its own until it returns.
using RowVisitor = std::function<void(const RowView& row, int64_t index)>;

// Reads every row and gives them to visit in report order, one at a time, but not all from one thread. pool
// null: on this thread alone.
void visit_rows(const ReportView& report, ThreadPool* pool, const RowVisitor& visit);

}  // namespace ulpscope
