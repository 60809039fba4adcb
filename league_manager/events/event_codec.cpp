#include "league_manager/events/event_codec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

#include "league_manager/events/event_archive.h"

namespace league::league_manager::events {

void fields(auto& io, AgentProfile& e) {
  io("display_name", e.display_name);
  io("version", e.version);
  io("game_types", e.game_types);
  io("endpoint", e.endpoint);
  io("max_concurrent_matches", e.max_concurrent_matches);
  io("assignments_in_ack", e.assignments_in_ack);
  io("protocol_version", e.protocol_version);
  io("contact_email", e.contact_email);
  io("log_public_key", e.log_public_key);
  io.flag("hears_events", e.hears_events);
  io.flag("match_credentials", e.match_credentials);
  io.filled("manager_url", e.manager_url);
  io.flag("is_from_loopback", e.is_from_loopback);
  io("code_digest", e.code_digest);
  io.flag("receipts", e.receipts);
  io.flag("batches", e.batches);
  io.filled("played_by", e.played_by);
}
void fields(auto& io, Credential& e) {
  io("nonce", e.nonce);
  io("token_hash", e.token_hash);
}
void fields(auto& io, game::MatchResult& e) {
  io("outcome", e.outcome);
  io("drawn_number", e.drawn_number);
  io("choice_a", e.choices[game::Side::kA]);
  io("choice_b", e.choices[game::Side::kB]);
  io.filled("technical_reason", e.technical_reason);
}
void fields(auto& io, FailureCause& e) {
  io("call", e.call);
  io("error_code", e.error_code);
  io("attempts", e.attempts);
  io("text", e.text);
  io.filled("field", e.field);
}
void fields(auto& io, ReportEvidence& e) {
  for (game::Side side : game::kBothSides) {
    io.object(side == game::Side::kA ? "A" : "B", [&](auto& of_side) {
      of_side("commitment", e.bindings.commitments[side]);
      of_side("nonce", e.bindings.nonces[side]);
      of_side("join_us", e.answered_in[side].join_us);
      of_side("choice_us", e.answered_in[side].choice_us);
    });
  }
}
void fields(auto& io, PlayerReceipts& e) {
  io("state", e.state);
  io("join", e.join);
  io("choice", e.choice);
}
void fields(auto& io, game::PerSide<PlayerReceipts>& e) {
  io("A", e[game::Side::kA]);
  io("B", e[game::Side::kB]);
}
void fields(auto& io, HeardPlayer& e) {
  io("player", e.player);
  io("word", e.word);
  io("text", e.text);
}
void fields(auto& io, AgentLogHead& e) {
  io("agent", e.agent);
  io("seq", e.seq);
  io("hash", e.hash);
}
void fields(auto& io, MatchSummary& e) {
  io("total_matches", e.total_matches);
  io("wins", e.wins);
  io("draws", e.draws);
  io("technical_losses", e.technical_losses);
}
void fields(auto& io, LeagueCreated& e) {
  io("league_id", e.league_id);
  io("game_type", e.game_type);
  io("players", e.players);
  io("referees", e.referees);
  io("league_key", e.league_key);
  io.flag("files_keyed", e.files_keyed);
  io("meetings", e.meetings);
  io("game", e.game);
}
void fields(auto& io, AgentRegistered& e) {
  io("agent", e.agent);
  io("profile", e.profile);
  io("credential", e.credential);
  io("registration_nonce_hash", e.registration_nonce_hash);
}
void fields(auto& io, AgentReregistered& e) {
  io("agent", e.agent);
  io("profile", e.profile);
  io("credential", e.credential);
  io("registration_nonce_hash", e.registration_nonce_hash);
  io("recognised_by", e.recognised_by);
}
void fields(auto& io, LeagueStarted& e) {
  io("players", e.players);
  io("referees", e.referees);
  io("schedule_rule", e.schedule_rule);
}
void fields(auto& io, RoundStarted& e) {
  io("round", e.round);
  io("draw_seeds", e.draw_seeds);
  io("planned_referees", e.planned_referees);
}
void fields(auto& io, MatchAssigned& e) {
  io("match", e.match);
  io("attempt", e.attempt);
  io("referee", e.referee);
  io("after", e.after);
}
void fields(auto& io, MatchReleased& e) {
  io("match", e.match);
  io("attempt", e.attempt);
  io("reason", e.reason);
  io("is_excused", e.is_excused);
}
void fields(auto& io, MatchReported& e) {
  io("match", e.match);
  io("attempt", e.attempt);
  io("referee", e.referee);
  io("result", e.result);
  io("fairness", e.fairness);
  io.flag("unproven", e.is_unproven);
  io("evidence", e.evidence);
  io("receipts", e.receipts);
}
void fields(auto& io, MatchForfeited& e) {
  io("match", e.match);
  io("result", e.result);
}
void fields(auto& io, ReportConflictRecorded& e) {
  io("match", e.match);
  io("referee", e.referee);
  io("result", e.result);
}
void fields(auto& io, StaleReportRecorded& e) {
  io("match", e.match);
  io("attempt", e.attempt);
  io("referee", e.referee);
}
void fields(auto& io, FailureCounted& e) {
  io("agent", e.agent);
  io("kind", e.kind);
  io("match", e.match);
  io("cause", e.cause);
  io.flag("excused", e.is_excused);
}
void fields(auto& io, AgentStateChanged& e) {
  io("agent", e.agent);
  io("to", e.to);
  io("reason", e.reason);
  io("detail", e.detail);
  io("by", e.by);
}
void fields(auto& io, RoundCompleted& e) {
  io("round", e.round);
  io("summary", e.summary);
}
void fields(auto& io, LeagueCompleted& e) { io("champion", e.champion); }
void fields(auto& io, LeagueContinued& e) {
  io("term", e.term);
  io("given_up", e.given_up);
}
void fields(auto& io, NotificationDelivered& e) {
  io("news", e.kind);
  io("round", e.round);
}
void fields(auto& io, MatchDisputed& e) {
  io("match", e.match);
  io("player", e.player);
  io("reason", e.reason);
}
void fields(auto& io, PlayersAsked& e) {
  io("match", e.match);
  io("attempt", e.attempt);
  io("referee", e.referee);
  io("words", e.words);
}
void fields(auto& io, LogHeadsRecorded& e) {
  io("round", e.round);
  io("heads", e.heads);
}
void fields(auto& io, OperatorActed& e) {
  io("act", e.act);
  io("by", e.by);
  io("reason", e.reason);
  io("match", e.match);
  io("replay", e.replay);
  io("seconds", e.seconds);
}

namespace {

// In the order of EventBody.
constexpr std::array<std::string_view, std::variant_size_v<EventBody>> kTypes = {
    "LEAGUE_CREATED",           "AGENT_REGISTERED",      "AGENT_REREGISTERED",
    "LEAGUE_STARTED",           "ROUND_STARTED",         "MATCH_ASSIGNED",
    "MATCH_RELEASED",           "MATCH_REPORTED",        "MATCH_FORFEITED",
    "REPORT_CONFLICT_RECORDED", "STALE_REPORT_RECORDED", "FAILURE_COUNTED",
    "AGENT_STATE_CHANGED",      "ROUND_COMPLETED",       "LEAGUE_COMPLETED",
    "LEAGUE_CONTINUED",         "NEWS_DELIVERED",        "MATCH_DISPUTED",
    "OPERATOR_ACTED",           "PLAYERS_ASKED",         "LOG_HEADS"};

/// An event body of the `index`-th type with default values.
template <std::size_t... I>
EventBody empty_body(std::size_t index, std::index_sequence<I...>) {
  using Make = EventBody (*)();
  constexpr std::array<Make, sizeof...(I)> kMakers = {
      []() -> EventBody { return std::variant_alternative_t<I, EventBody>{}; }...};
  return kMakers[index]();
}

core::Error unreadable(const journal::EventRecord& record, const std::string& why) {
  return {core::ErrorCode::kInternalError,
          "journal record of type '" + record.type + "' cannot be read: " + why +
              "; it is damaged or was written by a later version",
          ""};
}

}  // namespace

json parse_journal_json(std::string_view text) {
  return json::parse(text, [](int /*depth*/, json::parse_event_t /*event*/, json& value) {
    if (value.is_number_float())
      throw std::invalid_argument("the number " + value.dump() + " is not whole, or too large");
    return true;
  });
}

std::string_view event_type(const EventBody& body) { return kTypes[body.index()]; }

journal::EventRecord to_record(const Event& event) {
  json out;
  Writer writer(out);
  EventBody body = event.body;
  std::visit([&writer](auto& e) { fields(writer, e); }, body);
  out["at"] = event.at.to_log();
  return {std::string(event_type(event.body)),
          out.dump(-1, ' ', false, json::error_handler_t::replace)};
}

std::vector<journal::EventRecord> to_records(const Events& events) {
  std::vector<journal::EventRecord> records;
  records.reserve(events.size());
  for (const auto& event : events) records.push_back(to_record(event));
  return records;
}

core::Result<Event> from_record(const journal::EventRecord& record) {
  auto type = std::ranges::find(kTypes, record.type);
  if (type == kTypes.end()) return unreadable(record, "the type is unknown");
  try {
    json in = parse_journal_json(record.payload);
    auto at = core::UtcTimestamp::parse(in.at("at").get_ref<const std::string&>());
    if (!at) return unreadable(record, at.error().message);
    Event event{*at, empty_body(static_cast<std::size_t>(type - kTypes.begin()),
                                std::make_index_sequence<std::variant_size_v<EventBody>>())};
    Reader reader(in);
    std::visit([&reader](auto& e) { fields(reader, e); }, event.body);
    return event;
  } catch (const std::exception& problem) {
    return unreadable(record, problem.what());
  }
}

}  // namespace league::league_manager::events
