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

bool is_denied(int http_status) {
  return http_status == 401 || http_status == 403 || http_status >= 500;
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

}  // namespace

bool is_modern_error(const rpc::Response& response) {
  if (!response.error) return false;
  int code = response.error->code;
  return code == kHeaderMismatch || code == kMissingClientCapability || code == kUnsupportedVersion;
}

Negotiation::Negotiation(Options options) : options_(std::move(options)) {
  // The transport of 2024 is older than the modern dialect, so discovery is skipped.
  if (options_.family == Family::kLegacySse) options_.skips_discovery = true;
}

Negotiation::Step Negotiation::begin() {
  return options_.skips_discovery ? ask_initialize() : ask_discover(/*is_probe=*/true);
}

Negotiation::Step Negotiation::ask_discover(bool is_probe) {
  phase_ = Phase::kDiscovering;
  json meta = {{std::string(kVersionKey), kModernRevision},
               {std::string(kClientCapabilitiesKey), options_.client_capabilities},
               {std::string(kClientInfoKey),
                {{"name", options_.client_name}, {"version", options_.client_version}}}};
  return Ask{.method = "server/discover",
             .params = json{{"_meta", std::move(meta)}}.dump(),
             .headers = {{"MCP-Protocol-Version", std::string(kModernRevision)},
                         {"Mcp-Method", "server/discover"}},
             .is_probe = is_probe};
}

Negotiation::Step Negotiation::ask_initialize() {
  phase_ = Phase::kInitializing;
  negotiated_ = {};
  json params = {
      {"protocolVersion", offered_},
      {"capabilities", options_.client_capabilities},
      {"clientInfo", {{"name", options_.client_name}, {"version", options_.client_version}}}};
  return Ask{.method = "initialize", .params = params.dump()};
}

Negotiation::Step Negotiation::on_reply(const NegotiationReply& reply) {
  if (phase_ == Phase::kDiscovering) return on_discovered(reply);
  return on_initialized(reply);
}

Negotiation::Step Negotiation::on_discovered(const NegotiationReply& reply) {
  is_discovery_answered_ = true;
  if (!reply.response) {
    if (is_denied(reply.http_status)) return fail(denied(reply.http_status));
    // An invalid answer (HTML, a refused method) means an older server.
    if (reply.http_status != 0 || !reply.error) return ask_initialize();
    return fail(*reply.error);
  }
  const rpc::Response& response = *reply.response;
  if (response.error) {
    if (response.error->code == kUnsupportedVersion && response.error->data.is_object()) {
      const json& supported = field_at(response.error->data, "supported");
      auto common = newest_legacy(supported);
      bool is_ours = names_revision(supported, kModernRevision);
      // The server may have refused because it was still starting, or another server may have
      // answered; so discovery is repeated once.
      if (!common && is_ours && !std::exchange(has_repeated_discovery_, true))
        return ask_discover(/*is_probe=*/false);
      if (!common) return fail(refused_handshake(reply));
      offered_ = *common;
    }
    return ask_initialize();
  }
  const json& result = response.result;
  const json& versions = field_at(result, "supportedVersions");
  if (!names_revision(versions, kModernRevision)) {
    if (auto common = newest_legacy(versions)) offered_ = *common;
    return ask_initialize();
  }
  negotiated_.revision = kModernRevision;
  negotiated_.is_modern = true;
  take_server_info(result, negotiated_);
  phase_ = Phase::kDone;
  return Done{negotiated_};
}

Negotiation::Step Negotiation::on_initialized(const NegotiationReply& reply) {
  if (!reply.response || reply.response->error) return after_refused_initialize(reply);
  const json& result = reply.response->result;
  std::string revision = text_at(result, "protocolVersion").substr(0, kLongestText);
  if (!is_legacy_revision(revision)) {
    return fail({ErrorCode::kProtocolVersionMismatch,
                 revision.empty() ? "the answer to initialize has no protocolVersion"
                                  : "the server wants MCP revision \"" + revision.substr(0, 40) +
                                        "\", which this program does not speak",
                 "/result/protocolVersion"});
  }
  negotiated_.revision = std::move(revision);
  negotiated_.session_id = reply.session_id;
  take_server_info(result, negotiated_);
  phase_ = Phase::kConfirming;
  return Confirm{};
}

Negotiation::Step Negotiation::after_refused_initialize(const NegotiationReply& reply) {
  if (is_denied(reply.http_status)) return fail(denied(reply.http_status));
  bool may_be_older =
      reply.http_status == 400 || reply.http_status == 404 || reply.http_status == 405;
  // A modern server does not know initialize. If it never answered discovery, it may have started
  // slowly or have replaced an older server.
  bool is_stranger = !is_discovery_answered_ && options_.family != Family::kLegacySse;
  if (is_stranger && reply.response) {
    negotiated_ = {};
    is_discovery_answered_ = true;
    return ask_discover(/*is_probe=*/false);
  }
  bool is_modern = reply.response && is_modern_error(*reply.response);
  if (options_.family == Family::kHttp && options_.may_fall_back_to_sse && may_be_older &&
      !is_modern && !has_reconnected_) {
    has_reconnected_ = true;
    options_.family = Family::kLegacySse;
    options_.skips_discovery = true;
    phase_ = Phase::kIdle;
    return Reconnect{.to_legacy_sse = true};
  }
  if (reply.error && reply.http_status == 0) return fail(*reply.error);
  return fail(refused_handshake(reply));
}

Negotiation::Step Negotiation::on_silence() {
  if (phase_ == Phase::kDiscovering) return ask_initialize();
  return fail({ErrorCode::kTimeout, "the peer did not answer initialize in time", ""});
}

Negotiation::Step Negotiation::on_confirmed() {
  phase_ = Phase::kDone;
  return Done{negotiated_};
}

Negotiation::Step Negotiation::on_closed(const core::Error& why) {
  // Some servers close the connection at an unknown request; reconnect and begin with initialize.
  bool at_probe = phase_ == Phase::kDiscovering && options_.family == Family::kConnection;
  if (at_probe && !has_reconnected_) {
    has_reconnected_ = true;
    options_.skips_discovery = true;
    phase_ = Phase::kIdle;
    return Reconnect{};
  }
  return fail(why);
}

Negotiation::Step Negotiation::fail(Error error) {
  phase_ = Phase::kDone;
  return Failed{std::move(error)};
}

}  // namespace league::mcp::client
