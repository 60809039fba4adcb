#include "referee/referee_service.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "referee/referee_tools.h"
#include "referee/result_codec.h"

namespace league::referee {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

constexpr std::size_t kRememberedMatches = 1024;

json state_of(const MatchSnapshot& snapshot) {
  json seats = json::object();
  for (Side side : kBothSides) {
    json seat = {{"role", side_name(side)}, {"state", seat_state_name(snapshot.seats[side])}};
    if (snapshot.played) {
      const auto& choice = snapshot.played->result.choices[side];
      seat["choice"] = choice ? json(*choice) : json(nullptr);
      seat["score"] = game::points_of(snapshot.played->result.outcome)[side];
    }
    seats[snapshot.players[side].str()] = std::move(seat);
  }
  json state = {{"match_id", snapshot.match_id.str()},
                {"game_type", snapshot.game_type},
                {"state", state_name(snapshot.state)},
                {"players", std::move(seats)}};
  if (snapshot.played) {
    state["status"] = status_name(snapshot.played->result);
    state["reason"] = snapshot.played->reason;
    const auto& number = snapshot.played->result.drawn_number;
    state["drawn_number"] = number ? json(*number) : json(nullptr);
  }
  return state;
}

std::string text_argument(const json& arguments, const char* name) {
  auto it = arguments.find(name);
  return it != arguments.end() && it->is_string() ? it->get<std::string>() : std::string();
}

}  // namespace

RefereeService::RefereeService(RefereeOptions options, const RefereeDependencies& dependencies)
    : options_(std::move(options)),
      deps_(dependencies),
      server_({.role = envelope::Role::kReferee,
               .mode = options_.mode,
               .check_token =
                   [this](const envelope::Envelope& envelope) { return check_token(envelope); },
               .starts_held = true,
               .league_error = {},
               .mcp = referee_presentation()},
              dependencies.schemas, dependencies.clock) {
  bind_handlers();
}

RefereeService::~RefereeService() {
  std::map<core::MatchId, std::shared_ptr<MatchRunner>> running;
  {
    std::lock_guard lock(mutex_);
    running.swap(running_);
  }
  for (auto& [id, runner] : running) runner->abandon();
}

void RefereeService::on_league_completed(
    std::function<void(const envelope::LeagueCompleted&)> callback) {
  on_completed_ = std::move(callback);
}

void RefereeService::set_identity(const agent::Identity& identity) {
  {
    std::lock_guard lock(mutex_);
    token_ = identity.token;
    envelopes_ = std::make_unique<envelope::EnvelopeBuilder>(envelope::Sender::referee(identity.id),
                                                             identity.league, deps_.clock);
    context_ = std::make_unique<RunnerContext>(
        RunnerContext{deps_.peers, deps_.timer, deps_.clock, *envelopes_, deps_.games,
                      deps_.settings, deps_.delays, options_.mode, options_.manager,
                      options_.endpoints, identity.token, deps_.publish, on_played_});
  }
  server_.release();
}

void RefereeService::on_match_over(std::function<void(const std::string&, bool)> callback) {
  on_over_ = std::move(callback);
}

void RefereeService::on_match_played(std::function<void()> callback) {
  on_played_ = std::move(callback);
}

int RefereeService::free_places() const {
  std::lock_guard lock(mutex_);
  if (!context_ || (deps_.may_start && !deps_.may_start())) return 0;
  auto is_in_hand = [](const auto& one) { return !one.second->is_report_out(); };
  return std::max(options_.max_concurrent_matches -
                      static_cast<int>(std::ranges::count_if(running_, is_in_hand)),
                  0);
}

std::vector<MatchPlayer::Refused> RefereeService::play(
    std::vector<envelope::MatchAssignment> matches, int round_id) {
  auto taken = take_places(std::move(matches), round_id);
  for (const auto& runner : taken.runners) runner->start();
  return std::move(taken.refused);
}

bool RefereeService::is_playing(const std::string& match_id) const {
  std::lock_guard lock(mutex_);
  return running_.contains(core::MatchId(match_id));
}

std::size_t RefereeService::running_matches() const {
  std::lock_guard lock(mutex_);
  return running_.size();
}

void RefereeService::bind_handlers() {
  server_.bind<envelope::RoundAssignment>([this](agent::Call<envelope::RoundAssignment> call) {
    auto taken = take_places(std::move(call.message.matches), call.envelope.round_id.value_or(1));
    json answer = {{"status", "ok"}};
    for (const auto& [match_id, why] : taken.refused) {
      answer["refused"].push_back(match_id);
      answer["reasons"][match_id] = {{"error_code", core::error_info(why.code).wire_code},
                                     {"error_description", why.message}};
    }
    // Answer first: the manager waits for this, and the matches take their time.
    call.reply.send(answer, [runners = std::move(taken.runners)] {
      for (const auto& runner : runners) runner->start();
    });
  });
  server_.bind_news(envelope::MessageType::kRoundCompleted);
  server_.bind<envelope::LeagueCompleted>([this](agent::Call<envelope::LeagueCompleted> call) {
    call.reply.acknowledge();
    if (on_completed_) on_completed_(call.message);
  });
  server_.bind<envelope::LeagueError>([this](agent::Call<envelope::LeagueError> call) {
    // Without our own token anybody may have sent it: it is in the conversation log, and no more.
    if (call.envelope.auth_token && check_token(call.envelope))
      spdlog::warn(
          "the league manager says: {}",
          core::shown(call.message.error_code + " " + call.message.error_description, 600));
    call.reply.acknowledge();
  });
  server_.bind_tool(start_match_tool(),
                    [this](agent::ToolCall call) { on_start_match(std::move(call)); });
  server_.bind_tool(get_match_state_tool(),
                    [this](agent::ToolCall call) { on_get_match_state(std::move(call)); });
}

Result<void> RefereeService::check_token(const envelope::Envelope& envelope) const {
  std::lock_guard lock(mutex_);
  if (token_.empty())
    return Error{ErrorCode::kAuthTokenInvalid, "this referee is not registered yet", "/auth_token"};
  if (token_.matches(envelope.auth_token->reveal())) return {};
  return Error{ErrorCode::kAuthTokenInvalid,
               "auth_token must be this referee's own, which only its league manager has",
               "/auth_token"};
}

RefereeService::Taken RefereeService::take_places(std::vector<envelope::MatchAssignment> matches,
                                                  int round_id) {
  Taken taken;
  for (auto& match : matches) {
    std::string id = match.match_id.str();
    auto runner = take_place(std::move(match), round_id);
    if (!runner) {
      spdlog::warn("match {} is refused: {}", id, runner.error().message);
      taken.refused.push_back({std::move(id), runner.error()});
    } else if (*runner) {
      taken.runners.push_back(std::move(*runner));
    }
  }
  return taken;
}

Result<std::shared_ptr<MatchRunner>> RefereeService::take_place(
    envelope::MatchAssignment assignment, int round_id) {
  std::shared_ptr<MatchRunner> replaced;
  std::shared_ptr<MatchRunner> runner;
  {
    std::lock_guard lock(mutex_);
    if (!context_)
      return Error{ErrorCode::kRefereeNotRegistered, "this referee is not registered yet", ""};
    if (assignment.term && *assignment.term < term_) {
      return Error{ErrorCode::kStaleAttempt,
                   "the manager of term " + std::to_string(*assignment.term) +
                       " has been succeeded by that of term " + std::to_string(term_),
                   "/matches"};
    }
    term_ = assignment.term.value_or(term_);
    const KnownAttempt given{assignment.attempt, assignment.draw_commitment.value_or("")};
    auto known = last_attempt_.find(assignment.match_id);
    auto running = running_.find(assignment.match_id);
    if (known != last_attempt_.end() && is_repetition(given, known->second)) {
      // A repeated announcement, or a player has come back somewhere else.
      if (running != running_.end() && given.attempt == known->second.attempt)
        running->second->call_players_at(assignment);
      return std::shared_ptr<MatchRunner>();
    }
    if (deps_.may_start && !deps_.may_start()) {
      return Error{ErrorCode::kOverloaded,
                   "the disk of the conversation log is nearly full; no new match starts", ""};
    }
    if (running != running_.end()) replaced = running->second;
    auto takes_a_place = [](const auto& one) { return one.second->takes_a_place(); };
    if (!replaced &&
        std::ranges::count_if(running_, takes_a_place) >= options_.max_concurrent_matches) {
      return Error{ErrorCode::kCapacityExceeded,
                   "all " + std::to_string(options_.max_concurrent_matches) + " places are taken",
                   "/matches"};
    }
    auto id = assignment.match_id;
    auto created =
        MatchRunner::create(*context_, std::move(assignment), round_id,
                            [this](MatchRunner& done, const json& ack) { on_finished(done, ack); });
    if (!created) return created.error();
    last_attempt_[id] = given;
    runner = std::move(*created);
    running_[id] = runner;
  }
  if (replaced) replaced->abandon();
  return runner;
}

void RefereeService::on_finished(MatchRunner& runner, const json& ack) {
  const auto& id = runner.assignment().match_id;
  auto snapshot = runner.snapshot();
  {
    std::lock_guard lock(mutex_);
    auto found = running_.find(id);
    if (found != running_.end() && found->second.get() == &runner) running_.erase(found);
    if (finished_.insert_or_assign(id, std::move(snapshot)).second) finished_order_.push_back(id);
    while (finished_order_.size() > kRememberedMatches) {
      finished_.erase(finished_order_.front());
      last_attempt_.erase(finished_order_.front());
      finished_order_.pop_front();
    }
  }
  if (on_over_) on_over_(id.str(), ack.is_object());
  if (!ack.is_object() || !ack.contains("matches")) return;
  auto next = envelope::decode_assignments(ack["matches"]);
  if (!next) return;
  auto round = ack.find("round_id");
  int round_id = round != ack.end() && round->is_number_integer() ? round->get<int>() : 1;
  for (const auto& started : take_places(std::move(*next), round_id).runners) started->start();
}

void RefereeService::on_start_match(agent::ToolCall call) {
  core::AuthToken shown(text_argument(call.arguments, "auth_token"));
  {
    std::lock_guard lock(mutex_);
    if (token_.empty() || !token_.matches(shown.reveal())) {
      return call.reply.refuse(
          {shown.empty() ? ErrorCode::kAuthTokenMissing : ErrorCode::kNotAuthorized,
           "start_match is the league manager's: auth_token must be this referee's own token",
           "/auth_token"});
    }
  }
  auto match = call.arguments.find("match");
  if (match == call.arguments.end()) {
    return call.reply.refuse({ErrorCode::kMissingRequiredField,
                              "match must be an assignment as in ROUND_ANNOUNCEMENT", "/match"});
  }
  auto assignments = envelope::decode_assignments(json::array({*match}));
  if (!assignments) return call.reply.refuse(assignments.error());
  auto round = call.arguments.find("round_id");
  int round_id =
      round != call.arguments.end() && round->is_number_integer() ? round->get<int>() : 1;
  auto runner = take_place(std::move(assignments->front()), round_id);
  if (!runner) return call.reply.refuse(runner.error());
  call.reply.acknowledge([started = *runner] {
    if (started) started->start();
  });
}

void RefereeService::on_get_match_state(agent::ToolCall call) {
  core::MatchId id(text_argument(call.arguments, "match_id"));
  std::shared_ptr<MatchRunner> runner;
  std::optional<MatchSnapshot> snapshot;
  {
    std::lock_guard lock(mutex_);
    if (auto found = running_.find(id); found != running_.end()) runner = found->second;
    if (auto done = finished_.find(id); !runner && done != finished_.end()) snapshot = done->second;
  }
  if (runner) snapshot = runner->snapshot();
  if (!snapshot) {
    return call.reply.refuse({ErrorCode::kMatchNotFound,
                              "this referee has no match \"" + id.str().substr(0, 64) + "\"",
                              "/match_id"});
  }
  call.reply.send(state_of(*snapshot));
}

}  // namespace league::referee
