#include "common/journal/sqlite_journal.h"
#include "league_manager/events/event_codec.h"
#include "league_manager/files/league_book.h"
#include "tools/audit/verify/verify_rules.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;

/// The line of one match in the text whose digest the signed end of a league has: protocol §8.
std::string attested_line(const lm::files::LeagueBook& book, const lm::MatchView& view) {
  const lm::events::CompactResult& result = *view.result;
  const auto winner = game::winner_of(result.outcome);
  const auto choices = book.choices(view.match);
  const std::string& reason = book.note(view.match).technical_reason;
  auto shown = [](std::string_view text) { return std::string(text.empty() ? "-" : text); };
  std::string line = view.match.id().str() + "|" + std::to_string(view.attempt);
  for (const std::string& part :
       {view.referee < 0 ? std::string("-") : lm::events::AgentRef::referee(view.referee).id(),
        winner ? lm::events::AgentRef::player(view.pairing.player(*winner)).id() : std::string("-"),
        result.drawn_number > 0 ? std::to_string(result.drawn_number) : std::string("-"),
        shown(choices[game::Side::kA]), shown(choices[game::Side::kB]),
        reason.empty() ? std::string("NORMAL") : reason,
        std::string(result.is_voided ? "VOID" : "-")})
    line += "|" + part;
  return line + "\n";
}

std::string attested_text(const lm::files::LeagueBook& book) {
  const lm::League& league = book.league();
  std::string text;
  for (int round = 1; round <= static_cast<int>(book.rounds().size()); ++round) {
    const auto first = league.schedule().index_of({round, 1});
    const auto count = static_cast<std::size_t>(league.schedule().matches_in(round));
    for (const lm::MatchView& view : league.schedule_page(first, count)) {
      if (view.result) text += attested_line(book, view);
    }
  }
  return text;
}

}  // namespace

std::optional<std::string> attested_results(const std::filesystem::path& journal,
                                            std::uint64_t entry) {
  lm::files::LeagueBook book;
  std::optional<std::string> text;
  auto read = journal::read_journal(journal, [&](const journal::Entry& one) {
    if (text) return core::Result<void>();
    auto event = lm::events::from_record(one.record);
    if (!event) return core::Result<void>(event.error());
    if (auto applied = book.apply(*event); !applied) return applied;
    if (one.sequence == entry) text = attested_text(book);
    return core::Result<void>();
  });
  return read ? text : std::nullopt;
}

}  // namespace league::tools::auditor
