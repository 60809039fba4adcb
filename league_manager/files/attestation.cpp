#include "league_manager/files/attestation.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "common/core/crypto.h"

namespace league::league_manager::files {
namespace {

constexpr std::string_view kNothing = "-";

void add_line(std::string& out, std::initializer_list<std::string_view> parts, char separator) {
  for (std::string_view part : parts) out.append(part).push_back(separator);
  out.back() = '\n';
}

std::string digest_of(const std::string& text) { return core::to_hex(core::sha256(text)); }

void add_result(std::string& out, const LeagueBook& book, const MatchView& view) {
  const events::CompactResult& result = *view.result;
  const auto or_nothing = [](std::string_view text) { return text.empty() ? kNothing : text; };
  const auto choices = book.choices(view.match);
  const auto winner = game::winner_of(result.outcome);
  const std::string& reason = book.note(view.match).technical_reason;
  const std::string referee =
      view.referee < 0 ? std::string() : events::AgentRef::referee(view.referee).id();
  const std::string winner_id =
      winner ? events::AgentRef::player(view.pairing.player(*winner)).id() : std::string();
  const std::string number = result.drawn_number > 0 ? std::to_string(result.drawn_number) : "";
  add_line(out,
           {view.match.id().str(), std::to_string(view.attempt), or_nothing(referee),
            or_nothing(winner_id), or_nothing(number), or_nothing(choices[game::Side::kA]),
            or_nothing(choices[game::Side::kB]), reason.empty() ? "NORMAL" : reason,
            result.is_voided ? "VOID" : kNothing},
           '|');
}

}  // namespace

std::string table_text(const LeagueBook& book) {
  std::string text;
  for (const RankedPlayer& row : book.table()) {
    const Tally& tally = row.tally;
    add_line(text,
             {std::to_string(row.rank), events::AgentRef::player(row.player).id(),
              std::to_string(tally.played), std::to_string(tally.wins), std::to_string(tally.draws),
              std::to_string(tally.losses), std::to_string(tally.points)},
             '|');
  }
  return text;
}

std::string results_text(const LeagueBook& book) {
  const League& league = book.league();
  std::string text;
  for (int round = 1; round <= static_cast<int>(book.rounds().size()); ++round) {
    const auto first = league.schedule().index_of({round, 1});
    const auto count = static_cast<std::size_t>(league.schedule().matches_in(round));
    for (const auto& view : league.schedule_page(first, count)) {
      if (view.result) add_result(text, book, view);
    }
  }
  return text;
}

std::string heads_text(const LogHeads& heads) {
  std::vector<std::string> lines;
  for (const auto& [agent, head] : heads)
    add_line(lines.emplace_back(), {agent.id(), std::to_string(head.seq), head.hash}, ' ');
  std::ranges::sort(lines);
  std::string text;
  for (const auto& line : lines) text += line;
  return text;
}

std::string attestation_statement(const LeagueBook& book, const journal::JournalPosition& end,
                                  const std::optional<std::string>& supersedes) {
  const League& league = book.league();
  std::string text = "league.result 1\n" + league.settings().league_key + '\n';
  add_line(text, {"table", digest_of(table_text(book))}, ' ');
  add_line(text, {"results", digest_of(results_text(book))}, ' ');
  add_line(text, {"journal", std::to_string(end.sequence), core::to_hex(end.digest)}, ' ');
  add_line(text,
           {"heads", std::to_string(league.log_heads().size()),
            digest_of(heads_text(league.log_heads()))},
           ' ');
  if (supersedes) add_line(text, {"supersedes", digest_of(*supersedes)}, ' ');
  return text;
}

}  // namespace league::league_manager::files
