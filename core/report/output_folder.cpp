#include "report/output_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "base/text.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxFoldersASecond = 10'000;

// Names of files that make a folder a result.
constexpr std::array<std::string_view, 9> kResultNames = {"*_result.json",
                                                          "compare_result*.*",
                                                          "debug_compare_result*.*",
                                                          "accuracy_checking_*.csv",
                                                          "api_precision_compare_*.csv",
                                                          "journal.jsonl",
                                                          "convert.json",
                                                          "report.html",
                                                          "junit.xml"};

std::string utc_time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

Error folder_error(const std::string& folder, const std::error_code& code) {
  return Error{Code::io, printable(folder) + ": cannot be made as output folder: " + code.message()};
}

Status make_folders(const std::string& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return folder_error(folder, code);
  if (!fs::is_directory(folder, code))
    return folder_error(folder, std::make_error_code(std::errc::not_a_directory));
  return {};
}

}  // namespace

bool holds_result(const std::string& folder) {
  std::error_code code;
  fs::directory_iterator entry(folder, code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    for (const std::string_view pattern : kResultNames)
      if (glob_match(pattern, name)) return true;
  }
  return false;
}

Result<std::string> make_output_folder(const FolderRequest& request) {
  std::error_code code;
  if (request.resume) {
    if (fs::is_directory(request.base, code)) return request.base;
    return Error{Code::usage,
                 printable(request.base) + ": no such folder, expected the folder of the run to go on with"};
  }
  ULPSCOPE_TRY(make_folders(request.base));
  if (request.exact) {
    if (!holds_result(request.base)) return request.base;
    return Error{Code::usage,
                 printable(request.base) + ": holds a result already, expected a folder without one"};
  }
  const std::string first = (fs::path(request.base) / (request.command + "_" + utc_time_text())).string();
  for (int number = 1; number <= kMaxFoldersASecond; ++number) {
    const std::string folder = number == 1 ? first : first + "-" + std::to_string(number);
    // Answers false when the folder is there: another run has it.
    if (fs::create_directory(folder, code)) return folder;
    if (code && code != std::errc::file_exists) return folder_error(folder, code);
  }
  return folder_error(first, std::make_error_code(std::errc::file_exists));
}

}  // namespace ulpscope
