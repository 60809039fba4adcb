#include "league_manager/events/event_codec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

#include "common/core/crypto.h"
#include "common/schema/fields.h"

// Values that the journal holds as one text.
namespace league::schema {

namespace events = league_manager::events;

template <>
inline constexpr auto kText<events::AgentRef> =
    TextForm{&events::AgentRef::id, events::AgentRef::parse};
template <>
inline constexpr auto kText<events::MatchKey> =
    TextForm{[](events::MatchKey match) { return match.id().str(); }, events::MatchKey::parse};
template <>
inline constexpr auto kText<game::Outcome> = TextForm{game::outcome_name, game::parse_outcome};
template <>
inline constexpr auto kText<game::Fairness> = TextForm{game::fairness_name, game::parse_fairness};
template <>
inline constexpr auto kText<events::AgentState> =
    TextForm{events::agent_state_name, events::parse_agent_state};
template <>
inline constexpr auto kText<events::FailureKind> =
    TextForm{events::failure_kind_name, events::parse_failure_kind};
template <>
inline constexpr auto kText<events::Recognition> =
    TextForm{events::recognition_name, events::parse_recognition};
template <>
inline constexpr auto kText<events::NotificationKind> =
    TextForm{events::notification_kind_name, events::parse_notification_kind};
template <>
inline constexpr auto kText<events::ReceiptState> =
    TextForm{events::receipt_state_name, events::parse_receipt_state};
template <>
inline constexpr auto kText<events::PlayerWord> =
    TextForm{events::player_word_name, events::parse_player_word};
template <>
inline constexpr auto kText<events::OperatorAct> =
    TextForm{events::operator_act_name, events::parse_operator_act};
template <>
inline constexpr auto kText<game::Seed> =
    TextForm{[](const game::Seed& seed) { return core::to_hex(seed); },
             [](std::string_view hex) -> std::optional<game::Seed> {
               const auto bytes = core::from_hex(hex);
               game::Seed seed{};
               if (!bytes || bytes->size() != seed.size()) return std::nullopt;
               std::ranges::copy(*bytes, seed.begin());
               return seed;
             }};

static bool read_value(Reading& reading, JsonNode in, std::optional<game::Definition>& value,
                       const FieldPath& at) {
  auto game = game::Definition::read(in.to_json());
  if (!game)
    return reading.fail(core::ErrorCode::kInvalidFieldValue, at,
                        "is no game: " + game.error().message);
  value = std::move(*game);
  return true;
}
static void write_value(FieldSink& out, const std::optional<game::Definition>& value) {
  out.json(value->to_json().dump());
}
static DescribedField list_value(Of<std::optional<game::Definition>> /*unused*/, const Rule& rule) {
  return {.type = "object", .rule = rule};
}

}  // namespace league::schema

namespace league::game {

static void describe(schema::Fields& a, MatchResult& e) {
  a.required("outcome", e.outcome);
  a.optional("drawn_number", e.drawn_number, "choice_a", e.choices[Side::kA], "choice_b",
             e.choices[Side::kB]);
  a.filled("technical_reason", e.technical_reason);
}

}  // namespace league::game

namespace league::league_manager::events {

using nlohmann::json;
using schema::Fields;

void describe(Fields& a, AgentProfile& e) {
  a.required("display_name", e.display_name, "version", e.version, "game_types", e.game_types,
             "endpoint", e.endpoint, "max_concurrent_matches", e.max_concurrent_matches,
             "assignments_in_ack", e.assignments_in_ack);
  a.optional("protocol_version", e.protocol_version, "contact_email", e.contact_email,
             "log_public_key", e.log_public_key);
  a.flag("hears_events", e.hears_events);
  a.flag("match_credentials", e.match_credentials);
  a.filled("manager_url", e.manager_url);
  a.flag("is_from_loopback", e.is_from_loopback);
  a.optional("code_digest", e.code_digest);
  a.flag("receipts", e.receipts);
  a.flag("batches", e.batches);
  a.filled("played_by", e.played_by);
}
void describe(Fields& a, Credential& e) {
  a.required("nonce", e.nonce, "token_hash", e.token_hash);
}
void describe(Fields& a, FailureCause& e) {
  a.required("call", e.call, "error_code", e.error_code, "attempts", e.attempts, "text", e.text);
  a.filled("field", e.field);
}
void describe(Fields& a, ReportEvidence& e) {
  for (game::Side side : game::kBothSides) {
    a.object(side == game::Side::kA ? "A" : "B", [&](Fields& of_side) {
      of_side.optional("commitment", e.bindings.commitments[side], "nonce", e.bindings.nonces[side],
                       "join_us", e.answered_in[side].join_us, "choice_us",
                       e.answered_in[side].choice_us);
    });
  }
}
void describe(Fields& a, PlayerReceipts& e) {
  a.required("state", e.state);
  a.optional("join", e.join, "choice", e.choice);
}
void describe(Fields& a, game::PerSide<PlayerReceipts>& e) {
  a.required("A", e[game::Side::kA], "B", e[game::Side::kB]);
}
void describe(Fields& a, HeardPlayer& e) {
  a.required("player", e.player, "word", e.word, "text", e.text);
}
void describe(Fields& a, AgentLogHead& e) {
  a.required("agent", e.agent, "seq", e.seq, "hash", e.hash);
}
void describe(Fields& a, MatchSummary& e) {
  a.required("total_matches", e.total_matches, "wins", e.wins, "draws", e.draws, "technical_losses",
             e.technical_losses);
}
void describe(Fields& a, LeagueCreated& e) {
  a.required("league_id", e.league_id, "game_type", e.game_type, "players", e.players, "referees",
             e.referees);
  a.optional("league_key", e.league_key);
  a.flag("files_keyed", e.files_keyed);
  a.optional("meetings", e.meetings, "game", e.game);
}
void describe(Fields& a, AgentRegistered& e) {
  a.required("agent", e.agent, "profile", e.profile, "credential", e.credential,
             "registration_nonce_hash", e.registration_nonce_hash);
}
void describe(Fields& a, AgentReregistered& e) {
  a.required("agent", e.agent, "profile", e.profile, "credential", e.credential,
             "registration_nonce_hash", e.registration_nonce_hash, "recognised_by",
             e.recognised_by);
}
void describe(Fields& a, LeagueStarted& e) {
  a.required("players", e.players, "referees", e.referees, "schedule_rule", e.schedule_rule);
}
void describe(Fields& a, RoundStarted& e) {
  a.required("round", e.round, "draw_seeds", e.draw_seeds, "planned_referees", e.planned_referees);
}
void describe(Fields& a, MatchAssigned& e) {
  a.required("match", e.match, "attempt", e.attempt, "referee", e.referee);
  a.optional("after", e.after);
}
void describe(Fields& a, MatchReleased& e) {
  a.required("match", e.match, "attempt", e.attempt, "reason", e.reason, "is_excused",
             e.is_excused);
}
void describe(Fields& a, MatchReported& e) {
  a.required("match", e.match, "attempt", e.attempt, "referee", e.referee, "result", e.result);
  a.optional("fairness", e.fairness);
  a.flag("unproven", e.is_unproven);
  a.optional("evidence", e.evidence, "receipts", e.receipts);
}
void describe(Fields& a, MatchForfeited& e) { a.required("match", e.match, "result", e.result); }
void describe(Fields& a, ReportConflictRecorded& e) {
  a.required("match", e.match, "referee", e.referee, "result", e.result);
}
void describe(Fields& a, StaleReportRecorded& e) {
  a.required("match", e.match, "attempt", e.attempt, "referee", e.referee);
}
void describe(Fields& a, FailureCounted& e) {
  a.required("agent", e.agent, "kind", e.kind);
  a.optional("match", e.match, "cause", e.cause);
  a.flag("excused", e.is_excused);
}
void describe(Fields& a, AgentStateChanged& e) {
  a.required("agent", e.agent, "to", e.to, "reason", e.reason);
  a.optional("detail", e.detail, "by", e.by);
}
void describe(Fields& a, RoundCompleted& e) { a.required("round", e.round, "summary", e.summary); }
void describe(Fields& a, LeagueCompleted& e) { a.required("champion", e.champion); }
void describe(Fields& a, LeagueContinued& e) { a.optional("term", e.term, "given_up", e.given_up); }
void describe(Fields& a, NotificationDelivered& e) { a.required("news", e.kind, "round", e.round); }
void describe(Fields& a, MatchDisputed& e) {
  a.required("match", e.match, "player", e.player, "reason", e.reason);
}
void describe(Fields& a, PlayersAsked& e) {
  a.required("match", e.match, "attempt", e.attempt, "referee", e.referee, "words", e.words);
}
void describe(Fields& a, LogHeadsRecorded& e) { a.required("round", e.round, "heads", e.heads); }
void describe(Fields& a, OperatorActed& e) {
  a.required("act", e.act, "by", e.by, "reason", e.reason);
  a.optional("match", e.match, "replay", e.replay, "seconds", e.seconds);
}

namespace {

/// An event of that type with default values; nothing if there is none.
template <std::size_t I = 0>
std::optional<EventBody> empty_body(std::string_view type) {
  if constexpr (I == std::variant_size_v<EventBody>) {
    return std::nullopt;
  } else {
    using Body = std::variant_alternative_t<I, EventBody>;
    return type == Body::kType ? EventBody(Body{}) : empty_body<I + 1>(type);
  }
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

std::string_view event_type(const EventBody& body) {
  return std::visit([](const auto& one) { return one.kType; }, body);
}

journal::EventRecord to_record(const Event& event) {
  const json out = schema::object_to_json([&event](Fields& a) {
    std::visit([&a](const auto& body) { a.fields_of(body); }, event.body);
    a.required("at", event.at.to_log());
  });
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
  auto empty = empty_body(record.type);
  if (!empty) return unreadable(record, "the type is unknown");
  try {
    const json in = parse_journal_json(record.payload);
    Event event{{}, std::move(*empty)};
    auto done = schema::read_object(schema::JsonTree(in).root(), [&event](Fields& a) {
      std::visit([&a](auto& body) { a.fields_of(body); }, event.body);
      a.required("at", event.at);
    });
    if (!done) return unreadable(record, done.error().message);
    return event;
  } catch (const std::exception& problem) {
    return unreadable(record, problem.what());
  }
}

}  // namespace league::league_manager::events
