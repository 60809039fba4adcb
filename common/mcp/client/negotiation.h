#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "common/mcp/revision.h"
#include "common/rpc/message.h"
#include "common/rpc/transport_context.h"
#include "common/task/task.h"

namespace league::mcp::client {

/// Names and values of HTTP header fields; ignored by transports without header fields.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// What a client and a server agreed on.
struct Negotiated {
  std::string revision;  ///< `2025-11-25`
  bool is_modern = false;  ///< no handshake and no session: each request is self-contained
  std::string session_id;  ///< empty if the server gave none
  std::string server_name;  ///< as the server calls itself; may be empty
  std::string server_version;
  std::string instructions;  ///< from the server, for its users; may be empty
  nlohmann::json capabilities = nlohmann::json::object();
  rpc::TransportType transport = rpc::TransportType::kUnknown;
};

/// How a request of a negotiation ended.
struct NegotiationReply {
  std::optional<core::Error> error;  ///< why no response came
  int http_status = 0;  ///< 0 where the transport has none
  std::optional<rpc::Response> response;
  std::string session_id;  ///< from the head of the answer; empty: none
};

/// A request of a negotiation.
struct NegotiationRequest {
  std::string method;
  std::string params;  ///< JSON text
  Headers headers = {};
  /// The peer may never answer: the reply is kTimeout after part of the available time.
  bool is_probe = false;
};

/// What a negotiation does with the peer, one after the other.
class NegotiationPeer {
 public:
  virtual ~NegotiationPeer() = default;
  /// Closes the connection and opens another, to the legacy transport of the same URL if wanted.
  virtual task::Task<core::Result<void>> reconnect(bool to_legacy_sse) = 0;
  virtual task::Task<NegotiationReply> send_request(NegotiationRequest request) = 0;
  /// Sends `notifications/initialized` in what was agreed. Fails if the connection is gone.
  virtual task::Task<core::Result<void>> send_initialized(Negotiated agreed) = 0;
};

struct NegotiationOptions {
  /// What is known about the peer before anything is sent.
  enum class Family {
    kHttp,  ///< one POST per message; may turn out to be a server of 2024
    kLegacySse,  ///< a stream and POSTs: revision 2024-11-05, or a gateway to something newer
    kConnection,  ///< lines or frames in both directions
  };
  Family family = Family::kHttp;
  /// The peer is known not to support the modern dialect: begin with the handshake.
  bool skips_discovery = false;
  bool may_fall_back_to_sse = false;  ///< as SessionOptions
  std::string client_name = "league";
  std::string client_version = LEAGUE_VERSION;
  nlohmann::json client_capabilities = nlohmann::json::object();
};

/// Finds out which dialect the server at the end of an open connection speaks: first the modern
/// one, then the handshake, then the transport of 2024 (mcp.md "As a client";
/// modelcontextprotocol.io, backwards compatibility). If a server refuses the handshake but has
/// never answered discovery (because it started slowly, or discovery was skipped), discovery is
/// tried once more. Waits for nothing but `peer`, which outlives the task.
[[nodiscard]] task::Task<core::Result<Negotiated>> negotiate(NegotiationPeer* peer,
                                                             NegotiationOptions options);

/// True for an error that only a server of the modern dialect sends; such a server is not asked in
/// older dialects.
[[nodiscard]] bool is_modern_error(const rpc::Response& response);

}  // namespace league::mcp::client
