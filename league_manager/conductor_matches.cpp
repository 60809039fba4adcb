#include <nlohmann/json.hpp>
#include <utility>

#include "common/envelope/codec.h"
#include "common/rpc/json_text.h"
#include "league_manager/conductor.h"
#include "league_manager/league_view.h"

// How a conductor gives matches to referees and takes back what they cannot play.
namespace league::league_manager {
namespace {

using envelope::MessageType;

/// What the referee says of `match`, `member` of its reasons; empty where it says nothing.
std::string reason_text(const nlohmann::json& acknowledgement, const std::string& match,
                        const char* member) {
  auto reasons = acknowledgement.find("reasons");
  if (reasons == acknowledgement.end() || !reasons->is_object()) return {};
  auto reason = reasons->find(match);
  if (reason == reasons->end() || !reason->is_object()) return {};
  auto text = reason->find(member);
  return text != reason->end() && text->is_string() ? text->get<std::string>() : std::string();
}

/// For people.
std::string reason_of_refusal(const nlohmann::json& acknowledgement, const std::string& match) {
  const std::string code = reason_text(acknowledgement, match, "error_code");
  if (code.empty()) return "it gives no reason";
  return code + " " + reason_text(acknowledgement, match, "error_description");
}

/// True when the referee may not call one of the match's players: no fault of its own, and no
/// reason to count a failure.
bool is_forbidden_to_referee(const nlohmann::json& acknowledgement, const std::string& match) {
  return reason_text(acknowledgement, match, "error_code") ==
         core::wire_code(core::ErrorCode::kEndpointNotAllowed);
}

}  // namespace

std::vector<envelope::MatchAssignment> Conductor::assignments(
    int referee, const std::vector<MatchKey>& matches) const {
  std::vector<envelope::MatchAssignment> all;
  deps_.ledger.read([&](const League& league) {
    for (auto match : matches) {
      auto assignment = match_assignment(league, match, deps_.vault);
      if (assignment && assignment->referee_id.str() == AgentRef::referee(referee).id())
        all.push_back(std::move(*assignment));
    }
  });
  add_dialects(all);
  return all;
}

void Conductor::deliver_grouped(const std::vector<MatchAssigned>& assigned) {
  std::map<int, std::vector<MatchKey>> by_referee;
  for (const auto& one : assigned) by_referee[one.referee].push_back(one.match);
  for (auto& [referee, matches] : by_referee) deliver(referee, std::move(matches), 1);
}

std::optional<agent::PeerCall> Conductor::assignment_call(
    int referee, const std::vector<MatchKey>& matches) const {
  agent::PeerCall call;
  envelope::RoundAssignment message;
  core::AuthToken token;
  deps_.ledger.read([&](const League& league) {
    AgentRef ref = AgentRef::referee(referee);
    const Agent& agent = league.roster().agent(ref);
    if (auto endpoint = transport::parse_endpoint(agent.profile.endpoint))
      call.endpoint = std::move(*endpoint);
    call.peer = "referee:" + ref.id();
    token = deps_.vault.token(ref.id(), agent.credential.nonce);
    for (auto match : matches) {
      auto assignment = match_assignment(league, match, deps_.vault);
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
      {.conversation_id = conversation, .auth_token = token, .round_id = round, .match_id = {}});
  call.type = MessageType::kRoundAnnouncement;
  call.message =
      std::make_shared<const std::string>(rpc::to_json_text(envelope::encode(envelope, message)));
  call.conversation_id = conversation.str();
  call.time_limit = deps_.settings.time_limit(MessageType::kRoundAnnouncement);
  call.budget = transport::Budget::kGame;
  return call;
}

void Conductor::deliver(int referee, std::vector<MatchKey> matches, int attempt) {
  if (is_stopped_) return;
  auto call = assignment_call(referee, matches);
  if (!call) return;
  deps_.peers.call(std::move(*call), [this, referee, matches = std::move(matches),
                                      attempt](const agent::PeerReply& reply) {
    on_delivered(referee, matches, attempt, reply);
  });
}

void Conductor::tell_referee_of(AgentRef player) {
  if (player.kind != AgentKind::kPlayer) return;
  std::vector<std::pair<int, MatchKey>> open;
  deps_.ledger.read([&](const League& league) {
    if (league.state() != LeagueState::kRunning) return;
    for (MatchKey match : league.board().with_status(MatchStatus::kAssigned)) {
      Pairing pairing = league.schedule().pairing(match);
      if (pairing.player_a != player.index && pairing.player_b != player.index) continue;
      int referee = league.board().slot(match).referee();
      // One of other origin could take the repetition for another match.
      if (league.roster().agent(AgentRef::referee(referee)).profile.match_credentials)
        open.emplace_back(referee, match);
    }
  });
  for (auto [referee, match] : open) send_again(referee, match, 1);
}

void Conductor::send_again(int referee, MatchKey match, int attempt) {
  if (is_stopped_) return;
  auto call = assignment_call(referee, {match});
  if (!call) return;
  // The referee has the match: whatever it answers, the match stays where it is.
  deps_.peers.call(
      std::move(*call), [this, referee, match, attempt](const agent::PeerReply& reply) {
        bool passes = reply.error && core::error_info(reply.error->code).retryable;
        if (!passes || attempt >= deps_.settings.retry.max_attempts) return;
        deps_.timer.schedule(deps_.settings.retry.delay, [this, referee, match, attempt] {
          send_again(referee, match, attempt + 1);
        });
      });
}

void Conductor::add_dialects(std::vector<envelope::MatchAssignment>& matches) const {
  for (auto& match : matches) {
    match.term = deps_.term;
    if (auto a = transport::parse_endpoint(match.player_a_endpoint)) {
      match.player_a_dialect = std::string(agent::call_style_name(deps_.peers.style_of(*a)));
    }
    if (auto b = transport::parse_endpoint(match.player_b_endpoint)) {
      match.player_b_dialect = std::string(agent::call_style_name(deps_.peers.style_of(*b)));
    }
  }
}

void Conductor::on_delivered(int referee, const std::vector<MatchKey>& matches, int attempt,
                             const agent::PeerReply& reply) {
  if (is_stopped_) return;
  if (!reply.error) return release_refused(referee, reply.message);
  bool passes = core::error_info(reply.error->code).retryable;
  if (passes && attempt < deps_.settings.retry.max_attempts) {
    deps_.timer.schedule(deps_.settings.retry.delay, [this, referee, matches, attempt] {
      deliver(referee, matches, attempt + 1);
    });
    return;
  }
  if (passes) {
    return decide([referee](const League& league, core::UtcTimestamp now) {
      return league.decide_referee_lost(referee, now);
    });
  }
  if (deps_.log != nullptr)
    deps_.log->assignment_refused(AgentRef::referee(referee), matches, reply.error->message);
  for (auto match : matches) {
    decide([match, referee](const League& league, core::UtcTimestamp now) {
      return league.decide_assignment_refused(match, referee, now);
    });
  }
}

void Conductor::release_refused(int referee, const nlohmann::json& acknowledgement) {
  if (!acknowledgement.is_object()) return;
  auto refused = acknowledgement.find("refused");
  if (refused == acknowledgement.end() || !refused->is_array()) return;
  for (const auto& id : *refused) {
    auto match = id.is_string() ? MatchKey::parse(id.get_ref<const std::string&>()) : std::nullopt;
    // Of a match that it does not have a referee has nothing to say, nor the operator to read.
    const bool is_its_own = match && deps_.ledger.read([&](const League& league) {
      const auto& board = league.board();
      return board.contains(*match) && board.slot(*match).referee() == referee;
    });
    if (!is_its_own) continue;
    bool is_forbidden = is_forbidden_to_referee(acknowledgement, id.get_ref<const std::string&>());
    if (deps_.log != nullptr) {
      deps_.log->assignment_refused(
          AgentRef::referee(referee), {*match},
          reason_of_refusal(acknowledgement, id.get_ref<const std::string&>()));
    }
    decide([=](const League& league, core::UtcTimestamp now) {
      const auto& board = league.board();
      if (!is_forbidden) return league.decide_assignment_refused(*match, referee, now);
      if (!board.contains(*match) || board.slot(*match).referee() != referee) return Events{};
      return league.decide_match_refused(*match, now);
    });
  }
}

}  // namespace league::league_manager
