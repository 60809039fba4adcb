#include "league_manager/core/registration.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/core/crypto.h"
#include "common/core/text.h"
#include "common/envelope/display_name.h"
#include "common/rpc/seat_address.h"

namespace league::league_manager {

using core::Error;
using core::ErrorCode;

namespace {

constexpr std::size_t kShownOfEndpoint = 100;
std::string seat_of(const events::AgentProfile& profile, events::AgentRef agent) {
  const bool comes_to_us = profile.endpoint == rpc::kOutward;
  return comes_to_us ? rpc::seat_address(agent.id()) : profile.endpoint;
}

std::string meta_field(events::AgentKind kind, std::string_view field) {
  return std::string("/").append(events::agent_kind_name(kind)).append("_meta/").append(field);
}

core::Result<void> check_profile(const events::LeagueSettings& settings,
                                 const RegistrationRequest& request) {
  const events::AgentProfile& profile = request.profile;
  if (profile.protocol_version && !speaks_our_protocol(*profile.protocol_version)) {
    return Error{ErrorCode::kProtocolVersionMismatch,
                 "protocol_version " + core::excerpt(*profile.protocol_version) +
                     " is not supported: declare 2.0.0 or later and below 3.0.0, or leave it out",
                 meta_field(request.kind, "protocol_version")};
  }
  if (std::ranges::find(profile.game_types, settings.rules->game_type()) ==
      profile.game_types.end()) {
    return Error{ErrorCode::kGameTypeNotSupported,
                 "this league plays '" + settings.rules->game_type() + "': list it in game_types",
                 meta_field(request.kind, "game_types")};
  }
  if (request.kind == events::AgentKind::kReferee && profile.max_concurrent_matches < 1) {
    return Error{ErrorCode::kInvalidFieldValue,
                 "max_concurrent_matches is " + std::to_string(profile.max_concurrent_matches) +
                     ": send 1 or more",
                 meta_field(request.kind, "max_concurrent_matches")};
  }
  if (profile.has_seat_limits() && profile.endpoint != rpc::kOutward) {
    return Error{ErrorCode::kInvalidFieldValue,
                 "played_by is for players that come to the league: send contact_endpoint "
                 "\"outward\", or leave played_by out",
                 meta_field(request.kind, "played_by")};
  }
  return {};
}

/// Refuses a person or chat program beyond those that the operator admits.
core::Result<void> check_people(const Roster& roster, const events::LeagueSettings& settings,
                                const RegistrationRequest& request) {
  if (!request.profile.has_seat_limits() || roster.people() < settings.people) return {};
  return Error{ErrorCode::kLeagueFull,
               settings.people == 0
                   ? "this league is for programs: it admits no people"
                   : "the league already has all of the people that it admits (" +
                         std::to_string(settings.people) + "): wait for the next league",
               meta_field(request.kind, "played_by")};
}

/// The request's name as it is stored, or why it is refused. `known`, which the request's token
/// names, keeps the name that it was admitted with, whatever the rules are by now.
core::Result<std::string> name_of(const RegistrationRequest& request, const events::Agent* known) {
  const std::string& name = request.profile.display_name;
  if (known != nullptr && known->profile.display_name == name) return name;
  auto admitted = envelope::admit_display_name(name);
  if (admitted) return admitted;
  return Error{admitted.error().code, "display_name " + admitted.error().message,
               meta_field(request.kind, "display_name")};
}

Error endpoint_taken(const RegistrationRequest& request, events::AgentRef owner) {
  return {ErrorCode::kDuplicateRegistration,
          "contact_endpoint " + core::excerpt(request.profile.endpoint, kShownOfEndpoint) +
              " belongs to " + owner.id() + ": use another address, or present the auth_token of " +
              owner.id() + " to come back",
          meta_field(request.kind, "contact_endpoint")};
}

Error name_taken(const RegistrationRequest& request, events::AgentRef owner) {
  return {ErrorCode::kDuplicateRegistration,
          "display_name \"" + core::excerpt(request.profile.display_name) + "\" belongs to " +
              owner.id() + ": choose another name, or present the auth_token of " + owner.id() +
              " to come back",
          meta_field(request.kind, "display_name")};
}

Error code_taken(events::AgentRef owner) {
  return {ErrorCode::kDuplicateRegistration,
          "registration_code is that of " + owner.id() +
              ", which is registered: a code is good for one seat; to come back present the "
              "auth_token of " +
              owner.id(),
          "/player_meta/registration_code"};
}

/// The seat that was registered with the code of `profile`, if there is one.
std::optional<events::AgentRef> seat_of_code(const Roster& roster,
                                             const events::AgentProfile& profile) {
  return profile.code_digest ? roster.find_by_code(*profile.code_digest) : std::nullopt;
}

Error unknown_token(const RegistrationRequest& request) {
  return {ErrorCode::kAuthTokenInvalid,
          "auth_token belongs to no " + std::string(events::agent_kind_name(request.kind)) +
              " of this league: send the one that this league gave you, or none to register as a "
              "new agent",
          "/auth_token"};
}

/// Removes from the profile what a program that its referee starts cannot promise: it is in the
/// referee's hands, and so is its receipt key.
void ignore_receipts_of_child(events::AgentProfile& profile, std::vector<std::string>& ignored) {
  if (!profile.receipts || !profile.endpoint.starts_with("stdio:")) return;
  profile.receipts = false;
  ignored.push_back(
      "it declares receipts, but its referee starts it, so that referee could write "
      "them: it counts as a player without receipts");
}

core::Result<void> check_commitments(const events::LeagueSettings& settings,
                                     const RegistrationRequest& request) {
  if (!settings.requires_commitments || request.kind != events::AgentKind::kPlayer ||
      request.profile.receipts)
    return {};
  return Error{ErrorCode::kInvalidFieldValue,
               "this league accepts only players that commit and send receipts: implement both, "
               "then declare player_meta.receipts true (not for stdio: endpoints)",
               "/player_meta/receipts"};
}

/// What a player's token may not change without the registration nonce, since its referees may have
/// seen the token.
void keep_declarations(const events::Agent& known, bool has_open_match,
                       RegistrationRequest& request, std::vector<std::string>& ignored) {
  events::AgentProfile& asked = request.profile;
  const std::string why = "; show registration_nonce together with the token to change it";
  if (has_open_match && asked.endpoint != known.profile.endpoint) {
    asked.endpoint = known.profile.endpoint;
    ignored.push_back("its address stays the same while its match is open" + why);
  }
  if (asked.receipts != known.profile.receipts) {
    asked.receipts = known.profile.receipts;
    ignored.push_back(std::string("its declaration of receipts stays ") +
                      (asked.receipts ? "true" : "false") + why);
  }
  if (known.profile.log_public_key && !asked.log_public_key) {
    asked.log_public_key = known.profile.log_public_key;
    ignored.push_back("its log key stays declared" + why);
  }
}

/// Whether the request shows the registration nonce of `known`, or binds a first one after the
/// operator gave the seat a new token.
bool shows_nonce(const events::Agent& known, const std::string& nonce_hash) {
  return !nonce_hash.empty() && (known.awaits_nonce || known.registration_nonce_hash == nonce_hash);
}

/// Refuses the return of `agent` with another address or name that belongs to somebody else.
core::Result<void> check_return(const Roster& roster, const RegistrationRequest& request,
                                events::AgentRef agent) {
  const events::Agent& known = roster.agent(agent);
  if (known.lifecycle.state() == events::AgentState::kShutdown) {
    return Error{
        ErrorCode::kPlayerUnavailable,
        agent.id() +
            " is shut down; the operator of the league can restore it (league admin restore)",
        ""};
  }
  auto owner = roster.find_by_endpoint(request.profile.endpoint);
  if (owner && *owner != agent) return endpoint_taken(request, *owner);
  auto namesake = roster.find_by_name(agent.kind, request.profile.display_name);
  bool has_new_name = envelope::comparable_name(known.profile.display_name) !=
                      envelope::comparable_name(request.profile.display_name);
  if (has_new_name && namesake && *namesake != agent) return name_taken(request, *namesake);
  // A code is valid for one name: by changing its name, its owner could get several seats.
  if (has_new_name && agent.kind == events::AgentKind::kPlayer && request.not_admitted)
    return *request.not_admitted;
  return {};
}

/// Decides the return of `agent`, which has shown its current token.
core::Result<RegistrationDecision> return_with_token(
    const Roster& roster, const events::LeagueSettings& settings, const RegistrationScene& scene,
    RegistrationRequest request, const RegistrationFacts& facts, events::AgentRef agent) {
  const events::Agent& known = roster.agent(agent);
  // Who plays is said once, wherever the player goes afterwards: it decides how long matches wait
  // for the answers, and how fair they can be.
  request.profile.played_by = known.profile.played_by;
  request.profile.endpoint = seat_of(request.profile, agent);
  if (known.profile.code_digest) {
    // The seat keeps the name from the operator's list and its code, whatever the request says.
    request.profile.display_name = known.profile.display_name;
    request.profile.code_digest = known.profile.code_digest;
  } else if (auto seat = seat_of_code(roster, request.profile)) {
    return code_taken(*seat);
  }
  RegistrationDecision decision{{}, agent, known.credential.nonce, events::Recognition::kToken};
  const bool is_player = agent.kind == events::AgentKind::kPlayer;
  std::string nonce_hash;
  if (request.registration_nonce)
    nonce_hash = core::to_hex(core::sha256(*request.registration_nonce));
  const bool has_nonce = shows_nonce(known, nonce_hash);
  if (is_player && !has_nonce) {
    const bool is_playing = scene.has_open_match && scene.has_open_match(agent);
    keep_declarations(known, is_playing, request, decision.ignored);
  }
  ignore_receipts_of_child(request.profile, decision.ignored);
  if (auto commits = check_commitments(settings, request); !commits) return commits.error();
  if (auto possible = check_return(roster, request, agent); !possible) return possible.error();
  if (nonce_hash.empty() || (is_player && !has_nonce)) nonce_hash = known.registration_nonce_hash;
  decision.gives_receipt_key = has_nonce && request.profile.receipts;
  if (known.profile != request.profile || known.registration_nonce_hash != nonce_hash) {
    decision.events.push_back(
        {facts.now, events::AgentReregistered{agent, request.profile, known.credential, nonce_hash,
                                              events::Recognition::kToken}});
  }
  if (known.lifecycle.state() == events::AgentState::kSuspended) {
    decision.events.push_back(
        {facts.now,
         events::AgentStateChanged{agent, events::AgentState::kActive, "REGISTERED_AGAIN"}});
  }
  return decision;
}

/// `agent` was the first to register with the request's nonce.
core::Result<RegistrationDecision> return_with_nonce(const Roster& roster,
                                                     const RegistrationRequest& request,
                                                     events::AgentRef agent) {
  if (agent.kind != request.kind ||
      roster.find_by_endpoint(seat_of(request.profile, agent)) != agent) {
    return Error{ErrorCode::kDuplicateRegistration,
                 "registration_nonce has been used by another agent: make it from at least 128 "
                 "random bits",
                 ""};
  }
  const events::Agent& known = roster.agent(agent);
  return RegistrationDecision{.events = {},
                              .agent = agent,
                              .token_nonce = known.credential.nonce,
                              .recognised_by = events::Recognition::kRegistrationNonce,
                              .gives_receipt_key = known.profile.receipts};
}

}  // namespace

bool speaks_our_protocol(std::string_view version) {
  int major = 0;
  auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), major);
  if (error != std::errc{} || major != 2) return false;
  // A pre-release of 2.0.0 comes before 2.0.0.
  return end == version.data() + version.size() || (*end == '.' && !version.starts_with("2.0.0-"));
}

namespace {

/// Decides the request of an agent that nobody knows yet, or that comes back before the start with
/// the same endpoint and name.
core::Result<RegistrationDecision> admit_agent(const Roster& roster,
                                               const events::LeagueSettings& settings,
                                               const RegistrationRequest& request,
                                               const RegistrationFacts& facts,
                                               RegistrationDecision decision) {
  std::string nonce_hash;
  if (request.registration_nonce)
    nonce_hash = core::to_hex(core::sha256(*request.registration_nonce));
  auto credential_for = [&](events::AgentRef agent) {
    return events::Credential{facts.token_nonce, facts.token_hash(agent.id(), facts.token_nonce)};
  };
  decision.token_nonce = facts.token_nonce;
  decision.gives_receipt_key = request.profile.receipts;
  const auto owner = roster.find_by_endpoint(request.profile.endpoint);
  const auto seat = seat_of_code(roster, request.profile);
  if (seat && seat != owner) return code_taken(*seat);
  if (owner) {
    bool same = owner->kind == request.kind &&
                (seat || envelope::comparable_name(roster.agent(*owner).profile.display_name) ==
                             envelope::comparable_name(request.profile.display_name));
    if (!settings.open_mode || !same) return endpoint_taken(request, *owner);
    decision.agent = *owner;
    decision.recognised_by = events::Recognition::kEndpointAndName;
    decision.events.push_back(
        {facts.now, events::AgentReregistered{*owner, request.profile, credential_for(*owner),
                                              nonce_hash, events::Recognition::kEndpointAndName}});
    return decision;
  }
  if (auto namesake = roster.find_by_name(request.kind, request.profile.display_name))
    return name_taken(request, *namesake);
  int limit = request.kind == events::AgentKind::kPlayer ? settings.players : settings.referees;
  if (roster.taken(request.kind) >= limit) {
    return Error{ErrorCode::kLeagueFull,
                 "the league already has all of its " +
                     std::string(events::agent_kind_name(request.kind)) + "s (" +
                     std::to_string(limit) + "): wait for the next league",
                 ""};
  }
  if (auto people = check_people(roster, settings, request); !people) return people.error();
  decision.agent = roster.next_seat(request.kind);
  events::AgentProfile profile = request.profile;
  profile.endpoint = seat_of(profile, decision.agent);
  decision.events.push_back(
      {facts.now, events::AgentRegistered{decision.agent, std::move(profile),
                                          credential_for(decision.agent), nonce_hash}});
  return decision;
}

}  // namespace

core::Result<RegistrationDecision> decide_registration(const Roster& roster,
                                                       const events::LeagueSettings& settings,
                                                       const RegistrationScene& scene,
                                                       const RegistrationRequest& given,
                                                       const RegistrationFacts& facts) {
  if (auto fit = check_profile(settings, given); !fit) return fit.error();
  const auto known = given.token_hash ? roster.find_by_token_hash(*given.token_hash) : std::nullopt;
  if (given.token_hash && (!known || known->kind != given.kind)) return unknown_token(given);
  auto name = name_of(given, known ? &roster.agent(*known) : nullptr);
  if (!name) return name.error();
  RegistrationRequest request = given;
  request.profile.display_name = std::move(*name);
  if (known) return return_with_token(roster, settings, scene, std::move(request), facts, *known);
  if (request.registration_nonce) {
    const std::string hash = core::to_hex(core::sha256(*request.registration_nonce));
    if (auto agent = roster.find_by_registration_nonce(hash))
      return return_with_nonce(roster, request, *agent);
  }
  RegistrationDecision decision;
  ignore_receipts_of_child(request.profile, decision.ignored);
  if (request.not_admitted) return *request.not_admitted;
  if (auto commits = check_commitments(settings, request); !commits) return commits.error();
  if (scene.is_started) {
    return Error{
        ErrorCode::kLateRegistration,
        "the league has started: only a registered agent can come back, with its auth_token", ""};
  }
  return admit_agent(roster, settings, request, facts, std::move(decision));
}

events::Events decide_new_token(const Roster& roster, events::AgentRef agent,
                                const RegistrationFacts& facts) {
  events::Credential credential{facts.token_nonce, facts.token_hash(agent.id(), facts.token_nonce)};
  return {{facts.now,
           events::AgentReregistered{agent, roster.agent(agent).profile, std::move(credential), "",
                                     events::Recognition::kOperator}}};
}

}  // namespace league::league_manager
