#include "common/agent/identity/registration.h"

#include "common/core/crypto.h"
#include "common/core/text.h"
#include "common/envelope/codec.h"
#include "common/task/task.h"

namespace league::agent::identity {
namespace {

using core::Error;
using core::ErrorCode;

std::optional<core::AuthToken> if_any(const core::AuthToken& token) {
  return token.empty() ? std::nullopt : std::optional(token);
}

std::optional<std::string> text_if_any(const core::AuthToken& secret) {
  return secret.empty() ? std::nullopt : std::optional(secret.reveal());
}

const std::optional<core::RefereeId>& own_id(const envelope::RefereeRegisterResponse& response) {
  return response.referee_id;
}
const std::optional<core::PlayerId>& own_id(const envelope::LeagueRegisterResponse& response) {
  return response.player_id;
}

std::string receipt_key_of(const envelope::RefereeRegisterResponse& /*response*/) { return {}; }
std::string receipt_key_of(const envelope::LeagueRegisterResponse& response) {
  return response.receipt_key.value_or(std::string());
}

template <typename Response>
core::Result<Identity> read_identity(const envelope::Envelope& envelope, const Response& response) {
  const auto& id = own_id(response);
  if (response.status != envelope::RegistrationStatus::kAccepted || !id) {
    return Error{response.error_code.value_or(ErrorCode::kInvalidReply),
                 "the league manager rejected the registration: " +
                     response.reason.value_or("no reason given"),
                 ""};
  }
  return Identity{.id = id->str(),
                  .token = envelope.auth_token.value_or(core::AuthToken()),
                  .league = envelope.league_id.value_or(core::LeagueId{}),
                  .broadcast_key = response.broadcast_key.value_or(std::string()),
                  .league_key = response.league_key.value_or(std::string()),
                  .match_credentials = response.match_credentials,
                  .receipt_key = receipt_key_of(response),
                  .game = response.game ? response.game->text : std::string()};
}

/// The token may be missing only from a third-party manager, and only in open mode.
core::Result<void> check_token(const peers::PeerReply& reply, envelope::Mode mode, bool is_ours) {
  const auto& token = reply.answer->envelope.auth_token;
  if (token && !token->empty()) return {};
  if (mode != envelope::Mode::kOpen || is_ours)
    return Error{ErrorCode::kInvalidReply,
                 "the league manager accepted the registration without an auth_token",
                 "/auth_token"};
  if (reply.notes)
    reply.notes->leniencies.push_back(leniency_name(envelope::Leniency::kAcceptedWithoutToken));
  return {};
}

template <typename Response>
core::Result<Identity> read(const peers::PeerReply& reply, const Response& response,
                            envelope::Mode mode) {
  auto identity = read_identity(reply.answer->envelope, response);
  if (!identity) return identity;
  auto token = check_token(reply, mode, response.match_credentials);
  if (!token) return token.error();
  return identity;
}

/// How one attempt ended.
struct Outcome {
  core::Result<Identity> identity;
  bool is_decided = true;  ///< by the manager's answer; otherwise there is none
};

/// The attempts of one registration.
class Attempts {
 public:
  Attempts(const RegistrationContext& context, const RegistrationOptions& options)
      : context_(context),
        options_(options),
        envelopes_({options.role, temporary_id(options.display_name)}, std::nullopt,
                   context.clock) {}

  [[nodiscard]] task::Task<Outcome> make(Credentials credentials) const {
    if (options_.role == envelope::Role::kReferee)
      return send(referee_request(credentials.nonce), credentials.token);
    return send(player_request(credentials.nonce), credentials.token);
  }

 private:
  template <typename Request>
  [[nodiscard]] task::Task<Outcome> send(Request request, core::AuthToken token) const {
    auto conversation =
        envelope::registration_conversation(options_.role, temporary_id(options_.display_name), 1);
    const auto envelope = envelopes_.make(
        Request::kType, {.conversation_id = conversation, .auth_token = if_any(token)});
    auto call = peers::call_with({options_.manager, "league_manager"}, envelope, request,
                                 context_.settings.time_limit(Request::kType));
    call.reply_defaults.is_guest = true;  // it is not known yet whose manager this is
    return task::called_back<Outcome>([&peers = context_.peers, call = std::move(call)](auto then) {
      // Read here because what is found belongs to the record, which is written after this.
      peers.call(call, [then, mode = peers.mode()](const peers::PeerReply& reply,
                                                   const typename Request::Answer* answer) {
        if (answer != nullptr) return then({read(reply, *answer, mode)});
        then({*reply.error, reply.error->code == ErrorCode::kAuthTokenInvalid});
      });
    });
  }

  [[nodiscard]] std::optional<std::string> log_public_key() const {
    return options_.log_public_key.empty() ? std::nullopt : std::optional(options_.log_public_key);
  }

  [[nodiscard]] envelope::RefereeRegisterRequest referee_request(const std::string& nonce) const {
    envelope::RefereeRegisterRequest message;
    message.referee_meta = {.display_name = options_.display_name,
                            .version = LEAGUE_VERSION,
                            .game_types = options_.game_types,
                            .contact_endpoint = options_.contact_endpoint,
                            .max_concurrent_matches = options_.max_concurrent_matches,
                            .protocol_version = std::string(envelope::kProtocolVersion),
                            .assignments_in_ack = true,
                            .log_public_key = log_public_key(),
                            .hears_events = options_.hears_events,
                            .match_credentials = true,
                            .admission_key = text_if_any(options_.admission_key),
                            .game_definitions = true};
    message.registration_nonce = nonce;
    return message;
  }

  [[nodiscard]] envelope::LeagueRegisterRequest player_request(const std::string& nonce) const {
    envelope::LeagueRegisterRequest message;
    message.player_meta = {.display_name = options_.display_name,
                           .version = LEAGUE_VERSION,
                           .game_types = options_.game_types,
                           .contact_endpoint = options_.contact_endpoint,
                           .protocol_version = std::string(envelope::kProtocolVersion),
                           .contact_email = {},
                           .log_public_key = log_public_key(),
                           .hears_events = options_.hears_events,
                           .registration_code = text_if_any(options_.registration_code),
                           .receipts = options_.receipts,
                           .batches = options_.batches,
                           .game_definitions = options_.game_definitions};
    message.registration_nonce = nonce;
    return message;
  }

  const RegistrationContext& context_;
  const RegistrationOptions& options_;
  const envelope::EnvelopeBuilder envelopes_;
};

/// Whether another attempt may succeed.
bool passes(const Error& error) {
  return core::error_info(error.code).retryable || error.code == ErrorCode::kOverloaded;
}

/// Adds advice for the operator, after tokens were refused.
Error explained(Error error) {
  error.message +=
      ". The manager does not know the stored token: ask the operator for a new one (league "
      "admin new-token), and start with --token FILE";
  return error;
}

}  // namespace

std::string temporary_id(const std::string& display_name) {
  constexpr std::size_t kLongest = 64;
  std::string id = display_name.substr(0, kLongest);
  for (char& c : id) {
    if (!core::is_alphanumeric(c)) c = '_';
  }
  return id.empty() ? "unnamed" : id;
}

core::Result<Identity> identity_in(const envelope::Envelope& envelope,
                                   const envelope::LeagueRegisterResponse& response) {
  return read_identity(envelope, response);
}

task::Task<core::Result<Identity>> register_agent(RegistrationContext context,
                                                  RegistrationOptions options) {
  const Attempts attempts(context, options);
  Credentials credentials{options.token, options.nonce};
  bool was_unknown = false;
  for (int attempt = 1;; ++attempt) {
    if (credentials.nonce.empty()) credentials.nonce = core::to_hex(context.random.bytes<16>());
    auto outcome = co_await attempts.make(credentials);
    if (outcome.identity) {
      outcome.identity->nonce = credentials.nonce;
      co_return std::move(outcome.identity);
    }
    const Error& error = outcome.identity.error();
    if (!outcome.is_decided) {
      if (!passes(error) || attempt >= options.max_attempts) co_return error;
      co_await task::sleep_for(context.timer, options.retry_delay);
      continue;
    }
    const bool is_unknown =
        error.code == ErrorCode::kAuthTokenInvalid && !credentials.token.empty();
    was_unknown = was_unknown || is_unknown;
    std::optional<Credentials> next;
    if (is_unknown && options.next_credentials) next = options.next_credentials();
    if (!next) co_return was_unknown ? explained(error) : error;
    credentials = std::move(*next);
    attempt = 0;
  }
}

}  // namespace league::agent::identity
