#include "report/peer_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "measure/atb_peer_table.hpp"
#include "measure/peer_table.hpp"
#include "report/acl_peer_csv.hpp"
#include "report/csv.hpp"
#include "report/output_file.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string local_time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
                     local.tm_hour, local.tm_min, local.tm_sec);
}

std::string number_word(std::string_view word, int32_t number) {
  return number < 0 ? "" : fmt::format("{}{}_", word, number);
}

template <class Peer>
Status write_table(const Peer& peer, const std::string& path) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  file.text() += kByteOrderMark;
  append_csv_line(file.text(), peer.header());
  for (size_t i = 0; i < peer.row_count(); ++i) {
    append_csv_line(file.text(), peer.row(i));
    file.flush_when_large();
  }
  return file.commit();
}

}  // namespace

Result<std::vector<std::string>> write_peer_tables(const ResultTable& table, const std::string& folder,
                                                   const AclPeerColumns& columns) {
  if (table.target->source_name() == "acl_om") {
    const std::string path = fmt::format("{}/result_{}.csv", folder, local_time_text());
    ULPSCOPE_TRY(write_acl_peer_table(table, path, columns));
    return std::vector<std::string>{path};
  }
  const std::vector<PeerGroup> groups = peer_groups(table);
  const bool steps = std::any_of(groups.begin(), groups.end(),
                                 [&](const PeerGroup& group) { return group.step != groups.front().step; });
  const std::string time = local_time_text();
  std::vector<std::string> paths;
  for (const PeerGroup& group : groups) {
    const std::string name =
        groups.size() == 1 ? ""
                           : (steps ? number_word("step", group.step) : "") + number_word("rank", group.rank);
    const auto path = [&](std::string_view stem) {
      return paths.emplace_back(fmt::format("{}/{}_{}{}.csv", folder, stem, name, time));
    };
    if (is_atb_comparison(table)) {
      const AtbPeerTable peer(table, group);
      const char* stem = peer.has_elements() ? "atb_tensor_compare_result" : "atb_stats_compare_result";
      ULPSCOPE_TRY(write_table(peer, path(stem)));
    } else {
      ULPSCOPE_TRY(write_table(PeerTable(table, group), path("compare_result")));
    }
  }
  return paths;
}

}  // namespace ulpscope
