#include "common/mcp/client/negotiation.h"

#include <algorithm>

#include "common/mcp/protocol.h"
#include "common/schema/json_fields.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using schema::field_at;
using Family = NegotiationOptions::Family;
using schema::text_at;

/// The maximum length of texts from servers that we store.
constexpr std::size_t kLongestText = 200;

void take_server_info(const json& result, Negotiated& negotiated) {
  const json& own = field_at(result, "serverInfo");
  const json& info = own.is_object() ? own : field_at(field_at(result, "_meta"), kServerInfoKey);
  negotiated.server_name = text_at(info, "name").substr(0, kLongestText);
  negotiated.server_version = text_at(info, "version").substr(0, kLongestText);
  if (const json& capabilities = field_at(result, "capabilities"); capabilities.is_object())
    negotiated.capabilities = capabilities;
  negotiated.instructions = text_at(result, "instructions").substr(0, 4000);
}

bool names_revision(const json& list, std::string_view revision) {
  return list.is_array() && std::any_of(list.begin(), list.end(), [&](const json& one) {
           return one.is_string() && one.get_ref<const std::string&>() == revision;
         });
}

/// The newest revision with a handshake in a server's list; nothing if there is none.
std::optional<std::string> newest_legacy(const json& list) {
  for (auto it = kLegacyRevisions.rbegin(); it != kLegacyRevisions.rend(); ++it) {
    if (names_revision(list, *it)) return std::string(*it);
  }
  return std::nullopt;
}

bool is_denied(const NegotiationReply& reply) {
  return reply.http_status == 401 || reply.http_status == 403 || reply.http_status >= 500;
}

/// Whether no answer came, for this reason.
bool has_failed(const NegotiationReply& reply, ErrorCode why) {
  return !reply.response && reply.http_status == 0 && reply.error && reply.error->code == why;
}

Error denied(int http_status) {
  std::string text = "the server answered with HTTP status " + std::to_string(http_status);
  if (http_status == 401) text += ": it requires credentials";
  if (http_status == 403) text += ": it does not allow this client";
  bool gateway = http_status >= 502 && http_status <= 504;
  return {gateway ? ErrorCode::kConnectionError : ErrorCode::kInvalidReply, text, ""};
}

Error refused_handshake(const NegotiationReply& reply) {
  std::string text = "the peer is not an MCP server that this program can talk to: ";
  if (reply.response && reply.response->error) {
    text += "it answered initialize with the error " + std::to_string(reply.response->error->code) +
            ": " + reply.response->error->message.substr(0, kLongestText);
  } else if (reply.error) {
    text += reply.error->message;
  } else {
    text += "it did not answer initialize with a JSON-RPC response";
  }
  return {ErrorCode::kInvalidReply, text, ""};
}

/// What an answer to discovery tells.
struct Discovery {
  std::optional<Error> failure;  ///< why nothing else is to be tried
  std::optional<Negotiated> modern;  ///< the server speaks the modern dialect
  std::optional<std::string> legacy;  ///< a revision with a handshake that it names
  bool contradicts_itself = false;  ///< it refused the revision, and names it
};

Discovery read_discovery(const NegotiationReply& reply) {
  Discovery found;
  if (!reply.response) {
    if (is_denied(reply)) {
      found.failure = denied(reply.http_status);
    } else if (reply.http_status == 0 && reply.error) {
      found.failure = reply.error;
    }
    return found;  // An invalid answer (HTML, a refused method) means an older server.
  }
  const rpc::Response& response = *reply.response;
  if (response.error) {
    if (response.error->code != kUnsupportedVersion || !response.error->data.is_object())
      return found;
    const json& supported = field_at(response.error->data, "supported");
    found.legacy = newest_legacy(supported);
    if (found.legacy) return found;
    found.contradicts_itself = names_revision(supported, kModernRevision);
    found.failure = refused_handshake(reply);
    return found;
  }
  const json& versions = field_at(response.result, "supportedVersions");
  if (!names_revision(versions, kModernRevision)) {
    found.legacy = newest_legacy(versions);
    return found;
  }
  found.modern.emplace();
  found.modern->revision = kModernRevision;
  found.modern->is_modern = true;
  take_server_info(response.result, *found.modern);
  return found;
}

core::Result<Negotiated> read_initialized(const NegotiationReply& reply) {
  const json& result = reply.response->result;
  std::string revision = text_at(result, "protocolVersion").substr(0, kLongestText);
  if (!is_legacy_revision(revision)) {
    return Error{ErrorCode::kProtocolVersionMismatch,
                 revision.empty() ? "the answer to initialize has no protocolVersion"
                                  : "the server wants MCP revision \"" + revision.substr(0, 40) +
                                        "\", which this program does not speak",
                 "/result/protocolVersion"};
  }
  Negotiated agreed;
  agreed.revision = std::move(revision);
  agreed.session_id = reply.session_id;
  take_server_info(result, agreed);
  return agreed;
}

NegotiationRequest discovery(const NegotiationOptions& options, bool is_probe) {
  json meta = {{std::string(kVersionKey), kModernRevision},
               {std::string(kClientCapabilitiesKey), options.client_capabilities},
               {std::string(kClientInfoKey),
                {{"name", options.client_name}, {"version", options.client_version}}}};
  return {.method = "server/discover",
          .params = json{{"_meta", std::move(meta)}}.dump(),
          .headers = {{"MCP-Protocol-Version", std::string(kModernRevision)},
                      {"Mcp-Method", "server/discover"}},
          .is_probe = is_probe};
}

NegotiationRequest handshake(const NegotiationOptions& options, const std::string& offered) {
  json params = {
      {"protocolVersion", offered},
      {"capabilities", options.client_capabilities},
      {"clientInfo", {{"name", options.client_name}, {"version", options.client_version}}}};
  return {.method = "initialize", .params = params.dump()};
}

/// Whether the server that refused the handshake may be one of the transport of 2024.
bool may_be_older(const NegotiationReply& reply, const NegotiationOptions& options) {
  const bool is_modern = reply.response && is_modern_error(*reply.response);
  return options.family == Family::kHttp && options.may_fall_back_to_sse && !is_modern &&
         (reply.http_status == 400 || reply.http_status == 404 || reply.http_status == 405);
}

/// One negotiation, from its first request to its end.
class Negotiation {
 public:
  /// Nothing: it goes on.
  using Ending = std::optional<core::Result<Negotiated>>;

  Negotiation(NegotiationPeer* peer, NegotiationOptions options)
      : peer_(*peer),
        options_(std::move(options)),
        // The transport of 2024 is older than the modern dialect.
        discovers_(!options_.skips_discovery && options_.family != Family::kLegacySse),
        offered_(kNewestLegacyRevision) {}

  /// Asks for discovery, if that is due, as often as it is of use.
  task::Task<Ending> discover() {
    while (std::exchange(discovers_, false)) {
      const auto reply = co_await peer_.send_request(discovery(options_, is_probe_));
      if (has_failed(reply, ErrorCode::kConnectionError)) {
        // Some servers close the connection at an unknown request; the next one is not shown it.
        if (options_.family != Family::kConnection || std::exchange(has_reconnected_, true))
          co_return *reply.error;
        const auto opened = co_await peer_.reconnect(/*to_legacy_sse=*/false);
        if (!opened) co_return opened.error();
      } else if (!is_probe_ || !has_failed(reply, ErrorCode::kTimeout)) {
        is_discovery_answered_ = true;
        const auto found = read_discovery(reply);
        if (found.modern) co_return *found.modern;
        // It may have refused because it was still starting, or another server may have answered.
        discovers_ = found.contradicts_itself && !std::exchange(has_repeated_discovery_, true);
        is_probe_ = false;
        if (discovers_) continue;
        if (found.failure) co_return *found.failure;
        if (found.legacy) offered_ = *found.legacy;
      }
    }
    co_return std::nullopt;
  }

  /// Offers the handshake of the older revisions.
  task::Task<Ending> shake_hands() {
    const auto reply = co_await peer_.send_request(handshake(options_, offered_));
    if (has_failed(reply, ErrorCode::kConnectionError)) co_return *reply.error;
    if (reply.response && !reply.response->error) {
      auto agreed = read_initialized(reply);
      if (!agreed) co_return agreed;
      const auto confirmed = co_await peer_.send_initialized(*agreed);
      if (!confirmed) co_return confirmed.error();
      co_return agreed;
    }
    if (is_denied(reply)) co_return denied(reply.http_status);
    if (reply.response && !is_discovery_answered_ && options_.family != Family::kLegacySse) {
      // A modern server does not know initialize. It may have started slowly or have replaced an
      // older one.
      discovers_ = true;
      is_discovery_answered_ = true;
      is_probe_ = false;
    } else if (!has_reconnected_ && may_be_older(reply, options_)) {
      has_reconnected_ = true;
      options_.family = Family::kLegacySse;
      const auto opened = co_await peer_.reconnect(/*to_legacy_sse=*/true);
      if (!opened) co_return opened.error();
    } else if (reply.error && reply.http_status == 0) {
      co_return *reply.error;
    } else {
      co_return refused_handshake(reply);
    }
    co_return std::nullopt;
  }

 private:
  NegotiationPeer& peer_;
  NegotiationOptions options_;
  bool discovers_;
  bool is_probe_ = true;  ///< of the next discovery
  bool is_discovery_answered_ = false;
  bool has_repeated_discovery_ = false;
  bool has_reconnected_ = false;
  std::string offered_;
};

}  // namespace

bool is_modern_error(const rpc::Response& response) {
  if (!response.error) return false;
  int code = response.error->code;
  return code == kHeaderMismatch || code == kMissingClientCapability || code == kUnsupportedVersion;
}

task::Task<core::Result<Negotiated>> negotiate(NegotiationPeer* peer, NegotiationOptions options) {
  Negotiation negotiation(peer, std::move(options));
  for (;;) {
    Negotiation::Ending ending = co_await negotiation.discover();
    if (!ending) ending = co_await negotiation.shake_hands();
    if (ending) co_return *std::move(ending);
  }
}

}  // namespace league::mcp::client
