// How the commands that run recorded calls again (check, its workers, replay) open a dump: through whichever
// source reads it, those of plugins among them. compare and the commands that look into dumps use
// Context::open_dump with dump_options instead.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/context.hpp"

namespace ulpscope {

// --mode, --step, --rank and --source-option.
std::vector<OptionSpec> call_dump_options();

// What those options say; source is "auto" or the name of a source.
struct CallDumpChoice {
  ScanFilter filter;
  std::string source = "auto";
  SourceOptions options;
};
// usage: malformed.
Result<CallDumpChoice> call_dump_choice(const ParsedOptions& options);

// Opens and scans. Where no single source is sure of the dump, it is read as a dump of torch, if it is one:
// these commands were made for those. Errors as Context::open_dump.
Result<DumpIndex> open_call_dump(Context& context, const std::string& path, const CallDumpChoice& choice);

}  // namespace ulpscope
