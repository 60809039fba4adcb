#include <algorithm>
#include <nlohmann/json.hpp>
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

/// Assignments in one ROUND_ANNOUNCEMENT. With the longest endpoints that agents may have, they
/// take less than the 256 KiB that our programs accept in a request.
constexpr std::size_t kMostAssignments = 64;

/// The text `member` of the referee's reason for refusing `match`; empty if there is none.
const std::string& reason_text(const nlohmann::json& acknowledgement, const std::string& match,
                               const char* member) {
  const auto& reasons = schema::field_at(acknowledgement, "reasons");
  return schema::text_at(schema::field_at(reasons, match.c_str()), member);
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
      auto assignment = match_assignment(league, match, deps_.token_issuer, deps_.seats_at);
      if (assignment && assignment->referee_id.str() == events::AgentRef::referee(referee).id())
        all.push_back(std::move(*assignment));
    }
  });
  add_dialects(all);
  return all;
}

std::optional<agent::peers::PeerCall> LeagueRunner::assignment_call(int referee,
                                                                    const Matches& matches) const {
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
      auto assignment = match_assignment(league, match, deps_.token_issuer, deps_.seats_at);
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

void LeagueRunner::note_announced(const Matches& matches) {
  std::vector<std::pair<events::MatchKey, int>> told;
  int round = 0;
  deps_.ledger.read([&](const League& league) {
    round = league.board().round();
    for (events::MatchKey match : matches) {
      if (league.board().contains(match))
        told.emplace_back(match, league.board().slot(match).attempts);
    }
  });
  std::lock_guard lock(announced_mutex_);
  std::erase_if(announced_, [round](const auto& one) { return one.first.round < round; });
  announced_.insert(told.begin(), told.end());
}

bool LeagueRunner::is_announced(events::MatchKey match, int attempt) const {
  std::lock_guard lock(announced_mutex_);
  return announced_.contains({match, attempt});
}

LeagueRunner::Matches LeagueRunner::moved_to(int referee, const Matches& matches) const {
  Matches moved;
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
  return moved;
}

LeagueRunner::Task LeagueRunner::assign(int referee, Matches matches) {
  co_await announcer_.wait_a_while(announcer_.announce_again(moved_to(referee, matches)));
  for (std::size_t from = 0; from < matches.size(); from += kMostAssignments) {
    const std::size_t most = std::min(kMostAssignments, matches.size() - from);
    const auto first = matches.begin() + static_cast<std::ptrdiff_t>(from);
    co_await deliver(referee, Matches(first, first + static_cast<std::ptrdiff_t>(most)), 1);
  }
}

LeagueRunner::Task LeagueRunner::deliver(int referee, Matches matches, int attempt) {
  for (std::optional<int> next = attempt; next;) {
    note_announced(matches);
    auto call = assignment_call(referee, matches);
    if (!call) co_return;
    if (starter_.is_known(call->endpoint)) co_return start_otherwise(referee, matches, *next);
    const auto route = agent::runtime::route_to(call->endpoint);
    const auto reply = co_await deps_.peers.call(std::move(*call));
    if (reply.has_no_method) co_return start_otherwise(referee, matches, *next);
    if (!reply.error) {
      release_refused(referee, reply.acknowledgement);
      for (events::MatchKey match : matches) tasks_.spawn(watch_start(referee, match, false));
      co_return;
    }
    next = co_await next_attempt(referee, matches, *next, route, reply);
  }
}

task::Task<std::optional<int>> LeagueRunner::next_attempt(int referee, Matches matches, int attempt,
                                                          agent::runtime::Route route,
                                                          agent::peers::PeerReply reply) {
  const bool passes = core::error_info(reply.error->code).retryable;
  // An attempt that failed while this manager itself was late does not count.
  const bool is_void =
      passes && was_late(deps_.clock.steady_now() - reply.elapsed,
                         deps_.settings.time_limit(MessageType::kRoundAnnouncement), route);
  const int next = is_void ? attempt : attempt + 1;
  if (passes && next <= deps_.settings.retry.max_attempts) {
    co_await task::sleep_for(deps_.timer, deps_.settings.retry.delay);
    co_return next;
  }
  if (passes) {
    if (has_polled_lately(referee)) co_return std::nullopt;  // it cannot be called, but polls
    co_await decide([referee](const League& league, core::UtcTimestamp now) {
      return league.decide_referee_lost(referee, now);
    });
    co_return std::nullopt;
  }
  if (deps_.log != nullptr)
    deps_.log->assignment_refused(events::AgentRef::referee(referee), matches,
                                  reply.error->message);
  for (auto match : matches) {
    tasks_.spawn(decide([match, referee](const League& league, core::UtcTimestamp now) {
      return league.decide_assignment_refused(match, referee, now);
    }));
  }
  co_return std::nullopt;
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
  for (auto [referee, match] : open) tasks_.spawn(send_again(referee, match));
}

LeagueRunner::Task LeagueRunner::send_again(int referee, events::MatchKey match) {
  for (int attempt = 1;; ++attempt) {
    auto call = assignment_call(referee, {match});
    if (!call) co_return;
    // The referee already has the match and keeps it, whatever it answers.
    const auto reply = co_await deps_.peers.call(std::move(*call));
    const bool passes = reply.error && core::error_info(reply.error->code).retryable;
    if (!passes || attempt >= deps_.settings.retry.max_attempts) co_return;
    co_await task::sleep_for(deps_.timer, deps_.settings.retry.delay);
  }
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
    tasks_.spawn(decide([=](const League& league, core::UtcTimestamp now) {
      const auto& board = league.board();
      if (!is_forbidden) return league.decide_assignment_refused(*match, referee, now);
      if (!board.contains(*match) || board.slot(*match).referee() != referee)
        return events::Events{};
      return league.decide_match_refused(*match, now);
    }));
  }
}

}  // namespace league::league_manager::rounds
