#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/result.h"
#include "common/mcp/revision.h"
#include "common/rpc/message.h"
#include "common/rpc/transport_context.h"

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

/// The result of a request, from which the next step follows.
struct NegotiationReply {
  std::optional<core::Error> error;  ///< why no response came
  int http_status = 0;  ///< 0 where the transport has none
  std::optional<rpc::Response> response;
  std::string session_id;  ///< from the head of the answer; empty: none
};

/// Finds out, step by step, which dialect a server speaks: first the modern one, then the
/// handshake, then the transport of 2024 (mcp.md "As a client"; modelcontextprotocol.io, backwards
/// compatibility). If a server refuses the handshake but has never answered discovery (because it
/// started slowly, or discovery was skipped), discovery is tried once more. Pure: it is told about
/// events and returns the next step. Not thread-safe.
class Negotiation {
 public:
  /// What is known about the peer before anything is sent.
  enum class Family {
    kHttp,  ///< one POST per message; may turn out to be a server of 2024
    kLegacySse,  ///< a stream and POSTs: revision 2024-11-05, or a gateway to something newer
    kConnection,  ///< lines or frames in both directions
  };
  struct Options {
    Family family = Family::kHttp;
    /// The peer is known not to support the modern dialect: begin with the handshake.
    bool skips_discovery = false;
    bool may_fall_back_to_sse = true;
    std::string client_name = "league";
    std::string client_version = LEAGUE_VERSION;
    nlohmann::json client_capabilities = nlohmann::json::object();
  };

  /// Send this request and report its result.
  struct Ask {
    std::string method;
    std::string params;  ///< JSON text
    Headers headers = {};
    /// The peer may never answer: after part of the available time, call on_silence().
    bool is_probe = false;
  };
  /// Send `notifications/initialized` and report when that is done.
  struct Confirm {};
  /// Close and connect again (to the legacy transport of the same URL), then call begin().
  struct Reconnect {
    bool to_legacy_sse = false;
  };
  struct Done {
    Negotiated negotiated;
  };
  struct Failed {
    core::Error error;
  };
  using Step = std::variant<Ask, Confirm, Reconnect, Done, Failed>;

  explicit Negotiation(Options options);

  /// The connection is open.
  [[nodiscard]] Step begin();
  [[nodiscard]] Step on_reply(const NegotiationReply& reply);
  /// The probe was not answered in time.
  [[nodiscard]] Step on_silence();
  [[nodiscard]] Step on_confirmed();
  /// The connection ended, or could not be opened.
  [[nodiscard]] Step on_closed(const core::Error& why);

  /// What has been agreed so far; determines the headers of requests.
  [[nodiscard]] const Negotiated& negotiated() const { return negotiated_; }

 private:
  enum class Phase { kIdle, kDiscovering, kInitializing, kConfirming, kDone };

  Step ask_discover(bool is_probe);
  Step ask_initialize();
  Step on_discovered(const NegotiationReply& reply);
  Step on_initialized(const NegotiationReply& reply);
  Step after_refused_initialize(const NegotiationReply& reply);
  Step fail(core::Error error);

  Options options_;
  Phase phase_ = Phase::kIdle;
  bool is_discovery_answered_ = false;
  bool has_repeated_discovery_ = false;
  bool has_reconnected_ = false;
  Negotiated negotiated_;
  std::string offered_{kNewestLegacyRevision};
};

/// True for an error that only a server of the modern dialect sends; such a server is not asked in
/// older dialects.
[[nodiscard]] bool is_modern_error(const rpc::Response& response);

}  // namespace league::mcp::client
