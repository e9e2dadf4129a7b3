// The step ledger of a run: which scheduler step computed what of which request. Used to say which step of a
// dump made the first differing token. Reads the file once, keeps the requests asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/result.hpp"

namespace ulpscope {

// What is asked of one request.
struct LedgerQuestion {
  std::string request_id;  // as the outputs name it
  int64_t choice = 0;
  int64_t token = 0;  // counted from 0
};

struct LedgerAnswer {
  bool found = false;           // the ledger has the request
  std::optional<int64_t> step;  // that made the token
  std::vector<int64_t> prefill_steps;
};

// One answer for each question. A line is {"step", "rank", "reqs": {id: {"prompt", "computed", "scheduled"}},
// "spec": {id: drafts}}: token k comes from the step with computed + scheduled = prompt + k, the first that
// reaches it where there are draft tokens; prefill steps are those with computed < prompt. A request is also
// found under the names that the engine makes of it (ID-0, ID-choice, choice_ID). Of several ranks the first
// that names a request counts, of several runs in one file the last, with a warning. io: the file cannot be
// read. Lines that cannot become diagnostics.
Result<std::vector<LedgerAnswer>> ask_ledger(const std::string& path,
                                             const std::vector<LedgerQuestion>& questions,
                                             Diagnostics& diagnostics);

}  // namespace ulpscope
