#include "common/agent/dialects/known_ways.h"

#include <algorithm>

namespace league::agent {

KnownWays::Search KnownWays::search(const std::string& peer, envelope::MessageType type,
                                    CallStyle first) const {
  std::lock_guard lock(mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end()) return {.ways = ways_of_calling(type, first)};
  const Peer& known = found->second;
  Search search{.ways = ways_of_calling(type, known.style.value_or(first))};
  // A wrapper that it does not know it knows for no message.
  std::erase_if(search.ways,
                [&known](const CallWay& way) { return known.lacking.contains(way.style); });
  if (search.ways.empty()) search.ways = ways_of_calling(type, first);
  auto of_type = known.types.find(type);
  if (of_type == known.types.end()) return search;
  const OfType& memory = of_type->second;
  search.is_hopeless = memory.is_hopeless;
  std::ranges::stable_partition(search.ways, [&memory](const CallWay& way) {
    return std::ranges::find(memory.passed_over, way) == memory.passed_over.end();
  });
  if (memory.proven) {
    std::erase(search.ways, *memory.proven);
    search.ways.insert(search.ways.begin(), *memory.proven);
    search.is_proven = true;
  }
  return search;
}

bool KnownWays::next(const std::string& peer, envelope::MessageType type, Search& search,
                     bool lacks_wrapper) {
  if (search.is_hopeless) return false;
  std::lock_guard lock(mutex_);
  Peer& known = peers_[peer];
  const CallStyle style = search.way().style;
  if (lacks_wrapper) known.lacking.insert(style);
  OfType& memory = known.types[type];
  // What has worked before stays the first to try, in case nothing else does.
  search.is_proven = false;
  for (++search.at; search.at < search.ways.size(); ++search.at) {
    if (!lacks_wrapper || search.way().style != style) return true;
  }
  memory.is_hopeless = true;
  return false;
}

void KnownWays::prove(const std::string& peer, envelope::MessageType type, const CallWay& way) {
  std::lock_guard lock(mutex_);
  Peer& known = peers_[peer];
  known.is_proven = true;
  // A name of its own for one message says nothing of the others.
  if (!way.is_alias || way.style != CallStyle::kToolName || !known.style) known.style = way.style;
  OfType& memory = known.types[type];
  memory.proven = way;
  memory.is_hopeless = false;
  memory.passed_over.clear();
}

void KnownWays::pass_over(const std::string& peer, envelope::MessageType type,
                          const Search& search) {
  if (search.at == 0) return;
  std::lock_guard lock(mutex_);
  auto& passed_over = peers_[peer].types[type].passed_over;
  for (std::size_t i = 0; i <= search.at; ++i) {
    if (std::ranges::find(passed_over, search.ways[i]) == passed_over.end())
      passed_over.push_back(search.ways[i]);
  }
}

void KnownWays::forget_failures(const std::string& peer) {
  std::lock_guard lock(mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end()) return;
  found->second.lacking.clear();
  for (auto& [type, memory] : found->second.types) {
    memory.is_hopeless = false;
    memory.passed_over.clear();
  }
}

void KnownWays::tell(const std::string& peer, CallStyle style) {
  std::lock_guard lock(mutex_);
  Peer& known = peers_[peer];
  if (known.told == style) return;
  known.told = style;
  if (!known.is_proven) known.style = style;
}

std::optional<CallStyle> KnownWays::style_of(const std::string& peer) const {
  std::lock_guard lock(mutex_);
  auto found = peers_.find(peer);
  return found == peers_.end() ? std::nullopt : found->second.style;
}

bool KnownWays::is_proven(const std::string& peer) const {
  std::lock_guard lock(mutex_);
  auto found = peers_.find(peer);
  return found != peers_.end() && found->second.is_proven;
}

}  // namespace league::agent
