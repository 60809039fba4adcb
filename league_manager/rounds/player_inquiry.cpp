#include "league_manager/rounds/player_inquiry.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/runtime/exception_guard.h"
#include "common/core/error_code.h"
#include "common/core/text.h"
#include "common/envelope/match_record.h"
#include "common/rpc/json_text.h"

namespace league::league_manager::rounds {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{2000};
constexpr milliseconds kPatienceWithSilent{100};
constexpr int kSilentInARow = 2;
constexpr std::size_t kMostQuestions = 4096;
/// A longer record is no word, so that players cannot fill the manager's memory.
constexpr std::size_t kLongestRecord = 64 * std::size_t{1024};
constexpr std::size_t kLongestReason = 150;

PlayerCall call_of(envelope::RecordedCall call) {
  return {.message_type = std::move(call.message_type),
          .attempt = call.attempt,
          .play = call.play,
          .is_answered = call.answered_at.has_value(),
          .answer_ms = call.answer_ms,
          .accept = call.accept,
          .choice_commitment = std::move(call.choice_commitment),
          .choice = std::move(call.parity_choice),
          .nonce = std::move(call.choice_nonce),
          .opponent_commitment = std::move(call.opponent_commitment),
          .receipt = std::move(call.receipt),
          .refused = std::move(call.refused),
          .is_callers_fault = call.is_callers_fault};
}

/// The record in the player's answer, if it is one of this player and match.
core::Result<PlayerRecord> record_of(const nlohmann::json& answer, events::MatchKey match,
                                     int player) {
  auto decoded = envelope::decode_match_record(answer);
  if (!decoded) return decoded.error();
  if (decoded->match_id != match.id() ||
      decoded->player_id.str() != events::AgentRef::player(player).id()) {
    return core::Error{core::ErrorCode::kInvalidReply,
                       "its record is of another match or another player", ""};
  }
  if (rpc::to_json_text(answer).size() > kLongestRecord)
    return core::Error{core::ErrorCode::kInvalidReply, "its record is longer than 64 KiB", ""};
  PlayerRecord record;
  for (auto& call : decoded->calls) record.calls.push_back(call_of(std::move(call)));
  return record;
}

/// `E009 CONNECTION_ERROR`. The text of the error holds the player's address, and words are public.
std::string name_of(const core::Error& error) {
  return std::string(core::wire_code(error.code)) + " " +
         std::string(core::error_info(error.code).name);
}

bool is_silence(const core::Error& error) {
  return error.code == core::ErrorCode::kTimeout || error.code == core::ErrorCode::kConnectionError;
}

}  // namespace

PlayerInquiry::PlayerInquiry(const RoundDependencies& dependencies)
    : deps_(dependencies),
      tasks_(dependencies.executor, agent::runtime::failures_logged("asking a player")) {}

task::Task<void> PlayerInquiry::tell(events::MatchKey match, int attempt, std::vector<int> players,
                                     Then then) {
  then(co_await answers_of(match, attempt, std::move(players)));
}

task::Task<PlayerInquiry::Answers> PlayerInquiry::answers_of(events::MatchKey match, int attempt,
                                                             std::vector<int> players) {
  std::vector<std::shared_ptr<Question>> questions;
  for (int player : players) questions.push_back(question_of({match, attempt, player}));
  std::vector<PlayerAnswer> all;
  for (const auto& question : questions) {
    co_await question->open.wait();
    if (!question->answer) co_return std::nullopt;
    all.push_back(*question->answer);
  }
  co_return all;
}

std::shared_ptr<PlayerInquiry::Question> PlayerInquiry::question_of(const Key& key) {
  if (const auto found = questions_.find(key); found != questions_.end()) return found->second;
  forget_before(key.match.round);
  auto question = std::make_shared<Question>();
  questions_.emplace(key, question);
  const auto [is_suspended, is_person] = deps_.ledger.read([&](const League& league) {
    const events::Agent& player = league.roster().agent(events::AgentRef::player(key.player));
    return std::pair{player.lifecycle.state() == events::AgentState::kSuspended,
                     player.profile.has_seat_limits()};
  });
  // Who plays has the whole time, however often an outage kept it from answering. A person that is
  // suspended has walked away.
  const bool is_silent = is_suspended && (is_person || silent_[key.player] >= kSilentInARow);
  tasks_.spawn(ask_one(key, question, is_silent ? kPatienceWithSilent : kPatience));
  return question;
}

void PlayerInquiry::forget_before(int round) {
  const bool is_full = questions_.size() >= kMostQuestions;
  std::erase_if(questions_, [round, is_full](const auto& one) {
    return one.second->is_answered && (is_full || one.first.match.round < round);
  });
}

task::Task<void> PlayerInquiry::ask_one(Key key, std::shared_ptr<Question> question,
                                        milliseconds limit) {
  const auto answer = co_await call(key, limit);
  if (answer) {
    PlayerAnswer& word = question->answer.emplace(PlayerAnswer{.player = key.player, .record = {}});
    if (auto record = record_of(*answer, key.match, key.player)) {
      word.record = std::move(*record);
    } else {
      word.why_none = core::shown(record.error().message, kLongestReason);
    }
  } else if (answer.error().code != core::ErrorCode::kShuttingDown) {
    question->answer =
        PlayerAnswer{.player = key.player, .record = {}, .why_none = name_of(answer.error())};
  }
  question->is_answered = true;
  if (key.attempt == kEarly) questions_.erase(key);
  int& silent = silent_[key.player];
  silent = !answer && is_silence(answer.error()) ? silent + 1 : 0;
  question->open.count_down();
}

task::Task<core::Result<nlohmann::json>> PlayerInquiry::call(Key key, milliseconds limit) {
  const events::AgentRef player = events::AgentRef::player(key.player);
  agent::peers::PeerToolCall call{.endpoint = {},
                                  .peer = player.sender(),
                                  .tool = "get_match_record",
                                  .arguments = {},
                                  .match_id = key.match.id().str(),
                                  .time_limit = limit,
                                  .is_search = true};
  auto endpoint = deps_.ledger.read([&](const League& league) {
    const events::Agent& agent = league.roster().agent(player);
    call.arguments = rpc::to_json_text(
        {{"auth_token", deps_.token_issuer.token(player.id(), agent.credential.nonce).reveal()},
         {"match_id", call.match_id}});
    return transport::link::parse_endpoint(agent.profile.endpoint);
  });
  if (!endpoint) co_return endpoint.error();
  call.endpoint = std::move(*endpoint);
  co_return co_await deps_.peers.call_tool(std::move(call));
}

}  // namespace league::league_manager::rounds
