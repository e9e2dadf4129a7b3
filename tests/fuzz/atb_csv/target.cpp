// statistic.csv of an ATB dump: any bytes give rows with a path, or say why not.
#include <cstdint>
#include <cstdlib>

#include "formats/atb_statistics.hpp"
#include "formats/atb_tree.hpp"
#include "memory_file.hpp"

using namespace ulpscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const File file = fuzz::memory_file(data, size);
  AtbStatisticsSink sink;
  sink.on_row = [](const AtbStatisticsRow& row) {
    if (row.op_path.empty() || row.index < 0 || row.shape.size() > 32) std::abort();
  };
  sink.on_bad_row = [](int64_t line, std::string_view what) {
    if (line < 1 || what.empty()) std::abort();
  };
  (void)read_atb_statistics(file, sink);
  AtbTree tree;
  (void)tree.read_table(file);
  tree.finish();
  for (const AtbOp& op : tree.ops())
    if (op.ids.empty() || op.ids.size() > 32) std::abort();
  return 0;
}
