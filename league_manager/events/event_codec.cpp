#include "league_manager/events/event_codec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/core/crypto.h"
#include "league_manager/events/event_fields.h"

namespace league::league_manager {

using nlohmann::json;

namespace {

// Each event lists its fields once, in `fields`; Writer and Reader walk the same list.
class Writer {
 public:
  explicit Writer(json& out) : out_(out) {}
  template <typename T>
  void operator()(const char* key, T& value) {
    out_[key] = value;
  }
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) {
    if (value) out_[key] = *value;
  }
  /// Writes a flag, which is left out if false.
  void flag(const char* key, bool value) {
    if (value) out_[key] = true;
  }
  void operator()(const char* key, core::LeagueId& id) { out_[key] = id.str(); }
  void operator()(const char* key, FailureKind& kind) { out_[key] = failure_kind_name(kind); }
  void operator()(const char* key, MatchResult& result) { out_[key] = result_to_json(result); }
  void operator()(const char* key, AgentState& state) { out_[key] = agent_state_name(state); }
  void operator()(const char* key, Recognition& how) { out_[key] = recognition_name(how); }
  void operator()(const char* key, NotificationKind& kind) {
    out_[key] = notification_kind_name(kind);
  }
  void operator()(const char* key, OperatorAct& act) { out_[key] = operator_act_name(act); }
  void operator()(const char* key, std::optional<game::Fairness>& fairness) {
    if (fairness) out_[key] = game::fairness_name(*fairness);
  }
  void operator()(const char* key, std::vector<DrawSeed>& seeds) {
    json list = json::array();
    for (const auto& seed : seeds) list.push_back(core::to_hex(seed));
    out_[key] = std::move(list);
  }

 private:
  json& out_;
};

class Reader {
 public:
  explicit Reader(const json& in) : in_(in) {}
  template <typename T>
  void operator()(const char* key, T& value) {
    in_.at(key).get_to(value);
  }
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) {
    if (in_.contains(key)) value = in_.at(key).get<T>();
  }
  void flag(const char* key, bool& value) { value = in_.value(key, false); }
  void operator()(const char* key, core::LeagueId& id) { id = core::LeagueId(text(key)); }
  void operator()(const char* key, MatchResult& result) { result = result_from_json(in_.at(key)); }
  void operator()(const char* key, FailureKind& kind) {
    kind = named(key, parse_failure_kind(text(key)));
  }
  void operator()(const char* key, AgentState& state) {
    state = named(key, parse_agent_state(text(key)));
  }
  void operator()(const char* key, Recognition& how) {
    how = named(key, parse_recognition(text(key)));
  }
  void operator()(const char* key, NotificationKind& kind) {
    kind = named(key, parse_notification_kind(text(key)));
  }
  void operator()(const char* key, OperatorAct& act) {
    act = named(key, parse_operator_act(text(key)));
  }
  void operator()(const char* key, std::optional<game::Fairness>& fairness) {
    fairness.reset();
    if (in_.contains(key)) fairness = named(key, game::parse_fairness(text(key)));
  }
  void operator()(const char* key, std::vector<DrawSeed>& seeds) {
    seeds.clear();
    for (const auto& hex : in_.at(key)) {
      auto bytes = core::from_hex(hex.get_ref<const std::string&>());
      if (!bytes || bytes->size() != DrawSeed{}.size())
        throw std::invalid_argument("a draw seed is not 32 bytes");
      std::ranges::copy(*bytes, seeds.emplace_back().begin());
    }
  }

 private:
  [[nodiscard]] const std::string& text(const char* key) const {
    return in_.at(key).get_ref<const std::string&>();
  }
  template <typename T>
  T named(const char* key, std::optional<T> value) const {
    if (!value) throw std::invalid_argument("'" + text(key) + "' is not a value of '" + key + "'");
    return *value;
  }

  const json& in_;
};

void fields(auto& io, LeagueCreated& e) {
  io("league_id", e.league_id);
  io("game_type", e.game_type);
  io("players", e.players);
  io("referees", e.referees);
  io("league_key", e.league_key);
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
void fields(auto& io, OperatorActed& e) {
  io("act", e.act);
  io("by", e.by);
  io("reason", e.reason);
  io("match", e.match);
  io("replay", e.replay);
  io("seconds", e.seconds);
}

// In the order of EventBody.
constexpr std::array<std::string_view, std::variant_size_v<EventBody>> kTypes = {
    "LEAGUE_CREATED",      "AGENT_REGISTERED",         "AGENT_REREGISTERED",    "LEAGUE_STARTED",
    "ROUND_STARTED",       "MATCH_ASSIGNED",           "MATCH_RELEASED",        "MATCH_REPORTED",
    "MATCH_FORFEITED",     "REPORT_CONFLICT_RECORDED", "STALE_REPORT_RECORDED", "FAILURE_COUNTED",
    "AGENT_STATE_CHANGED", "ROUND_COMPLETED",          "LEAGUE_COMPLETED",      "LEAGUE_CONTINUED",
    "NEWS_DELIVERED",      "MATCH_DISPUTED",           "OPERATOR_ACTED"};

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

std::string_view event_type(const EventBody& body) { return kTypes[body.index()]; }

journal::EventRecord to_record(const Event& event) {
  json out = json::object();
  out["at"] = event.at.to_log();
  Writer writer(out);
  EventBody body = event.body;
  std::visit([&writer](auto& e) { fields(writer, e); }, body);
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

}  // namespace league::league_manager
