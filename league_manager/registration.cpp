#include "league_manager/registration.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/core/crypto.h"
#include "common/core/text.h"

namespace league::league_manager {

using core::Error;
using core::ErrorCode;

namespace {

constexpr std::size_t kShownOfEndpoint = 100;

std::string meta_field(AgentKind kind, std::string_view field) {
  return std::string("/").append(agent_kind_name(kind)).append("_meta/").append(field);
}

std::size_t count_characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

core::Result<void> check_profile(const LeagueSettings& settings,
                                 const RegistrationRequest& request) {
  const AgentProfile& profile = request.profile;
  if (profile.protocol_version && !speaks_our_protocol(*profile.protocol_version)) {
    return Error{ErrorCode::kProtocolVersionMismatch,
                 "protocol_version " + core::excerpt(*profile.protocol_version) +
                     " is not supported: declare 2.0.0 or later and below 3.0.0, or leave it out",
                 meta_field(request.kind, "protocol_version")};
  }
  if (std::ranges::find(profile.game_types, settings.game_type) == profile.game_types.end()) {
    return Error{ErrorCode::kGameTypeNotSupported,
                 "this league plays '" + settings.game_type + "': list it in game_types",
                 meta_field(request.kind, "game_types")};
  }
  auto length = count_characters(profile.display_name);
  if (length < 1 || length > 50) {
    return Error{ErrorCode::kInvalidFieldValue,
                 "display_name has " + std::to_string(length) + " characters: send 1 to 50",
                 meta_field(request.kind, "display_name")};
  }
  if (request.kind == AgentKind::kReferee && profile.max_concurrent_matches < 1) {
    return Error{ErrorCode::kInvalidFieldValue,
                 "max_concurrent_matches is " + std::to_string(profile.max_concurrent_matches) +
                     ": send 1 or more",
                 meta_field(request.kind, "max_concurrent_matches")};
  }
  return {};
}

Error endpoint_taken(const RegistrationRequest& request, AgentRef owner) {
  return {ErrorCode::kDuplicateRegistration,
          "contact_endpoint " + core::excerpt(request.profile.endpoint, kShownOfEndpoint) +
              " belongs to " + owner.id() + ": use another address, or present the auth_token of " +
              owner.id() + " to come back",
          meta_field(request.kind, "contact_endpoint")};
}

/// Comes back as `agent`, with its present token.
core::Result<RegistrationDecision> return_with_token(const Roster& roster,
                                                     const RegistrationRequest& request,
                                                     const RegistrationFacts& facts,
                                                     AgentRef agent) {
  const Agent& known = roster.agent(agent);
  if (known.lifecycle.state() == AgentState::kShutdown) {
    return Error{
        ErrorCode::kPlayerUnavailable,
        agent.id() +
            " is shut down; the operator of the league can restore it (league agent restore)",
        ""};
  }
  auto owner = roster.find_by_endpoint(request.profile.endpoint);
  if (owner && *owner != agent) return endpoint_taken(request, *owner);
  RegistrationDecision decision{{}, agent, known.credential.nonce, Recognition::kToken};
  std::string nonce_hash = known.registration_nonce_hash;
  if (request.registration_nonce)
    nonce_hash = core::to_hex(core::sha256(*request.registration_nonce));
  if (known.profile != request.profile || known.registration_nonce_hash != nonce_hash) {
    decision.events.push_back(
        {facts.now, AgentReregistered{agent, request.profile, known.credential, nonce_hash,
                                      Recognition::kToken}});
  }
  if (known.lifecycle.state() == AgentState::kSuspended) {
    decision.events.push_back(
        {facts.now, AgentStateChanged{agent, AgentState::kActive, "REGISTERED_AGAIN"}});
  }
  return decision;
}

}  // namespace

bool speaks_our_protocol(std::string_view version) {
  int major = 0;
  auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), major);
  if (error != std::errc{} || major != 2) return false;
  // A pre-release of 2.0.0 comes before 2.0.0.
  return end == version.data() + version.size() || (*end == '.' && !version.starts_with("2.0.0-"));
}

core::Result<RegistrationDecision> decide_registration(const Roster& roster,
                                                       const LeagueSettings& settings, bool started,
                                                       const RegistrationRequest& request,
                                                       const RegistrationFacts& facts) {
  if (auto fit = check_profile(settings, request); !fit) return fit.error();
  const std::string& endpoint = request.profile.endpoint;
  if (request.token_hash) {
    auto agent = roster.find_by_token_hash(*request.token_hash);
    if (agent && agent->kind == request.kind)
      return return_with_token(roster, request, facts, *agent);
  }
  std::string nonce_hash;
  if (request.registration_nonce) {
    nonce_hash = core::to_hex(core::sha256(*request.registration_nonce));
    auto agent = roster.find_by_registration_nonce(nonce_hash);
    if (agent && agent->kind == request.kind && roster.agent(*agent).profile.endpoint == endpoint) {
      return RegistrationDecision{
          {}, *agent, roster.agent(*agent).credential.nonce, Recognition::kRegistrationNonce};
    }
    if (agent) {
      return Error{ErrorCode::kDuplicateRegistration,
                   "registration_nonce has been used by another agent: make it from at least 128 "
                   "random bits",
                   ""};
    }
  }
  if (started) {
    return Error{
        ErrorCode::kLateRegistration,
        "the league has started: only a registered agent can come back, with its auth_token", ""};
  }
  auto credential_for = [&](AgentRef agent) {
    return Credential{facts.token_nonce, facts.token_hash(agent.id(), facts.token_nonce)};
  };
  if (auto owner = roster.find_by_endpoint(endpoint)) {
    bool same = owner->kind == request.kind &&
                roster.agent(*owner).profile.display_name == request.profile.display_name;
    if (!settings.open_mode || !same) return endpoint_taken(request, *owner);
    RegistrationDecision decision{{}, *owner, facts.token_nonce, Recognition::kEndpointAndName};
    decision.events.push_back(
        {facts.now, AgentReregistered{*owner, request.profile, credential_for(*owner), nonce_hash,
                                      Recognition::kEndpointAndName}});
    return decision;
  }
  int limit = request.kind == AgentKind::kPlayer ? settings.players : settings.referees;
  if (roster.count(request.kind) >= limit) {
    return Error{ErrorCode::kLeagueFull,
                 "the league has all of its " + std::to_string(limit) + " " +
                     std::string(agent_kind_name(request.kind)) + "s: wait for the next league",
                 ""};
  }
  AgentRef agent{request.kind, roster.count(request.kind)};
  RegistrationDecision decision{{}, agent, facts.token_nonce, std::nullopt};
  decision.events.push_back(
      {facts.now, AgentRegistered{agent, request.profile, credential_for(agent), nonce_hash}});
  return decision;
}

}  // namespace league::league_manager
