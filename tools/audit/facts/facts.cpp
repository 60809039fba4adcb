#include "tools/audit/facts/facts.h"

#include <algorithm>
#include <iterator>

namespace league::tools::auditor {
namespace {

template <typename T>
void append(std::vector<T>&& more, std::vector<T>& all) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

}  // namespace

bool is_same_league(const audit::log::LeagueIdentity& a, const audit::log::LeagueIdentity& b) {
  if (!a.key.empty() && !b.key.empty()) return a.key == b.key;
  return a.id == b.id;
}

audit::log::LeagueIdentity merged(const audit::log::LeagueIdentity& a,
                                  const audit::log::LeagueIdentity& b) {
  return {b.id.empty() ? a.id : b.id, b.key.empty() ? a.key : b.key};
}

void append_facts(LogFacts&& more, LogFacts& facts) {
  if (facts.begins_us == 0 || (more.begins_us != 0 && more.begins_us < facts.begins_us))
    facts.begins_us = more.begins_us;
  facts.ends_us = std::max(facts.ends_us, more.ends_us);
  append(std::move(more.received), facts.received);
  facts.senders.merge(more.senders);
  append(std::move(more.received_heads), facts.received_heads);
  append(std::move(more.matches), facts.matches);
  append(std::move(more.assignments), facts.assignments);
  for (auto& [conversation, messages] : more.conversations) {
    MatchConversation& known = facts.conversations[conversation];
    if (known.match_id.empty()) known.match_id = messages.match_id;
    append(std::move(messages.events), known.events);
  }
  append(std::move(more.calls), facts.calls);
  append(std::move(more.registrations), facts.registrations);
  append(std::move(more.reports), facts.reports);
  append(std::move(more.ends), facts.ends);
  append(std::move(more.sent_reports), facts.sent_reports);
  append(std::move(more.delivered), facts.delivered);
  append(std::move(more.disputes), facts.disputes);
  append(std::move(more.questions), facts.questions);
  append(std::move(more.agent_heads), facts.agent_heads);
  append(std::move(more.journal_heads), facts.journal_heads);
  append(std::move(more.told_ends), facts.told_ends);
  append(std::move(more.finals), facts.finals);
}

}  // namespace league::tools::auditor
