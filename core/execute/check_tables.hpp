// The two CSV tables of the pre-check, growing as APIs finish, in the form of msprobe's acc_check: they can
// be read by either tool, and an interrupted run goes on in them. Used by the host of the check; one thread.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "execute/check_report.hpp"

namespace ulpscope {

class CheckTables {
 public:
  // Fresh tables accuracy_checking_{result,details}_<time>.csv in folder; digits behind the point of a
  // number. io: they exist or cannot be made.
  static Result<CheckTables> create(const std::string& folder, const std::string& time, int digits);
  // Goes on in a table of results and the details beside it. What a run that was killed left half written is
  // taken out: a last line without its end, and details of APIs without a result. usage: the file has another
  // name than accuracy_checking_result_<14 digits>.csv; io: it cannot be read or written.
  static Result<CheckTables> resume(const std::string& result_path, int digits);

  CheckTables(CheckTables&& other) noexcept;
  CheckTables& operator=(CheckTables&&) = delete;
  ~CheckTables();

  // Writes the rows of an API, details first. io: the disk is full or the files are gone.
  Status append(const CheckReport& report);
  // APIs that had a result when the run was resumed.
  bool is_done(std::string_view id) const { return done_.count(id) > 0; }
  size_t done_count() const { return done_.size(); }
  // Gives every API of a resumed run to visit, with the rows of its details. io and format as read_details.
  Status read_done(const std::function<void(const CheckReport&)>& visit) const;

  const std::string& result_path() const { return result_path_; }
  const std::string& details_path() const { return details_path_; }
  // "20240131235959": of the names.
  const std::string& time() const { return time_; }

 private:
  CheckTables(std::string result_path, std::string details_path, std::string time, int digits);
  Status open(bool fresh);

  std::string result_path_, details_path_, time_;
  int digits_ = 14;
  int result_fd_ = -1, details_fd_ = -1;
  std::set<std::string, std::less<>> done_;
};

// The bytes of text that are whole records of a CSV file: up to the last line end outside quotes.
size_t whole_records(std::string_view text);

}  // namespace ulpscope
