// The stages of a flow while it runs: opened when they are needed, compared, and judged against golden. For
// flow.cpp only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "flow/flow.hpp"

namespace ulpscope {

// Whether a stage reaches the required accuracy, and how that is known.
struct StageVerdict {
  std::optional<double> final_cosine;
  std::optional<bool> met;
  std::string by;
};

class FlowStages {
 public:
  FlowStages(const StageFile& file, const FlowHost& host) : file_(file), host_(host) {}

  bool has(const std::string& name) const { return file_.find(name) != nullptr; }
  bool has_golden() const { return !file_.golden.empty(); }
  // The opened stage. Errors of opening, or: not run with the input of origin, or another model.
  Result<const StageDump*> stage(const std::string& name);
  Result<StageVerdict> verdict(const std::string& name);
  Result<StageComparison> compare(const std::string& mine, const std::string& reference);
  Result<StageComparison> compare_with_golden(const std::string& mine);
  Result<std::vector<ComparedInput>> inputs_against_golden(const std::string& mine);

 private:
  Result<const DumpIndex*> golden();
  // io: something of a dump could not be read so far, or tensors of the comparison have no counterpart that
  // can.
  Status check_whole(const std::string& place) const;
  Result<StageComparison> whole(Result<StageComparison> comparison, const std::string& place) const;
  Status check_same_input(const StageDump& stage);
  Status check_model(const StageDump& stage, const std::string& fusion);

  const StageFile& file_;
  const FlowHost& host_;
  std::map<std::string, std::unique_ptr<StageDump>> opened_;
  std::unique_ptr<DumpIndex> golden_;
};

}  // namespace ulpscope
