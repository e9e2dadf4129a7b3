// What the bundle of a side says of its engine, and the words of guide for it. For incident_flow.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ulpscope {

struct IncidentEngine {
  std::string vllm, vllm_ascend, device;                         // empty: not known
  bool is_online = false;                                        // a server is started
  std::vector<std::pair<std::string, int64_t>> parallel;         // options of guide: {"--tp", 2}
  std::vector<std::pair<std::string, std::string>> environment;  // VLLM_USE_V1 and the like
};

// side: "golden" or "problem". bundle: its folder, empty for none. What cannot be read is left out, for
// config-check to tell.
IncidentEngine read_incident_engine(const std::string& side, const std::string& bundle);

// guide collect for that engine, with VERSION where it is not known. token: position; empty: none.
std::vector<std::string> guide_words(const IncidentEngine& engine, const std::string& token);

}  // namespace ulpscope
