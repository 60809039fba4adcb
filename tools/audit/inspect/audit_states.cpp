// What the manager's journal says about one player, for `league audit log`.
#include <algorithm>

#include "league_manager/files/journal_book.h"
#include "tools/audit/inspect/audit_report.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;

/// The reason of the loss in the journal, with its cause if that is known.
std::string reason_in(const lm::files::LeagueBook& book, lm::events::MatchKey match,
                      game::Side side) {
  std::string reason = book.note(match).technical_reason;
  const auto* cause = book.cause(match, side);
  if (cause == nullptr) return reason;
  reason += ": " + cause->str();
  return cause->text.empty() ? reason : reason + " (" + cause->text + ")";
}

void add_loss(const lm::files::LeagueBook& book, const lm::MatchView& view, game::Side side,
              AgentReport& report) {
  const std::string id = view.match.id().str();
  const std::string reason = reason_in(book, view.match, side);
  const auto known = std::ranges::find(report.losses, id, &TechnicalLoss::match_id);
  if (known != report.losses.end()) {
    known->reason = reason;
    return;
  }
  report.losses.push_back({book.note(view.match).finished_at, id, "", reason});
}

}  // namespace

core::Result<void> add_journal(const std::filesystem::path& data, AgentReport& report) {
  auto book = league_manager::files::read_book(data);
  if (!book) return book.error();
  const lm::League& league = book->league();
  const auto player = lm::events::AgentRef::parse(report.id());
  if (!player || player->kind != lm::events::AgentKind::kPlayer ||
      !league.roster().contains(*player))
    return {};
  for (const auto& note : book->state_changes()) {
    if (note.change.agent != *player) continue;
    report.states.push_back({note.at, std::string(agent_state_name(note.change.to)),
                             note.change.reason, note.change.detail.value_or("")});
  }
  for (int round = 1; round <= league.schedule().rounds(); ++round) {
    const auto match = league.schedule().match_of(player->index, round);
    const auto view = match ? league.match(*match) : std::nullopt;
    if (!view || !view->result || view->result->is_voided || !view->result->is_technical())
      continue;
    const auto side = view->pairing.player_a == player->index ? game::Side::kA : game::Side::kB;
    if (game::winner_of(view->result->outcome) != side) add_loss(*book, *view, side, report);
  }
  std::ranges::stable_sort(report.losses, {}, &TechnicalLoss::time);
  return {};
}

}  // namespace league::tools::auditor
