// Calls that stand in another order on the other side under the same names (query, key and value computed
// the other way round): what they read shows which belong together. Used by pair_ops(); looks at recorded
// statistics and digests alone. Pure.
#pragma once

#include <span>

#include "match/op_pairing.hpp"

namespace ulpscope {

// Pairs anew those of the ops that read what another call of their kind reads on the other side, when all of
// such calls change their partners among themselves and whatever reads their results agrees with that; else
// it is what they read that differs, and the pairs stay.
void pair_by_content(const PairingSide& target, std::span<const OpId> target_ops, const PairingSide& golden,
                     OpPartners& partners);

}  // namespace ulpscope
