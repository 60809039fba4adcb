#include "referee/service/referee_service.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/agent/runtime/log.h"
#include "common/core/text.h"
#include "common/schema/json_fields.h"
#include "referee/service/result_codec.h"

namespace league::referee::service {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

constexpr std::size_t kRememberedMatches = 1024;
/// The league of the published protocol's example, used if a third-party manager names none.
constexpr const char* kUnnamedLeague = "league_2025_even_odd";

}  // namespace

RefereeService::RefereeService(RefereeOptions options, const RefereeDependencies& dependencies)
    : options_(std::move(options)),
      deps_(dependencies),
      server_({.role = envelope::Role::kReferee,
               .mode = options_.mode,
               .check_token =
                   [this](const envelope::Envelope& envelope) { return check_token(envelope); },
               .is_guest = [this] { return guest_assignments() != nullptr; },
               .pardon = [this](const envelope::Envelope& envelope) { return pardon(envelope); },
               .tool_alias = start_tool_alias,
               .answer_defaults =
                   [this](const core::AuthToken& token, const core::MatchId& match) {
                     const auto runner = running(match);
                     return runner ? runner->answer_defaults(token) : envelope::NormaliseDefaults{};
                   },
               .starts_held = true,
               .league_error = {},
               .mcp = {.name = "league-referee",
                       .title = "League referee",
                       .instructions = "Plays the matches that a league manager assigns. "
                                       "get_match_state shows a match; the other "
                                       "tools take league.v2 messages of the manager."}},
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

void RefereeService::stop() {
  if (auto* guest = guest_assignments()) guest->stop();
}

void RefereeService::on_league_completed(
    std::function<void(const envelope::LeagueCompleted&)> callback) {
  on_completed_ = std::move(callback);
}

void RefereeService::set_identity(const agent::identity::Identity& identity,
                                  const std::string& contact_endpoint) {
  const bool is_guest = !identity.is_at_home() && options_.mode == envelope::Mode::kOpen;
  {
    std::lock_guard lock(mutex_);
    token_ = identity.token;
    // GAME_INVITATION needs a league even if the manager has named none.
    const auto league = identity.league.empty() ? core::LeagueId(kUnnamedLeague) : identity.league;
    context_ = std::make_unique<RunnerContext>(
        RunnerContext{options_,
                      deps_,
                      {envelope::Sender::referee(identity.id), league, deps_.clock},
                      identity.token,
                      is_guest,
                      identity.league_key});
  }
  if (is_guest) open_guest_assignments(identity, contact_endpoint);
  server_.release();
}

void RefereeService::open_guest_assignments(const agent::identity::Identity& identity,
                                            const std::string& contact_endpoint) {
  auto play = [this](envelope::MatchAssignment assignment, int round_id) -> Result<void> {
    auto runner = take_place(std::move(assignment), round_id);
    if (!runner) return runner.error();
    if (*runner) (*runner)->start();
    return {};
  };
  const auto games = deps_.games.names();
  auto created = std::make_unique<GuestAssignments>(
      GuestAssignmentsOptions{.identity = identity,
                              .contact_endpoint = contact_endpoint,
                              .game_type = games.empty() ? std::string() : games.front(),
                              .manager = options_.manager,
                              .players = options_.players},
      GuestAssignmentsDependencies{deps_.peers, deps_.timer, deps_.clock, seeds_}, std::move(play));
  auto& guest = *created;
  {
    std::lock_guard lock(mutex_);
    guest_assignments_ = std::move(created);
  }
  guest.watch();
}

GuestAssignments* RefereeService::guest_assignments() const {
  std::lock_guard lock(mutex_);
  return guest_assignments_.get();
}

std::optional<envelope::Leniency> RefereeService::pardon(const envelope::Envelope& envelope) const {
  if (!guest_assignments()) return std::nullopt;
  const bool shows_token = envelope.auth_token && !envelope.auth_token->empty();
  return shows_token ? envelope::Leniency::kForeignCallToken
                     : envelope::Leniency::kMissingCallToken;
}

std::size_t RefereeService::running_matches() const {
  std::lock_guard lock(mutex_);
  return running_.size();
}

void RefereeService::bind_handlers() {
  server_.bind_undecoded(
      envelope::MessageType::kRoundAnnouncement,
      [this](agent::host::Call<json> call) { on_announcement(std::move(call)); });
  server_.bind_undecoded(envelope::MessageType::kRoundCompleted,
                         [this](agent::host::Call<json> call) {
                           agent::host::acknowledge_with_head(std::move(call.reply), deps_.heads);
                         });
  server_.bind<envelope::LeagueCompleted>(
      [this](agent::host::Call<envelope::LeagueCompleted> call) {
        if (on_completed_) on_completed_(call.message);
        agent::host::acknowledge_when_sealed(std::move(call.reply), deps_.heads, deps_.timer);
      });
  server_.bind<envelope::LeagueError>([this](agent::host::Call<envelope::LeagueError> call) {
    // Without our own token the sender is unknown: then the message is only in the conversation
    // log.
    const auto& token = call.envelope.auth_token;
    if (token && !token->empty() && check_token(call.envelope))
      agent::runtime::log::warn(
          "the league manager says: {}",
          core::shown(call.message.error_code + " " + call.message.error_description, 600));
    call.reply.acknowledge();
  });
  server_.bind_answer<envelope::GameJoinAck>([this](agent::host::Call<envelope::GameJoinAck> call) {
    on_posted({.envelope = call.envelope,
               .player_id = call.message.player_id,
               .answer = JoinAnswer{call.envelope.match_id->str(), call.message.accept,
                                    std::move(call.message.choice_commitment),
                                    std::move(call.message.receipt)},
               .notes = *call.notes},
              std::move(call.reply));
  });
  server_.bind_answer<envelope::ChooseParityResponse>(
      [this](agent::host::Call<envelope::ChooseParityResponse> call) {
        on_posted({.envelope = call.envelope,
                   .player_id = call.message.player_id,
                   .answer = ChoiceAnswer{call.envelope.match_id->str(),
                                          std::move(call.message.parity_choice),
                                          std::move(call.message.choice_nonce),
                                          std::move(call.message.receipt)},
                   .notes = *call.notes},
                  std::move(call.reply));
      });
  server_.bind_tool("start_match",
                    [this](agent::host::ToolCall call) { on_start_match(std::move(call)); });
  server_.bind_tool("get_match_state",
                    [this](agent::host::ToolCall call) { on_get_match_state(std::move(call)); });
}

void RefereeService::on_announcement(agent::host::Call<json> call) {
  auto matches = envelope::decode_assignments(call.message["matches"]);
  if (auto* guest = guest_assignments(); guest && !matches) {
    auto given = guest->read(call.message);
    if (!given) return call.reply.refuse(given.error());
    return call.reply.acknowledge([guest, given = std::move(*given)] { guest->begin(given); });
  }
  if (!matches) return call.reply.refuse(matches.error());
  auto taken = take_places(std::move(*matches), call.envelope.round_id.value_or(1));
  json answer = {{"status", "ok"}};
  for (const auto& [match_id, why] : taken.refused) {
    answer["refused"].push_back(match_id);
    answer["reasons"][match_id] = {{"error_code", core::error_info(why.code).wire_code},
                                   {"error_description", why.message}};
  }
  // Answer first: the manager waits for the answer, and matches take long.
  call.reply.send(answer, [runners = std::move(taken.runners)] {
    for (const auto& runner : runners) runner->start();
  });
}

std::shared_ptr<MatchRunner> RefereeService::running(const core::MatchId& id) const {
  std::lock_guard lock(mutex_);
  auto found = running_.find(id);
  return found == running_.end() ? nullptr : found->second;
}

void RefereeService::on_posted(const PostedAnswer& posted, agent::peers::Reply reply) {
  const auto runner = running(*posted.envelope.match_id);
  if (!runner) {
    return reply.refuse(
        {ErrorCode::kMatchNotFound, "this referee is not playing that match", "/match_id"});
  }
  auto go_on = runner->take_posted(posted);
  if (!go_on) return reply.refuse(go_on.error());
  reply.acknowledge(std::move(*go_on));
}

Result<void> RefereeService::check_token(const envelope::Envelope& envelope) const {
  // A player's answer carries the player's token, which the match checks.
  if (envelope.type == envelope::MessageType::kGameJoinAck ||
      envelope.type == envelope::MessageType::kChooseParityResponse)
    return {};
  std::lock_guard lock(mutex_);
  if (token_.empty())
    return Error{ErrorCode::kAuthTokenInvalid, "this referee is not registered yet", "/auth_token"};
  if (token_.matches(envelope.auth_token->reveal())) return {};
  return Error{ErrorCode::kAuthTokenInvalid,
               "auth_token must be this referee's own, which only its league manager has",
               "/auth_token"};
}

RefereeService::AcceptedMatches RefereeService::take_places(
    std::vector<envelope::MatchAssignment> matches, int round_id) {
  AcceptedMatches taken;
  for (auto& match : matches) {
    std::string id = match.match_id.str();
    auto runner = take_place(std::move(match), round_id);
    if (!runner) {
      agent::runtime::log::warn("match {} is refused: {}", id, runner.error().message);
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
                       " has been replaced by that of term " + std::to_string(term_),
                   "/matches"};
    }
    term_ = assignment.term.value_or(term_);
    const KnownAttempt given{assignment.attempt, assignment.draw_commitment.value_or("")};
    auto known = last_attempt_.find(assignment.match_id);
    auto running = running_.find(assignment.match_id);
    if (known != last_attempt_.end() && is_repetition(given, known->second)) {
      // A repeated announcement, possibly because a player has returned at a new address.
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
  if (auto* guest = guest_assignments()) guest->place_is_free();
  if (!ack.is_object() || !ack.contains("matches")) return;
  auto next = envelope::decode_assignments(ack["matches"]);
  if (!next) return;
  auto round = ack.find("round_id");
  int round_id = round != ack.end() && round->is_number_integer() ? round->get<int>() : 1;
  for (const auto& started : take_places(std::move(*next), round_id).runners) started->start();
}

void RefereeService::on_start_match(agent::host::ToolCall call) {
  core::AuthToken shown(schema::text_at(call.arguments, "auth_token"));
  bool knows_token = false;
  {
    std::lock_guard lock(mutex_);
    knows_token = !token_.empty() && token_.matches(shown.reveal());
  }
  auto match = call.arguments.find("match");
  const bool has_match = match != call.arguments.end();
  auto assignments = envelope::decode_assignments(has_match ? json::array({*match}) : json());
  // A third-party manager can also send assignments in our own format.
  auto* guest = guest_assignments();
  if (guest && !(knows_token && assignments))
    return on_foreign_start(*guest, std::move(call), knows_token);
  if (!knows_token) {
    return call.reply.refuse(
        {shown.empty() ? ErrorCode::kAuthTokenMissing : ErrorCode::kAuthTokenInvalid,
         "only the league manager may call start_match: auth_token must be this referee's own "
         "token",
         "/auth_token"});
  }
  if (!has_match) {
    return call.reply.refuse({ErrorCode::kMissingRequiredField,
                              "match must be an assignment as in ROUND_ANNOUNCEMENT", "/match"});
  }
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

void RefereeService::on_foreign_start(GuestAssignments& guest, agent::host::ToolCall call,
                                      bool knows_token) {
  if (!knows_token && call.notes) {
    const bool shows_token = !schema::text_at(call.arguments, "auth_token").empty();
    call.notes->leniencies.push_back(leniency_name(shows_token
                                                       ? envelope::Leniency::kForeignCallToken
                                                       : envelope::Leniency::kMissingCallToken));
  }
  auto given = guest.read(call.arguments);
  if (!given) return call.reply.refuse(given.error());
  json answer = {{"status", "ok"}, {"accepted", !given->empty()}};
  if (!given->empty()) answer["match_id"] = given->front().match_id.str();
  if (schema::text_at(call.arguments, "message_type") == "START_MATCH")
    answer["message_type"] = "START_MATCH_ACK";
  call.reply.send(answer, [&guest, given = std::move(*given)] { guest.begin(given); });
}

}  // namespace league::referee::service
