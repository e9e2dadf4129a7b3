// The rows of a page whose columns are found while they are filled, as the metrics of a check are. Packs them
// like page_data.hpp, into the blocks that the page reads. Used by the pages of check, precision-compare and
// locate. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "report/page_data.hpp"
#include "report/page_texts.hpp"

namespace ulpscope {

class PageTable {
 public:
  // Columns that a table may have; names beyond them are refused by set and set_number.
  static constexpr size_t kMostColumns = 400;

  // integer_names: columns that are there in any case. near_one: the number column whose values are close to
  // 1, where 14 bits of mantissa would show nothing; it is kept as its distance from 1. Empty: none.
  PageTable(const std::vector<std::string>& integer_names, std::string near_one);

  void begin_row();
  // Of the row that was begun last. A cell that is not set is -1 or absent. False: too many columns.
  bool set(std::string_view column, int32_t value);
  bool set_text(std::string_view column, std::string_view text) { return set(column, texts_.number(text)); }
  bool set_number(std::string_view column, double value);
  int64_t row_count() const { return rows_; }

  // head: members of the header as JSON text, without braces; page: those of its member page besides rows,
  // texts, histograms and columns, each text ended by a comma where it is not empty. no_memory as packed.
  Result<PageBlocks> finish(const std::string& head, const std::string& page, ThreadPool* pool) const;

 private:
  struct Place {
    bool is_number = false;
    size_t column = 0;
  };
  Place* place_of(std::string_view name, bool is_number);

  std::string near_one_;
  std::map<std::string, Place, std::less<>> places_;
  std::vector<std::string> integer_names_, number_names_;
  std::vector<std::vector<int32_t>> integers_;
  std::vector<std::vector<uint64_t>> numbers_;
  PageTexts texts_;
  int64_t rows_ = 0;
};

}  // namespace ulpscope
