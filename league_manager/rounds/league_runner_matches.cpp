#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "common/envelope/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "league_manager/rounds/league_runner.h"
#include "league_manager/rounds/league_view.h"

// How a LeagueRunner gives matches to referees and takes back what they cannot play.
namespace league::league_manager::rounds {
namespace {

using envelope::MessageType;

/// The text `member` of the referee's reason for refusing `match`; empty if there is none.
const std::string& reason_text(const nlohmann::json& acknowledgement, const std::string& match,
                               const char* member) {
  const auto& reasons = schema::field_at(acknowledgement, "reasons");
  return schema::text_at(schema::field_at(reasons, match.c_str()), member);
}

/// A little more than the five seconds after which polling referees poll again.
constexpr std::chrono::seconds kPollingPeriod{6};

/// Whether all other referees are suspended or shut down.
bool is_alone(const League& league, int referee) {
  for (int i = 0; i < league.roster().count(events::AgentKind::kReferee); ++i) {
    const auto state = league.roster().agent(events::AgentRef::referee(i)).lifecycle.state();
    if (i != referee && state != events::AgentState::kSuspended &&
        state != events::AgentState::kShutdown)
      return false;
  }
  return true;
}

/// The reason of a refusal, for people.
std::string reason_of_refusal(const nlohmann::json& acknowledgement, const std::string& match) {
  const std::string& code = reason_text(acknowledgement, match, "error_code");
  if (code.empty()) return "it gives no reason";
  return code + " " + reason_text(acknowledgement, match, "error_description");
}

/// True when the referee may not call one of the match's players: this is not its fault and does
/// not count as a failure.
bool is_forbidden_to_referee(const nlohmann::json& acknowledgement, const std::string& match) {
  return reason_text(acknowledgement, match, "error_code") ==
         core::wire_code(core::ErrorCode::kEndpointNotAllowed);
}

}  // namespace

std::vector<envelope::MatchAssignment> LeagueRunner::assignments(
    int referee, const std::vector<events::MatchKey>& matches) const {
  std::vector<envelope::MatchAssignment> all;
  deps_.ledger.read([&](const League& league) {
    for (auto match : matches) {
      auto assignment = match_assignment(league, match, deps_.token_issuer);
      if (assignment && assignment->referee_id.str() == events::AgentRef::referee(referee).id())
        all.push_back(std::move(*assignment));
    }
  });
  add_dialects(all);
  return all;
}

void LeagueRunner::deliver_grouped(const std::vector<events::MatchAssigned>& assigned) {
  std::map<int, std::vector<events::MatchKey>> by_referee;
  for (const auto& one : assigned) by_referee[one.referee].push_back(one.match);
  for (const auto& [referee, matches] : by_referee) {
    announce_moved(referee, matches,
                   [this, referee = referee, matches = matches] { deliver(referee, matches, 1); });
  }
}

std::optional<agent::peers::PeerCall> LeagueRunner::assignment_call(
    int referee, const std::vector<events::MatchKey>& matches) const {
  agent::peers::Peer peer;
  envelope::RoundAssignment message;
  core::AuthToken token;
  bool is_foreign = false;
  deps_.ledger.read([&](const League& league) {
    events::AgentRef ref = events::AgentRef::referee(referee);
    const events::Agent& agent = league.roster().agent(ref);
    if (auto endpoint = transport::link::parse_endpoint(agent.profile.endpoint))
      peer.endpoint = std::move(*endpoint);
    peer.name = ref.sender();
    is_foreign = !agent.profile.match_credentials;
    token = deps_.token_issuer.token(ref.id(), agent.credential.nonce);
    for (auto match : matches) {
      auto assignment = match_assignment(league, match, deps_.token_issuer);
      if (assignment && assignment->referee_id.str() == ref.id())
        message.matches.push_back(std::move(*assignment));
    }
  });
  if (message.matches.empty()) return std::nullopt;
  add_dialects(message.matches);
  int round = matches.front().round;
  auto conversation = envelope::round_conversation(round, MessageType::kRoundAnnouncement);
  auto envelope = deps_.envelopes.make(
      MessageType::kRoundAnnouncement,
      {.conversation_id = conversation, .auth_token = token, .round_id = round});
  auto encoded = envelope::encode(envelope, message);
  if (is_foreign) add_spellings(encoded["matches"]);
  agent::peers::PeerCall call =
      agent::peers::call_with(std::move(peer), envelope, rpc::to_json_text(encoded),
                              deps_.settings.time_limit(envelope.type));
  call.budget = transport::link::Budget::kGame;
  return call;
}

void LeagueRunner::note_polling(int referee) {
  {
    std::lock_guard lock(mutex_);
    polling_.insert_or_assign(referee, deps_.clock.steady_now());
    failed_pings_[referee] = 0;
  }
  const events::AgentRef agent = events::AgentRef::referee(referee);
  const bool is_suspended = deps_.ledger.read([agent](const League& league) {
    return league.roster().agent(agent).lifecycle.state() == events::AgentState::kSuspended;
  });
  if (is_suspended) on_alive(agent, events::kReasonHeardAgain);
}

bool LeagueRunner::has_polled_lately(int referee) const {
  const auto found = polling_.find(referee);
  return found != polling_.end() && deps_.clock.steady_now() - found->second <= kPollingPeriod;
}

void LeagueRunner::note_announced(const std::vector<events::MatchKey>& matches) {
  std::vector<std::pair<events::MatchKey, int>> told;
  int round = 0;
  deps_.ledger.read([&](const League& league) {
    round = league.board().round();
    for (events::MatchKey match : matches) {
      if (league.board().contains(match))
        told.emplace_back(match, league.board().slot(match).attempts);
    }
  });
  std::lock_guard lock(mutex_);
  std::erase_if(announced_, [round](const auto& one) { return one.first.round < round; });
  announced_.insert(told.begin(), told.end());
}

bool LeagueRunner::is_announced(events::MatchKey match, int attempt) const {
  std::lock_guard lock(mutex_);
  return announced_.contains({match, attempt});
}

void LeagueRunner::announce_moved(int referee, const std::vector<events::MatchKey>& matches,
                                  std::function<void()> then) {
  std::vector<events::MatchKey> moved;
  deps_.ledger.read([&](const League& league) {
    for (events::MatchKey match : matches) {
      if (!league.board().contains(match)) continue;
      const MatchSlot& slot = league.board().slot(match);
      bool is_moved =
          slot.planned_referee != referee &&
          referee_credential(league, slot.planned_referee) != referee_credential(league, referee);
      // The players may also have been told of the referee of an earlier attempt.
      for (int i = 1; i < slot.attempts; ++i) {
        is_moved = is_moved || referee_credential(league, slot.referee_of(i)) !=
                                   referee_credential(league, referee);
      }
      if (is_moved) moved.push_back(match);
    }
  });
  announcer_.announce_again(moved, std::move(then));
}

void LeagueRunner::deliver(int referee, std::vector<events::MatchKey> matches, int attempt) {
  if (is_stopped_) return;
  note_announced(matches);
  auto call = assignment_call(referee, matches);
  if (!call) return;
  if (starter_.is_known(call->endpoint)) return deliver_otherwise(referee, matches, attempt);
  const auto route = agent::runtime::route_to(call->endpoint);
  deps_.peers.call(std::move(*call), [this, referee, matches = std::move(matches), attempt,
                                      route](const agent::peers::PeerReply& reply) {
    on_delivered(referee, matches, attempt, route, reply);
  });
}

void LeagueRunner::tell_referee_of(events::AgentRef player) {
  if (player.kind != events::AgentKind::kPlayer) return;
  std::vector<std::pair<int, events::MatchKey>> open;
  deps_.ledger.read([&](const League& league) {
    if (league.state() != LeagueState::kRunning) return;
    for (events::MatchKey match : league.board().with_status(MatchStatus::kAssigned)) {
      Pairing pairing = league.schedule().pairing(match);
      if (!pairing.has(player.index)) continue;
      int referee = league.board().slot(match).referee();
      // Not to third-party referees: they could take the repetition for another match.
      if (league.roster().agent(events::AgentRef::referee(referee)).profile.match_credentials)
        open.emplace_back(referee, match);
    }
  });
  for (auto [referee, match] : open) send_again(referee, match, 1);
}

void LeagueRunner::send_again(int referee, events::MatchKey match, int attempt) {
  if (is_stopped_) return;
  auto call = assignment_call(referee, {match});
  if (!call) return;
  // The referee already has the match and keeps it, whatever it answers.
  deps_.peers.call(
      std::move(*call), [this, referee, match, attempt](const agent::peers::PeerReply& reply) {
        bool passes = reply.error && core::error_info(reply.error->code).retryable;
        if (!passes || attempt >= deps_.settings.retry.max_attempts) return;
        deps_.timer.schedule(deps_.settings.retry.delay, [this, referee, match, attempt] {
          send_again(referee, match, attempt + 1);
        });
      });
}

void LeagueRunner::add_dialects(std::vector<envelope::MatchAssignment>& matches) const {
  for (auto& match : matches) {
    match.term = deps_.term;
    if (auto a = transport::link::parse_endpoint(match.player_a_endpoint)) {
      match.player_a_dialect =
          std::string(agent::dialects::call_style_name(deps_.peers.style_of(*a)));
    }
    if (auto b = transport::link::parse_endpoint(match.player_b_endpoint)) {
      match.player_b_dialect =
          std::string(agent::dialects::call_style_name(deps_.peers.style_of(*b)));
    }
  }
}

void LeagueRunner::on_delivered(int referee, const std::vector<events::MatchKey>& matches,
                                int attempt, agent::runtime::Route route,
                                const agent::peers::PeerReply& reply) {
  if (is_stopped_) return;
  if (reply.has_no_method) return deliver_otherwise(referee, matches, attempt);
  if (!reply.error) {
    release_refused(referee, reply.acknowledgement);
    for (events::MatchKey match : matches) watch_start(referee, match, false);
    return;
  }
  bool passes = core::error_info(reply.error->code).retryable;
  // An attempt that failed while this manager itself was late does not count.
  const bool is_void =
      passes && was_late(deps_.clock.steady_now() - reply.elapsed,
                         deps_.settings.time_limit(MessageType::kRoundAnnouncement), route);
  const int next = is_void ? attempt : attempt + 1;
  if (passes && next <= deps_.settings.retry.max_attempts) {
    deps_.timer.schedule(deps_.settings.retry.delay,
                         [this, referee, matches, next] { deliver(referee, matches, next); });
    return;
  }
  if (passes) {
    {
      std::lock_guard lock(mutex_);
      if (has_polled_lately(referee)) return;  // it cannot be called, but polls for its matches
    }
    return decide([referee](const League& league, core::UtcTimestamp now) {
      return league.decide_referee_lost(referee, now);
    });
  }
  if (deps_.log != nullptr)
    deps_.log->assignment_refused(events::AgentRef::referee(referee), matches,
                                  reply.error->message);
  for (auto match : matches) {
    decide([match, referee](const League& league, core::UtcTimestamp now) {
      return league.decide_assignment_refused(match, referee, now);
    });
  }
}

void LeagueRunner::deliver_otherwise(int referee, const std::vector<events::MatchKey>& matches,
                                     int attempt, bool is_last_way) {
  for (const auto& one : assignments(referee, matches)) {
    const auto match = *events::MatchKey::parse(one.match_id.str());
    auto encoded = envelope::encode_assignments(std::span(&one, 1));
    add_spellings(encoded);
    MatchStarter::Order order{.referee = {},
                              .peer = "referee:" + one.referee_id.str(),
                              .token = {},
                              .round = match.round,
                              .match = std::move(encoded.front())};
    deps_.ledger.read([&](const League& league) {
      const events::Agent& agent = league.roster().agent(events::AgentRef::referee(referee));
      if (auto endpoint = transport::link::parse_endpoint(agent.profile.endpoint))
        order.referee = std::move(*endpoint);
      order.token = deps_.token_issuer.token(one.referee_id.str(), agent.credential.nonce);
    });
    starter_.start(std::move(order), [this, referee, match, attempt,
                                      is_last_way](const std::optional<core::Error>& error) {
      if (error) return on_not_started(referee, match, attempt, *error);
      watch_start(referee, match, is_last_way);
    });
  }
}

void LeagueRunner::on_not_started(int referee, events::MatchKey match, int attempt,
                                  const core::Error& error) {
  if (is_stopped_) return;
  auto refuse = [this, referee, match, attempt, error] {
    if (is_stopped_) return;
    if (error.code == core::ErrorCode::kUnknownMessageType) {
      std::lock_guard lock(mutex_);
      if (has_polled_lately(referee)) return;  // it polls for the match
    }
    agent::peers::PeerReply reply;
    reply.error = error;
    on_delivered(referee, {match}, attempt, agent::runtime::Route::kDirect, reply);
  };
  // No other referee could take the match, so wait and see whether this one polls for it.
  const bool may_poll =
      error.code == core::ErrorCode::kUnknownMessageType &&
      deps_.ledger.read([referee](const League& league) { return is_alone(league, referee); });
  if (!may_poll) return refuse();
  deps_.timer.schedule(kPollingPeriod, refuse);
}

void LeagueRunner::release_refused(int referee, const nlohmann::json& acknowledgement) {
  if (!acknowledgement.is_object()) return;
  auto refused = acknowledgement.find("refused");
  if (refused == acknowledgement.end() || !refused->is_array()) return;
  for (const auto& id : *refused) {
    auto match =
        id.is_string() ? events::MatchKey::parse(id.get_ref<const std::string&>()) : std::nullopt;
    // Ignore matches that the referee does not have.
    const bool is_its_own = match && deps_.ledger.read([&](const League& league) {
      const auto& board = league.board();
      return board.contains(*match) && board.slot(*match).referee() == referee;
    });
    if (!is_its_own) continue;
    bool is_forbidden = is_forbidden_to_referee(acknowledgement, id.get_ref<const std::string&>());
    if (deps_.log != nullptr) {
      deps_.log->assignment_refused(
          events::AgentRef::referee(referee), {*match},
          reason_of_refusal(acknowledgement, id.get_ref<const std::string&>()));
    }
    decide([=](const League& league, core::UtcTimestamp now) {
      const auto& board = league.board();
      if (!is_forbidden) return league.decide_assignment_refused(*match, referee, now);
      if (!board.contains(*match) || board.slot(*match).referee() != referee)
        return events::Events{};
      return league.decide_match_refused(*match, now);
    });
  }
}

}  // namespace league::league_manager::rounds
