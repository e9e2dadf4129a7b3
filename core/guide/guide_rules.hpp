// The rules G01 to G12 of guide: what does not go together, and what must be known before collecting. Used by
// collect_guide.
#pragma once

#include "guide/collect_guide.hpp"

namespace ulpscope {

// Adds the hits, errors first. guide has its engine, runner, places and flags already.
void apply_guide_rules(const GuideRequest& request, const AnchorTable& table, CollectGuide& guide);

}  // namespace ulpscope
