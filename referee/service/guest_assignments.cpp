#include "referee/service/guest_assignments.h"

#include <nlohmann/json.hpp>

#include "common/agent/runtime/exception_guard.h"
#include "common/agent/runtime/log.h"
#include "common/core/crypto.h"
#include "common/core/text.h"
#include "common/envelope/codec.h"

namespace league::referee::service {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

constexpr std::size_t kMostWaiting = 1024;
constexpr std::size_t kMostKnown = 1024;

/// Unwraps an answer that some managers put into a member of the result.
json without_wrapping(json answer) {
  for (const char* name : {"response", "data", "structuredContent"}) {
    if (answer.is_object() && answer.contains(name) && answer[name].is_object())
      return std::move(answer[name]);
  }
  return answer;
}

envelope::MatchAssignment assignment_of(const ForeignMatch& match,
                                        const GuestAssignmentsOptions& options,
                                        core::RandomSource& random) {
  envelope::MatchAssignment assignment;
  assignment.match_id = match.match_id;
  assignment.game_type = match.game_type.empty() ? options.game_type : match.game_type;
  assignment.player_a_id = match.players[Side::kA];
  assignment.player_b_id = match.players[Side::kB];
  assignment.referee_endpoint = options.contact_endpoint;
  assignment.referee_id = core::RefereeId(options.identity.id);
  assignment.conversation_id = envelope::match_conversation(match.match_id, assignment.attempt);
  assignment.player_a_endpoint = match.endpoints[Side::kA];
  assignment.player_b_endpoint = match.endpoints[Side::kB];
  // In the published protocol, referees show players their own token; there is no match credential.
  assignment.player_a_credential = options.identity.token;
  assignment.player_b_credential = options.identity.token;
  assignment.draw_seed = core::to_hex(random.bytes<32>());
  return assignment;
}

}  // namespace

GuestAssignments::GuestAssignments(GuestAssignmentsOptions options,
                                   const GuestAssignmentsDependencies& dependencies, Play play)
    : options_(std::move(options)),
      deps_(dependencies),
      play_(std::move(play)),
      envelopes_(
          envelope::Sender::referee(options_.identity.id),
          options_.identity.league.empty() ? std::nullopt : std::optional(options_.identity.league),
          deps_.clock),
      known_(options_.players),
      tasks_(task::Executor(), agent::runtime::failures_logged("the matches of a guest")) {}

Result<std::vector<ForeignMatch>> GuestAssignments::read(const json& message) {
  auto matches = read_foreign_start(message);
  if (!matches) return matches;
  std::erase_if(*matches, [this](const ForeignMatch& match) {
    return !is_for(match, options_.identity.id, options_.contact_endpoint);
  });
  is_called_ = true;
  return matches;
}

void GuestAssignments::remember(const core::PlayerId& player, const std::string& address) {
  // The sender is not authenticated, so the operator's addresses take precedence.
  if (options_.players.contains(player)) return;
  if (known_.size() < kMostKnown || known_.contains(player)) known_[player] = address;
}

bool GuestAssignments::complete(ForeignMatch& match) {
  bool is_complete = true;
  for (Side side : kBothSides) {
    const core::PlayerId& player = match.players[side];
    if (!match.endpoints[side].empty()) {
      remember(player, match.endpoints[side]);
    } else if (auto found = known_.find(player); found != known_.end()) {
      match.endpoints[side] = found->second;
    }
    is_complete = is_complete && !match.endpoints[side].empty();
  }
  return is_complete;
}

task::Task<void> GuestAssignments::place(std::vector<ForeignMatch> matches) {
  std::vector<ForeignMatch> incomplete;
  for (ForeignMatch& match : matches) {
    if (complete(match)) {
      play(std::move(match));
    } else {
      incomplete.push_back(std::move(match));
    }
  }
  if (incomplete.empty()) co_return;
  auto call = question("league_query",
                       {{"query_type", "GET_REGISTRATIONS"}, {"referee_id", options_.identity.id}});
  const auto answer = co_await deps_.peers.call_tool(std::move(call));
  if (answer) {
    for (const auto& [player, address] : read_addresses(*answer)) remember(player, address);
  }
  for (ForeignMatch& match : incomplete) {
    if (complete(match)) {
      play(std::move(match));
      continue;
    }
    agent::runtime::log::warn(
        "match {} is not played: the addresses of {} and {} are not known; name "
        "them in a file (--players-file){}",
        core::shown(match.match_id.str()), core::shown(match.players[Side::kA].str()),
        core::shown(match.players[Side::kB].str()),
        answer ? "" : ". GET_REGISTRATIONS: " + answer.error().message);
  }
}

void GuestAssignments::play(ForeignMatch match) {
  auto started = play_(assignment_of(match, options_, deps_.random), match.round_id);
  if (started) return;
  if (started.error().code == ErrorCode::kCapacityExceeded && waiting_.size() < kMostWaiting)
    return waiting_.push_back(std::move(match));
  agent::runtime::log::warn("match {} is not played: {}", core::shown(match.match_id.str()),
                            started.error().message);
}

task::Task<void> GuestAssignments::play_next() {
  if (waiting_.empty()) co_return;
  ForeignMatch next = std::move(waiting_.front());
  waiting_.pop_front();
  play(std::move(next));
}

agent::peers::PeerToolCall GuestAssignments::question(std::string tool, json fields) {
  const auto conversation =
      envelope::query_conversation(envelope::Role::kReferee, options_.identity.id, ++questions_);
  auto envelope =
      envelopes_.make(envelope::MessageType::kLeagueQuery, {.conversation_id = conversation});
  if (!options_.identity.token.empty()) envelope.auth_token = options_.identity.token;
  json message = envelope::encode(envelope, envelope::LeagueQuery{});
  // Other tools are not messages: send only the envelope, since managers may dispatch by the type.
  for (const char* field : {"message_type", "query_type", "query_params"}) {
    if (tool != "league_query") message.erase(field);
  }
  message.update(fields);
  // Use the call style with which the manager accepted the registration.
  using agent::dialects::CallStyle;
  const CallStyle registered = deps_.peers.style_of(options_.manager);
  const bool is_bare = tool == "league_query" && registered == CallStyle::kBareBody;
  if (tool == "league_query" && registered == CallStyle::kMessageType) tool = "LEAGUE_QUERY";
  return {.endpoint = options_.manager,
          .peer = "league_manager",
          .tool = std::move(tool),
          .arguments = message.dump(),
          .style = is_bare ? CallStyle::kBareBody : CallStyle::kToolName,
          .conversation_id = conversation.str()};
}

task::Task<void> GuestAssignments::poll() {
  for (;;) {
    co_await task::sleep_for(deps_.timer, options_.poll_interval);
    auto call = question("get_assigned_matches", {{"referee_id", options_.identity.id}});
    auto answer = co_await deps_.peers.call_tool(std::move(call));
    const bool is_unknown = !answer && answer.error().code == ErrorCode::kUnknownMessageType;
    if (is_unknown || (!answer && is_called_)) {
      agent::runtime::log::info(
          "the league manager does not list its matches when asked; waiting "
          "for it to start them");
      co_return;
    }
    if (answer) take_listed(std::move(*answer));
  }
}

void GuestAssignments::take_listed(json answer) {
  const json told = without_wrapping(std::move(answer));
  if (!told.is_object() || !told.contains("matches")) return;
  auto matches = read_foreign_start(told);
  if (!matches)
    return agent::runtime::log::warn("get_assigned_matches: {}", matches.error().message);
  std::erase_if(*matches, [this](const ForeignMatch& match) {
    const bool is_due = match.status.empty() || match.status == "PENDING";
    return !is_due || !is_for(match, options_.identity.id, options_.contact_endpoint);
  });
  begin(std::move(*matches));
}

}  // namespace league::referee::service
