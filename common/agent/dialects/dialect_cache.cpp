#include "common/agent/dialects/dialect_cache.h"

#include <algorithm>

namespace league::agent::dialects {

DialectCache::Search DialectCache::search(const std::string& peer, envelope::MessageType type,
                                          CallStyle first) const {
  std::lock_guard lock(mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end()) return {.dialects = call_dialects(type, first)};
  const Peer& known = found->second;
  Search search{.dialects = call_dialects(type, known.style.value_or(first))};
  // A peer that does not know a wrapper for one message does not know it for any other.
  std::erase_if(search.dialects,
                [&known](const CallDialect& way) { return known.lacking.contains(way.style); });
  if (search.dialects.empty()) search.dialects = call_dialects(type, first);
  auto of_type = known.types.find(type);
  if (of_type == known.types.end()) return search;
  const OfType& memory = of_type->second;
  search.is_hopeless = memory.is_hopeless;
  const auto is_untried = [&memory](const CallDialect& way) {
    return std::ranges::find(memory.passed_over, way) == memory.passed_over.end();
  };
  if (!memory.passed_over.empty())
    std::stable_partition(search.dialects.begin(), search.dialects.end(), is_untried);
  if (const auto& best = memory.proven ? memory.proven : memory.found) {
    auto at = std::ranges::find(search.dialects, *best);
    if (at == search.dialects.end()) at = search.dialects.insert(at, *best);
    std::rotate(search.dialects.begin(), at, at + 1);
    search.is_proven = true;
  }
  return search;
}

bool DialectCache::next(const std::string& peer, envelope::MessageType type, Search& search,
                        bool lacks_wrapper) {
  if (search.is_hopeless) return false;
  std::lock_guard lock(mutex_);
  Peer& known = peers_[peer];
  const CallStyle style = search.way().style;
  if (lacks_wrapper) known.lacking.insert(style);
  OfType& memory = known.types[type];
  // The proven dialect stays the first to try, in case none of the others works.
  search.is_proven = false;
  for (std::size_t at = search.at + 1; at < search.dialects.size(); ++at) {
    if (lacks_wrapper && search.dialects[at].style == style) continue;
    search.at = at;
    return true;
  }
  memory.is_hopeless = search.is_hopeless = true;
  return false;
}

void DialectCache::find(const std::string& peer, envelope::MessageType type,
                        const CallDialect& way) {
  std::lock_guard lock(mutex_);
  peers_[peer].types[type].found = way;
}

void DialectCache::prove(const std::string& peer, envelope::MessageType type,
                         const CallDialect& way) {
  std::lock_guard lock(mutex_);
  Peer& known = peers_[peer];
  known.is_proven = true;
  // An alias that works for one message type says nothing about the other types.
  if (!way.is_alias || way.style != CallStyle::kToolName || !known.style) known.style = way.style;
  OfType& memory = known.types[type];
  memory.proven = way;
  memory.is_hopeless = false;
  memory.passed_over.clear();
}

void DialectCache::pass_over(const std::string& peer, envelope::MessageType type,
                             const Search& search) {
  if (search.at == 0) return;
  std::lock_guard lock(mutex_);
  auto& passed_over = peers_[peer].types[type].passed_over;
  for (std::size_t i = 0; i <= search.at; ++i) {
    if (std::ranges::find(passed_over, search.dialects[i]) == passed_over.end())
      passed_over.push_back(search.dialects[i]);
  }
}

void DialectCache::forget_failures(const std::string& peer) {
  std::lock_guard lock(mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end()) return;
  found->second.lacking.clear();
  for (auto& [type, memory] : found->second.types) {
    memory.is_hopeless = false;
    memory.found.reset();
    memory.passed_over.clear();
  }
}

void DialectCache::tell(const std::string& peer, CallStyle style) {
  std::lock_guard lock(mutex_);
  Peer& known = peers_[peer];
  if (known.told == style) return;
  known.told = style;
  if (!known.is_proven) known.style = style;
}

std::optional<CallStyle> DialectCache::style_of(const std::string& peer) const {
  std::lock_guard lock(mutex_);
  auto found = peers_.find(peer);
  return found == peers_.end() ? std::nullopt : found->second.style;
}

bool DialectCache::is_proven(const std::string& peer) const {
  std::lock_guard lock(mutex_);
  auto found = peers_.find(peer);
  return found != peers_.end() && found->second.is_proven;
}

}  // namespace league::agent::dialects
