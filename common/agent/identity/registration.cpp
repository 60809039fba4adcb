#include "common/agent/identity/registration.h"

#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/core/text.h"
#include "common/envelope/codec.h"

namespace league::agent::identity {
namespace {

using core::Error;
using core::ErrorCode;
using envelope::MessageType;
using nlohmann::json;
using Done = std::function<void(core::Result<Identity>)>;

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
                  .receipt_key = receipt_key_of(response)};
}

/// One registration in progress; kept alive by its calls and timers.
class Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(const RegistrationContext& context, RegistrationOptions options, Done done)
      : context_(context),
        options_(std::move(options)),
        done_(std::move(done)),
        envelopes_({options_.role, temporary_id(options_.display_name)}, std::nullopt,
                   context.clock) {
    take({options_.token, options_.nonce});
  }

  void send() {
    ++attempts_;
    if (options_.role == envelope::Role::kReferee) return send(referee_request());
    send(player_request());
  }

 private:
  template <typename Request>
  void send(const Request& request) {
    auto conversation =
        envelope::registration_conversation(options_.role, temporary_id(options_.display_name), 1);
    const auto envelope = envelopes_.make(
        Request::kType,
        {.conversation_id = conversation, .auth_token = if_any(credentials_.token)});
    auto call = peers::call_with({options_.manager, "league_manager"}, envelope, request,
                                 context_.settings.time_limit(Request::kType));
    call.reply_defaults.is_guest = true;  // it is not known yet whose manager this is
    context_.peers.call(std::move(call),
                        [self = shared_from_this()](const peers::PeerReply& reply,
                                                    const typename Request::Answer* answer) {
                          if (answer == nullptr) return self->on_failure(*reply.error);
                          self->on_identity(self->read(reply, *answer));
                        });
  }

  [[nodiscard]] std::optional<std::string> log_public_key() const {
    return options_.log_public_key.empty() ? std::nullopt : std::optional(options_.log_public_key);
  }

  [[nodiscard]] envelope::RefereeRegisterRequest referee_request() const {
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
                            .admission_key = text_if_any(options_.admission_key)};
    message.registration_nonce = credentials_.nonce;
    return message;
  }

  [[nodiscard]] envelope::LeagueRegisterRequest player_request() const {
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
                           .batches = options_.batches};
    message.registration_nonce = credentials_.nonce;
    return message;
  }

  void on_failure(const Error& error) {
    if (error.code == ErrorCode::kAuthTokenInvalid) return on_identity(error);
    bool passes = core::error_info(error.code).retryable || error.code == ErrorCode::kOverloaded;
    if (!passes || attempts_ >= options_.max_attempts) return done_(error);
    context_.timer.schedule(options_.retry_delay, [self = shared_from_this()] { self->send(); });
  }

  void on_identity(core::Result<Identity> identity) {
    if (identity) return done_(std::move(identity));
    bool is_unknown =
        identity.error().code == ErrorCode::kAuthTokenInvalid && !credentials_.token.empty();
    std::optional<Credentials> next;
    if (is_unknown && options_.next_credentials) next = options_.next_credentials();
    if (is_unknown) unknown_tokens_ += 1;
    if (!next) return done_(explained(identity.error()));
    take(std::move(*next));
    attempts_ = 0;
    send();
  }

  /// Adds advice for the operator to the error if tokens were refused before.
  [[nodiscard]] Error explained(Error error) const {
    if (unknown_tokens_ == 0) return error;
    error.message +=
        ". The manager does not know the stored token: ask the operator for a new one (league "
        "admin new-token), and start with --token FILE";
    return error;
  }

  void take(Credentials credentials) {
    credentials_ = std::move(credentials);
    if (credentials_.nonce.empty()) credentials_.nonce = core::to_hex(context_.random.bytes<16>());
  }

  /// The token may be missing only from a third-party manager, and only in open mode.
  [[nodiscard]] core::Result<void> check_token(const envelope::Envelope& envelope,
                                               const peers::PeerReply& reply, bool is_ours) const {
    if (envelope.auth_token && !envelope.auth_token->empty()) return {};
    if (context_.peers.mode() != envelope::Mode::kOpen || is_ours)
      return Error{ErrorCode::kInvalidReply,
                   "the league manager accepted the registration without an auth_token",
                   "/auth_token"};
    if (reply.notes)
      reply.notes->leniencies.push_back(leniency_name(envelope::Leniency::kAcceptedWithoutToken));
    return {};
  }

  template <typename Response>
  [[nodiscard]] core::Result<Identity> read(const peers::PeerReply& reply,
                                            const Response& response) const {
    const envelope::Envelope& envelope = reply.answer->envelope;
    auto identity = read_identity(envelope, response);
    if (!identity) return identity;
    auto token = check_token(envelope, reply, response.match_credentials);
    if (!token) return token.error();
    identity->nonce = credentials_.nonce;
    return identity;
  }

  const RegistrationContext context_;
  const RegistrationOptions options_;
  const Done done_;
  const envelope::EnvelopeBuilder envelopes_;
  Credentials credentials_;
  int attempts_ = 0;
  int unknown_tokens_ = 0;
};

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

void register_agent(const RegistrationContext& context, RegistrationOptions options, Done done) {
  std::make_shared<Attempt>(context, std::move(options), std::move(done))->send();
}

}  // namespace league::agent::identity
