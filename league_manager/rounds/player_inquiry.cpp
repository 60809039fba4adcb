#include "league_manager/rounds/player_inquiry.h"

#include <nlohmann/json.hpp>
#include <utility>

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

void PlayerInquiry::ask(events::MatchKey match, int attempt, const std::vector<int>& players,
                        Then then) {
  struct Round {
    std::mutex mutex;
    std::vector<Answer> answers;
    std::size_t open = 0;
    Then then;
  };
  if (players.empty()) return then(std::vector<PlayerAnswer>{});
  auto round = std::make_shared<Round>();
  round->answers.resize(players.size());
  round->open = players.size();
  round->then = std::move(then);
  for (std::size_t i = 0; i < players.size(); ++i) {
    ask_one({match, attempt, players[i]}, [round, i](Answer answer) {
      {
        std::lock_guard lock(round->mutex);
        round->answers[i] = std::move(answer);
        if (--round->open > 0) return;
      }
      std::vector<PlayerAnswer> all;
      for (const auto& one : round->answers) {
        if (!one) return round->then(std::nullopt);
        all.push_back(*one);
      }
      round->then(std::move(all));
    });
  }
}

void PlayerInquiry::ask_one(const Key& key, std::function<void(Answer)> then) {
  const bool is_suspended = deps_.ledger.read([&](const League& league) {
    const events::AgentRef player = events::AgentRef::player(key.player);
    return league.roster().agent(player).lifecycle.state() == events::AgentState::kSuspended;
  });
  std::unique_lock lock(mutex_);
  const auto found = questions_.find(key);
  if (found != questions_.end()) {
    if (!found->second.is_answered) {
      found->second.waiting.push_back(std::move(then));
      return;
    }
    Answer answer = found->second.answer;
    lock.unlock();
    return then(std::move(answer));
  }
  forget_before(key.match.round);
  questions_[key].waiting.push_back(std::move(then));
  // Who plays has the whole time, however often an outage kept it from answering.
  const bool is_silent = is_suspended && silent_[key.player] >= kSilentInARow;
  lock.unlock();
  call(key, is_silent ? kPatienceWithSilent : kPatience);
}

void PlayerInquiry::forget_before(int round) {
  const bool is_full = questions_.size() >= kMostQuestions;
  std::erase_if(questions_, [round, is_full](const auto& one) {
    return one.second.is_answered && (is_full || one.first.match.round < round);
  });
}

void PlayerInquiry::call(const Key& key, milliseconds limit) {
  const events::AgentRef player = events::AgentRef::player(key.player);
  agent::peers::PeerToolCall call{.endpoint = {},
                                  .peer = player.sender(),
                                  .tool = "get_match_record",
                                  .arguments = {},
                                  .match_id = key.match.id().str(),
                                  .time_limit = limit,
                                  .is_search = true};
  std::optional<core::Error> failed;
  deps_.ledger.read([&](const League& league) {
    const events::Agent& agent = league.roster().agent(player);
    auto endpoint = transport::link::parse_endpoint(agent.profile.endpoint);
    if (!endpoint) {
      failed = endpoint.error();
      return;
    }
    call.endpoint = std::move(*endpoint);
    call.arguments = rpc::to_json_text(
        {{"auth_token", deps_.token_issuer.token(player.id(), agent.credential.nonce).reveal()},
         {"match_id", call.match_id}});
  });
  if (failed) return on_answer(key, *failed);
  deps_.peers.call_tool(std::move(call), [this, key](const core::Result<nlohmann::json>& answer) {
    on_answer(key, answer);
  });
}

void PlayerInquiry::on_answer(const Key& key, const core::Result<nlohmann::json>& answer) {
  auto word = std::make_shared<PlayerAnswer>(PlayerAnswer{.player = key.player, .record = {}});
  if (answer) {
    auto record = record_of(*answer, key.match, key.player);
    if (record) {
      word->record = std::move(*record);
    } else {
      word->why_none = core::shown(record.error().message, kLongestReason);
    }
  } else {
    word->why_none = name_of(answer.error());
  }
  const bool is_ending = !answer && answer.error().code == core::ErrorCode::kShuttingDown;
  std::vector<std::function<void(Answer)>> waiting;
  Answer result = is_ending ? nullptr : std::move(word);
  {
    std::lock_guard lock(mutex_);
    Question& question = questions_[key];
    question.is_answered = true;
    question.answer = result;
    waiting = std::exchange(question.waiting, {});
    if (key.attempt == kEarly) questions_.erase(key);
    int& silent = silent_[key.player];
    silent = !answer && is_silence(answer.error()) ? silent + 1 : 0;
  }
  for (const auto& then : waiting) then(result);
}

}  // namespace league::league_manager::rounds
