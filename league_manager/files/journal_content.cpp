#include "league_manager/files/journal_content.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "league_manager/core/overloaded.h"
#include "league_manager/events/event_codec.h"

namespace league::league_manager::files {
namespace {

std::string counted(std::size_t number, std::string_view what) {
  return std::to_string(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

/// Whether events of this type matter here; others are not parsed.
bool is_telling(std::string_view type) {
  static const std::unordered_set<std::string_view> kTypesOfInterest = {
      event_type(events::LeagueCreated{}), event_type(events::AgentRegistered{}),
      event_type(events::MatchReported{}), event_type(events::MatchForfeited{}),
      event_type(events::LeagueContinued{})};
  return kTypesOfInterest.contains(type);
}

void take(const events::Event& event, JournalContent& content) {
  std::visit(Overloaded{
                 [&](const events::LeagueCreated& e) {
                   content.league_id = e.league_id.str();
                   content.since = event.at;
                 },
                 [&](const events::AgentRegistered& e) {
                   // The id of a freed seat can be given again.
                   int& count = e.agent.kind == events::AgentKind::kPlayer ? content.players
                                                                           : content.referees;
                   count = std::max(count, e.agent.index + 1);
                 },
                 [&](const events::MatchReported& e) { content.finished.push_back(e.match); },
                 [&](const events::MatchForfeited& e) { content.finished.push_back(e.match); },
                 [&](const events::LeagueContinued& e) {
                   if (e.term || e.given_up) content.since = event.at;
                 },
                 [](const auto&) {},
             },
             event.body);
}

}  // namespace

bool JournalContent::has_finished(events::MatchKey match) const {
  return std::ranges::binary_search(finished, match);
}

std::string JournalContent::text() const {
  return "entry " + std::to_string(entries) + " (" +
         counted(static_cast<std::size_t>(players), "player") + ", " +
         counted(static_cast<std::size_t>(referees), "referee") + ", " +
         counted(finished.size(), "result") + ")";
}

core::Result<JournalContent> read_content(const journal::Journal& journal,
                                          const std::optional<journal::JournalPosition>& mark) {
  JournalContent content;
  core::Digest digest{};
  auto read = journal.replay([&](const journal::Entry& entry) -> core::Result<void> {
    content.entries = entry.sequence;
    if (mark && entry.sequence <= mark->sequence) {
      digest = journal::chained(digest, entry.record);
      content.has_marked = entry.sequence == mark->sequence && digest == mark->digest;
    }
    if (!is_telling(entry.record.type)) return {};
    auto event = events::from_record(entry.record);
    if (!event) return event.error();
    take(*event, content);
    return {};
  });
  if (!read) return read.error();
  std::ranges::sort(content.finished);
  return content;
}

}  // namespace league::league_manager::files
