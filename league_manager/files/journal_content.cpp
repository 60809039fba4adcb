#include "league_manager/files/journal_content.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "league_manager/events/event_codec.h"

namespace league::league_manager {
namespace {

std::string counted(std::size_t number, std::string_view what) {
  return std::to_string(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

/// Whether events of this type matter here; others are not parsed.
bool is_telling(std::string_view type) {
  static const std::unordered_set<std::string_view> kTypesOfInterest = {
      event_type(LeagueCreated{}), event_type(AgentRegistered{}), event_type(MatchReported{}),
      event_type(MatchForfeited{}), event_type(LeagueContinued{})};
  return kTypesOfInterest.contains(type);
}

class ContentCollector {
 public:
  explicit ContentCollector(JournalContent& content) : content_(content) {}

  void take(const Event& event) {
    if (const auto* created = std::get_if<LeagueCreated>(&event.body)) {
      content_.league_id = created->league_id.str();
      content_.since = event.at;
    } else if (const auto* registered = std::get_if<AgentRegistered>(&event.body)) {
      ++(registered->agent.kind == AgentKind::kPlayer ? content_.players : content_.referees);
    } else if (const auto* reported = std::get_if<MatchReported>(&event.body)) {
      content_.finished.push_back(reported->match);
    } else if (const auto* forfeited = std::get_if<MatchForfeited>(&event.body)) {
      content_.finished.push_back(forfeited->match);
    } else if (const auto* continued = std::get_if<LeagueContinued>(&event.body)) {
      if (continued->term || continued->given_up) content_.since = event.at;
    }
  }

 private:
  JournalContent& content_;
};

}  // namespace

bool JournalContent::has_finished(MatchKey match) const {
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
  ContentCollector taking(content);
  core::Digest digest{};
  auto read = journal.replay([&](const journal::Entry& entry) -> core::Result<void> {
    content.entries = entry.sequence;
    if (mark && entry.sequence <= mark->sequence) {
      digest = journal::chained(digest, entry.record);
      content.has_marked = entry.sequence == mark->sequence && digest == mark->digest;
    }
    if (!is_telling(entry.record.type)) return {};
    auto event = from_record(entry.record);
    if (!event) return event.error();
    taking.take(*event);
    return {};
  });
  if (!read) return read.error();
  std::ranges::sort(content.finished);
  return content;
}

}  // namespace league::league_manager
