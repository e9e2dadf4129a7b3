#include "first_token/pairing.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace ulpscope {
namespace {

struct Key {
  Digest digest = {};
  int64_t choice = 0;
  auto operator<=>(const Key&) const = default;
};

using KeyOf = std::function<std::optional<Key>(const OutputSet&, const OutputEntry&)>;

std::optional<std::vector<Key>> keys_of(const OutputSet& set, const KeyOf& key_of) {
  std::vector<Key> keys;
  keys.reserve(set.entries().size());
  for (const OutputEntry& entry : set.entries()) {
    const auto key = key_of(set, entry);
    if (!key) return std::nullopt;
    keys.push_back(*key);
  }
  return keys;
}

OutputPairing pair_keys(const std::vector<Key>& golden, const std::vector<Key>& problem, PairingKind kind) {
  OutputPairing pairing;
  pairing.kind = kind;
  std::map<Key, std::deque<size_t>> waiting;
  for (size_t i = 0; i < problem.size(); ++i) waiting[problem[i]].push_back(i);
  for (size_t i = 0; i < golden.size(); ++i) {
    const auto found = waiting.find(golden[i]);
    if (found == waiting.end() || found->second.empty()) {
      pairing.only_golden.push_back(i);
      continue;
    }
    pairing.pairs.push_back({i, found->second.front()});
    found->second.pop_front();
  }
  for (const auto& [key, left] : waiting)
    pairing.only_problem.insert(pairing.only_problem.end(), left.begin(), left.end());
  std::sort(pairing.only_problem.begin(), pairing.only_problem.end());
  return pairing;
}

bool is_unique(std::vector<Key> keys) {
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) == keys.end();
}

KeyOf by_id(IdKind kind) {
  return [kind](const OutputSet& set, const OutputEntry& entry) -> std::optional<Key> {
    if (entry.id_kind != kind) return std::nullopt;
    return Key{digest_of(set.id(entry)), entry.choice};
  };
}

// Any id, the engine's where there is no other.
std::optional<Key> by_any_id(const OutputSet& set, const OutputEntry& entry) {
  if (entry.id_kind == IdKind::none && entry.request_id_size == 0) return std::nullopt;
  return Key{digest_of(entry.id_kind == IdKind::none ? set.request_id(entry) : set.id(entry)), entry.choice};
}
std::optional<Key> by_prompt_ids(const OutputSet& /*set*/, const OutputEntry& entry) {
  return entry.has_prompt_ids ? std::optional<Key>(Key{entry.prompt_ids, entry.choice}) : std::nullopt;
}
std::optional<Key> by_prompt(const OutputSet& /*set*/, const OutputEntry& entry) {
  return entry.has_prompt ? std::optional<Key>(Key{entry.prompt, entry.choice}) : std::nullopt;
}
std::optional<Key> by_order(const OutputSet& /*set*/, const OutputEntry& entry) {
  return Key{{}, entry.choice};
}

std::optional<OutputPairing> pairing_by(const OutputSet& golden, const OutputSet& problem, PairingKind kind,
                                        const KeyOf& key_of, bool must_be_unique) {
  const auto mine = keys_of(golden, key_of), theirs = keys_of(problem, key_of);
  if (!mine || !theirs) return std::nullopt;
  if (must_be_unique && (!is_unique(*mine) || !is_unique(*theirs))) return std::nullopt;
  return pair_keys(*mine, *theirs, kind);
}

// By what both sides have; the first way that pairs anything, else the first that could have.
std::optional<OutputPairing> pairing_by_prompt(const OutputSet& golden, const OutputSet& problem) {
  auto by_ids = pairing_by(golden, problem, PairingKind::prompt_token_ids, by_prompt_ids, false);
  if (by_ids && !by_ids->pairs.empty()) return by_ids;
  auto by_text = pairing_by(golden, problem, PairingKind::prompt, by_prompt, false);
  if (by_text && !by_text->pairs.empty()) return by_text;
  return by_ids ? by_ids : by_text;
}

PairingKind kind_of_ids(const OutputSet& set) {
  if (set.entries().empty()) return PairingKind::id;
  const IdKind kind = set.entries().front().id_kind;
  return kind == IdKind::custom_id ? PairingKind::custom_id
         : kind == IdKind::key     ? PairingKind::key
                                   : PairingKind::id;
}

}  // namespace

std::string_view to_text(PairingKind kind) {
  switch (kind) {
    case PairingKind::custom_id:
      return "custom_id";
    case PairingKind::id:
      return "id";
    case PairingKind::key:
      return "key";
    case PairingKind::prompt_token_ids:
      return "prompt_token_ids";
    case PairingKind::prompt:
      return "prompt";
    case PairingKind::order:
      return "order";
  }
  return "";
}

Result<OutputPairing> pair_outputs(const OutputSet& golden, const OutputSet& problem, PairBy by) {
  if (by == PairBy::id) {
    auto pairing = pairing_by(golden, problem, kind_of_ids(golden), by_any_id, false);
    if (pairing) return *std::move(pairing);
    return Error{Code::usage, "option --pair: some outputs have no id, expected custom_id, id or key in all"};
  }
  if (by == PairBy::prompt) {
    auto pairing = pairing_by_prompt(golden, problem);
    if (pairing) return *std::move(pairing);
    return Error{Code::usage, "option --pair: some outputs have no prompt, expected it in all"};
  }
  if (by == PairBy::automatic) {
    for (const auto& [kind, id_kind] :
         {std::pair{PairingKind::custom_id, IdKind::custom_id}, std::pair{PairingKind::id, IdKind::id},
          std::pair{PairingKind::key, IdKind::key}}) {
      auto pairing = pairing_by(golden, problem, kind, by_id(id_kind), true);
      if (pairing && !pairing->pairs.empty()) return *std::move(pairing);
    }
    if (auto pairing = pairing_by_prompt(golden, problem)) return *std::move(pairing);
  }
  return *pairing_by(golden, problem, PairingKind::order, by_order, false);
}

}  // namespace ulpscope
