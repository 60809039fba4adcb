#include "tools/audit/rules/evidence.h"

#include <algorithm>

#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
void describe(schema::Fields& a, ReportedClock& clock) {
  a.defaulted("limit_ms", clock.limit_ms, "scheduling_delay_us", clock.scheduling_delay_us,
              "canary_us", clock.canary_us, "seat_delay_us", clock.seat_delay_us, "void",
              clock.is_void);
  instant(a, "sent_at", clock.sent_us);
}

void describe(schema::Fields& a, ReportedFailure& failure) {
  a.defaulted("player_id", failure.player, "call", failure.call, "error_code", failure.code,
              "phase", failure.phase, "attempt", failure.attempt, "clock", failure.clock);
}

struct ReportDetails {
  std::string termination, kind, seed;
  std::optional<std::int64_t> attempt, version;
  std::int64_t replays = 0;
  std::vector<ReportedFailure> failures;
  nlohmann::json number, choices, commitments, nonces;
};

void describe(schema::Fields& a, ReportDetails& details) {
  a.defaulted("termination", details.termination, "attempt", details.attempt, "replays",
              details.replays, "failures", details.failures, "number_parity", details.kind,
              "draw_proof", details.seed, "draw_version", details.version, "drawn_number",
              details.number, "choices", details.choices, "choice_commitments", details.commitments,
              "choice_nonces", details.nonces);
}

namespace {

using nlohmann::json;

game::ByPlayer by_player(const json& values) {
  game::ByPlayer found;
  if (!values.is_object()) return found;
  for (const auto& [player, value] : values.items()) {
    if (value.is_string()) {
      found.emplace_back(player, value.get<std::string>());
    } else {
      found.emplace_back(player, std::nullopt);
    }
  }
  return found;
}

/// A number of points or a drawn number; nothing if it is not a small integer.
std::optional<int> small_number(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  auto number = value.get<std::int64_t>();
  if (number < -1'000'000 || number > 1'000'000) return std::nullopt;
  return static_cast<int>(number);
}

std::string read_result(const json& result, game::Claim& claim) {
  if (!result.is_object()) return "result is not an object";
  const json& details = field_at(result, "details");
  const json& winner = field_at(result, "winner");
  const json& score = field_at(result, "score");
  if (!winner.is_null() && !winner.is_string()) return "winner is neither a string nor null";
  if (winner.is_string() && winner != "") claim.winner = winner.get<std::string>();
  if (!score.is_object() || score.empty()) return "there is no score";
  claim.score.emplace();
  for (const auto& [player, points] : score.items()) {
    auto number = small_number(points);
    if (!number) return "the points are not whole numbers";
    claim.score->emplace_back(player, *number);
  }
  if (!details.is_object() && !details.is_null()) return "details is not an object";
  return {};
}

}  // namespace

std::vector<ReportedFailure> failures_in(const json& result) {
  return schema::read_loosely<ReportDetails>(field_at(result, "details")).failures;
}

ReadReport read_report(const AcceptedReport& report) {
  ReadReport read;
  read.form_error = read_result(report.result, read.claim);
  auto said = schema::read_loosely<ReportDetails>(field_at(report.result, "details"));
  read.termination = std::move(said.termination);
  read.attempt = said.attempt;
  read.replays = said.replays;
  read.failures = std::move(said.failures);
  const auto filled = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  read.claim.drawn_number = small_number(said.number);
  if (!read.claim.drawn_number && !said.number.is_null())
    read.claim.drawn_number = -1;  // an impossible number, so that the judge refuses it
  read.claim.number_kind = filled(said.kind);
  read.claim.choices = by_player(said.choices);
  read.claim.commitments = by_player(said.commitments);
  read.claim.nonces = by_player(said.nonces);
  if (said.version)
    read.claim.draw_version = static_cast<int>(std::clamp<std::int64_t>(*said.version, -1, 99));
  read.claim.seed = filled(said.seed);
  // A result with a number was played even if it does not say how it ended.
  read.is_played = read.termination == "NORMAL" ||
                   (read.termination.empty() && read.claim.drawn_number.value_or(0) != 0);
  if (!read.is_played)
    read.claim.technical_reason = read.termination.empty() ? "UNKNOWN" : read.termination;
  return read;
}

std::vector<ReportedFailure> ReadReport::failures_of(const std::string& player) const {
  std::vector<ReportedFailure> found;
  std::ranges::copy_if(failures, std::back_inserter(found),
                       [&](const ReportedFailure& one) { return one.player == player; });
  return found;
}

std::set<std::string> ReadReport::failed() const {
  std::set<std::string> players;
  for (const ReportedFailure& one : failures) players.insert(one.player);
  return players;
}

std::optional<game::Outcome> outcome_in(const json& result, const MatchEvidence& match,
                                        const LeagueEvidence& evidence) {
  const json& score = field_at(result, "score");
  auto a = number_at(score, match.player_a.c_str());
  auto b = number_at(score, match.player_b.c_str());
  const auto rules = evidence.game_of(match.game_type);
  if (!rules || !a || !b) return std::nullopt;
  const std::string& termination = text_at(field_at(result, "details"), "termination");
  const auto outcome = (*rules)->outcome_of({{static_cast<int>(*a), static_cast<int>(*b)}},
                                            !termination.empty() && termination != "NORMAL");
  if (!outcome) return std::nullopt;
  const auto side = game::winner_of(*outcome);
  const std::string winner = !side                     ? std::string()
                             : *side == game::Side::kA ? match.player_a
                                                       : match.player_b;
  return text_at(result, "winner") == winner ? outcome : std::nullopt;
}

std::optional<std::string> value_of(const game::ByPlayer& values, const std::string& player) {
  const auto found = std::ranges::find(values, player, &game::ByPlayer::value_type::first);
  return found == values.end() ? std::nullopt : found->second;
}

LeagueEvidence::LeagueEvidence(const std::vector<LeagueLog>& logs, const JournalLeague* kept)
    : logs_(logs), game_(kept != nullptr ? kept->game : nullptr) {
  for (const LeagueLog& log : logs_) {
    bool is_manager = log.names.contains("league_manager");
    if (is_manager && !log.facts.league.key.empty()) knows_credentials_ = true;
    for (const auto& [told, place] : is_manager ? log.facts.games : decltype(log.facts.games)()) {
      if (!game_) game_ = std::make_shared<const game::Definition>(told);
      if (told != *game_ && !other_game_) other_game_ = place;
    }
    for (const Assignment& one : log.facts.assignments)
      matches_[one.match_id].assignments.push_back(&one);
    for (const AcceptedReport& one : log.facts.reports)
      matches_[one.match_id].reports.push_back(&one);
    for (const Dispute& one : log.facts.disputes) matches_[one.match_id].disputes.push_back(&one);
  }
  for (Source source : {Source::kManagersLog, Source::kManagersWord, Source::kReferees}) {
    for (const LeagueLog& log : logs_) take_descriptions(log, source);
  }
  for (const LeagueLog& log : logs_) take_calls(log);
}

core::Result<game::SharedDefinition> LeagueEvidence::game_of(const std::string& game_type) const {
  if (game_ && game_->game_type() == game_type) return game_;
  return game::Games::standard().find(game_type);
}

/// Takes descriptions of matches from one kind of source: the manager may describe any match, a
/// referee only its own.
void LeagueEvidence::take_descriptions(const LeagueLog& log, Source source) {
  if ((source == Source::kManagersLog) != log.names.contains("league_manager")) return;
  for (const Described& one : log.facts.matches) {
    if ((one.sender != "league_manager") != (source == Source::kReferees)) continue;
    auto known = matches_.find(one.match_id);
    if (source == Source::kReferees &&
        (known == matches_.end() || !is_referee_of(one.sender, known->second)))
      continue;
    MatchEvidence& match = matches_[one.match_id];
    if (!one.commitment.empty()) {
      match.commitments.try_emplace(one.commitment, one.place);
      if (match.promised.empty()) match.promised = one.commitment;
      bool is_other = one.commitment != match.promised &&
                      (match.other == nullptr || one.time_us < match.other->time_us);
      if (is_other) match.other = &one;
    }
    if (match.player_a.empty()) match.player_a = one.player_a;
    if (match.player_b.empty()) match.player_b = one.player_b;
    if (match.game_type.empty()) match.game_type = one.game_type;
    if (match.round == 0) match.round = one.round;
  }
}

void LeagueEvidence::take_calls(const LeagueLog& log) {
  for (const GameCall& call : log.facts.calls) {
    auto match = matches_.find(call.match_id);
    if (match == matches_.end()) continue;
    if (log.names.contains("player:" + call.player)) match->second.own.push_back(&call);
    if (log.names.contains(call.referee)) match->second.at_referee.push_back(&call);
  }
}

const Assignment* MatchEvidence::assigned_in(const std::string& conversation) const {
  const Assignment* last = nullptr;  // those asked before it have refused
  for (const Assignment* one : assignments) {
    if (one->conversation == conversation) last = one;
  }
  return last;
}

/// If the manager's log does not say who has a match, any admitted referee may have it.
bool LeagueEvidence::is_referee_of(const std::string& referee, const MatchEvidence& match) {
  return match.assignments.empty() ||
         std::ranges::any_of(match.assignments, [&](const Assignment* one) {
           return "referee:" + one->referee == referee;
         });
}

std::string LeagueEvidence::conversation_of(const AcceptedReport& report,
                                            const MatchEvidence& match) {
  if (match.assigned_in(report.conversation) != nullptr) return report.conversation;
  const Assignment* last = nullptr;
  for (const Assignment* one : match.assignments) {
    if (one->time_us <= report.time_us) last = one;
  }
  return last == nullptr ? report.conversation : last->conversation;
}

bool LeagueEvidence::is_of(const AcceptedReport& report, const MatchEvidence& match,
                           const GameCall& call) {
  if (call.conversation == report.conversation ||
      call.conversation == conversation_of(report, match))
    return true;
  // A third-party referee may call the players in one conversation and report in another.
  return call.referee == report.sender && match.assigned_in(call.conversation) == nullptr;
}

std::vector<const GameCall*> LeagueEvidence::own_calls(const AcceptedReport& report,
                                                       const MatchEvidence& match,
                                                       const std::string& player) {
  std::vector<const GameCall*> found;
  for (const GameCall* call : match.own) {
    if (call->player == player && is_of(report, match, *call)) found.push_back(call);
  }
  std::ranges::stable_sort(found, {}, &GameCall::time_us);
  return found;
}

const MatchEvidence* LeagueEvidence::match(const std::string& id) const {
  auto found = matches_.find(id);
  return found == matches_.end() ? nullptr : &found->second;
}

const LeagueLog* LeagueEvidence::log_of(const std::string& agent) const {
  auto found =
      std::ranges::find_if(logs_, [&](const auto& log) { return log.names.contains(agent); });
  return found == logs_.end() ? nullptr : &*found;
}

std::vector<const Registration*> LeagueEvidence::registrations_of(const std::string& agent) const {
  std::vector<const Registration*> found;
  for (const LeagueLog& log : logs_) {
    for (const Registration& one : log.facts.registrations) {
      if (one.agent == agent) found.push_back(&one);
    }
  }
  return found;
}

bool LeagueEvidence::has_match_credentials(const std::string& referee) const {
  return std::ranges::any_of(registrations_of(referee),
                             [](const Registration* one) { return one->match_credentials; });
}

std::optional<std::string> LeagueEvidence::commitment_of(const MatchEvidence& match) {
  return match.promised.empty() ? std::nullopt : std::optional(match.promised);
}

}  // namespace league::tools::auditor
