#include "report/page_table.hpp"

#include <optional>
#include <span>
#include <utility>

#include "report/page_columns.hpp"

namespace ulpscope {
PageTable::PageTable(const std::vector<std::string>& integer_names, std::string near_one)
    : near_one_(std::move(near_one)) {
  for (const std::string& name : integer_names) place_of(name, false);
}

PageTable::Place* PageTable::place_of(std::string_view name, bool is_number) {
  const auto found = places_.find(name);
  if (found != places_.end()) return found->second.is_number == is_number ? &found->second : nullptr;
  if (places_.size() >= kMostColumns) return nullptr;
  const auto rows = static_cast<size_t>(rows_);
  Place place{is_number, is_number ? numbers_.size() : integers_.size()};
  if (is_number) {
    numbers_.emplace_back(rows, page_bits(std::nullopt));
    number_names_.emplace_back(name);
  } else {
    integers_.emplace_back(rows, -1);
    integer_names_.emplace_back(name);
  }
  return &places_.emplace(std::string(name), place).first->second;
}

void PageTable::begin_row() {
  ++rows_;
  for (std::vector<int32_t>& column : integers_) column.push_back(-1);
  for (std::vector<uint64_t>& column : numbers_) column.push_back(page_bits(std::nullopt));
}

bool PageTable::set(std::string_view column, int32_t value) {
  const Place* place = place_of(column, false);
  if (place == nullptr) return false;
  integers_[place->column].back() = value;
  return true;
}

bool PageTable::set_number(std::string_view column, double value) {
  const Place* place = place_of(column, true);
  if (place == nullptr) return false;
  numbers_[place->column].back() = page_bits(column == near_one_ ? 1 - value : value);
  return true;
}

Result<PageBlocks> PageTable::finish(const std::string& head, const std::string& page,
                                     ThreadPool* pool) const {
  const std::vector<std::span<const int32_t>> integers(integers_.begin(), integers_.end());
  const std::vector<std::span<const uint64_t>> numbers(numbers_.begin(), numbers_.end());
  ULPSCOPE_ASSIGN(PackedColumns columns, pack_columns(integers, numbers, pool));
  std::string out = "{" + head + "\"page\":{" + page + "\"rows\":" + std::to_string(rows_);
  out += ",\"texts\":" + texts_.json() + ",\"histograms\":[],\"columns\":[";
  for (size_t i = 0; i < integer_names_.size() + number_names_.size(); ++i) {
    const bool is_number = i >= integer_names_.size();
    const size_t at = is_number ? i - integer_names_.size() : i;
    out += i == 0 ? "{\"name\":" : ",{\"name\":";
    append_json_string(out, is_number ? number_names_[at] : integer_names_[at]);
    out += is_number ? ",\"kind\":\"number\",\"planes\":" + std::to_string(columns.planes[at])
                     : std::string(",\"kind\":\"integer\"");
    if (is_number && number_names_[at] == near_one_) out += ",\"near_one\":true";
    out += '}';
  }
  out += "]}}";
  PageBlocks blocks;
  blocks.columns = std::move(columns.blocks);
  ULPSCOPE_ASSIGN(blocks.header, packed(out));
  return blocks;
}

}  // namespace ulpscope
