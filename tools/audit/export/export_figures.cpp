#include "tools/audit/export/export_figures.h"

#include <algorithm>
#include <array>
#include <limits>

#include "common/audit/log/log_reader.h"
#include "common/core/error_code.h"
#include "common/core/percentile.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/events/event_codec.h"
#include "tools/audit/facts/record.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;
LossCause cause_of_code(std::string_view code) {
  using core::ErrorCode;
  const auto parsed = core::parse_error_code(code);
  if (parsed == ErrorCode::kTimeout) return LossCause::kTimeout;
  if (parsed == ErrorCode::kConnectionError || parsed == ErrorCode::kPlayerUnavailable)
    return LossCause::kConnection;
  return LossCause::kInvalidAnswer;
}

/// Why the player on `side` lost a match that ended technically and that it did not win.
LossCause loss_cause(const lm::files::LeagueBook& book, lm::events::MatchKey match,
                     game::Side side) {
  if (const auto* cause = book.cause(match, side)) return cause_of_code(cause->error_code);
  const std::string& reason = book.note(match).technical_reason;
  if (reason == lm::events::kReasonPlayerShutDown) return LossCause::kShutDown;
  if (reason == lm::events::kReasonNoReferee || reason == lm::events::kReasonRoundTimeLimit)
    return LossCause::kNotItsFault;
  if (reason.find("TIMEOUT") != std::string::npos) return LossCause::kTimeout;
  if (reason.find("CONNECTION") != std::string::npos) return LossCause::kConnection;
  return LossCause::kInvalidAnswer;
}

OwnMatch own_match(const lm::files::LeagueBook& book, const lm::MatchView& view, game::Side side,
                   const lm::view::MatchTimelines& timelines) {
  const bool is_a = side == game::Side::kA;
  OwnMatch own{.view = view,
               .side = side,
               .opponent = is_a ? view.pairing.player_b : view.pairing.player_a,
               .points = {},
               .lost_technically = {},
               .answered_in_us = {}};
  const auto* timeline = timelines.find(view.match);
  if (timeline != nullptr && timeline->evidence) {
    const lm::events::AnswerTimes& times = timeline->evidence->answered_in[side];
    for (const auto& time : {times.join_us, times.choice_us})
      if (time) own.answered_in_us.push_back(*time);
  }
  if (!view.result || view.result->is_voided) return own;
  own.points = int{view.result->points[side]};
  if (view.result->is_technical() && game::winner_of(view.result->outcome) != side)
    own.lost_technically = loss_cause(book, view.match, side);
  return own;
}

void count_leniencies(const std::filesystem::path& logs, std::vector<PlayerFigures>& players,
                      std::vector<std::string>& notes) {
  if (logs.empty()) return;
  constexpr std::string_view kPlayer = "player:";
  for (const auto& path : audit::log::find_logs(logs)) {
    auto read = audit::log::read_log(path, [&](const audit::log::LogEntry& entry) {
      if (entry.outbound || entry.leniencies.empty() || HearsayFilter().is_hearsay(entry)) return;
      const std::string& named =
          entry.kind == "request" && !entry.said_by.empty() ? entry.said_by : entry.peer;
      if (!named.starts_with(kPlayer)) return;
      const auto player =
          lm::events::AgentRef::parse(std::string_view(named).substr(kPlayer.size()));
      if (!player || player->kind != lm::events::AgentKind::kPlayer ||
          static_cast<std::size_t>(player->index) >= players.size())
        return;
      PlayerFigures& figures = players[static_cast<std::size_t>(player->index)];
      const std::string teller = according_to(entry, named);
      for (const auto& leniency : entry.leniencies) {
        if (teller.empty()) {
          ++figures.leniencies[leniency];
        } else {
          ++figures.told_leniencies[{teller, leniency}];
        }
      }
    });
    if (!read) notes.push_back(read.error().message);
  }
}

}  // namespace

std::string_view loss_cause_name(LossCause cause) {
  constexpr std::array<std::string_view, kLossCauses> kNames = {
      "timeouts", "connection_failures", "invalid_answers", "shut_down", "not_its_fault"};
  return kNames[static_cast<std::size_t>(cause)];
}

int PlayerFigures::losses(LossCause cause) const {
  return static_cast<int>(
      std::ranges::count(matches, std::optional(cause), &OwnMatch::lost_technically));
}

int PlayerFigures::technical_losses() const {
  return static_cast<int>(std::ranges::count_if(
      matches, [](const OwnMatch& one) { return one.lost_technically.has_value(); }));
}

std::optional<double> PlayerFigures::answer_percentile(int percent) const {
  std::vector<std::int64_t> all;
  for (const auto& match : matches)
    all.insert(all.end(), match.answered_in_us.begin(), match.answered_in_us.end());
  if (all.empty()) return std::nullopt;
  std::ranges::sort(all);
  return static_cast<double>(core::percentile(all, percent / 100.0)) / 1000;
}

core::Result<lm::view::MatchTimelines> read_timelines(const std::filesystem::path& data) {
  lm::view::MatchTimelines timelines(std::numeric_limits<std::size_t>::max());
  auto read =
      journal::read_journal(data / "journal" / "journal.sqlite", [&](const journal::Entry& entry) {
        auto event = lm::events::from_record(entry.record);
        if (!event) return core::Result<void>(event.error());
        (void)timelines.take(*event);
        return core::Result<void>();
      });
  if (!read) return read.error();
  return timelines;
}

std::vector<PlayerFigures> read_figures(const std::filesystem::path& logs,
                                        const lm::files::LeagueBook& book,
                                        const lm::view::MatchTimelines& timelines,
                                        std::vector<std::string>& notes) {
  const lm::League& league = book.league();
  std::vector<PlayerFigures> players(
      static_cast<std::size_t>(league.roster().count(lm::events::AgentKind::kPlayer)));
  for (const auto& row : book.table()) players[static_cast<std::size_t>(row.player)].row = row;
  for (const auto& view : league.schedule_page(0, league.schedule().total_matches())) {
    if (view.match.round > static_cast<int>(book.rounds().size())) break;
    for (game::Side side : game::kBothSides) {
      const int player = side == game::Side::kA ? view.pairing.player_a : view.pairing.player_b;
      players[static_cast<std::size_t>(player)].matches.push_back(
          own_match(book, view, side, timelines));
    }
  }
  count_leniencies(logs, players, notes);
  // Seats that were freed before the start have no row.
  std::erase_if(players, [](const PlayerFigures& one) { return one.row.rank == 0; });
  return players;
}

}  // namespace league::tools::auditor
