#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/rpc/http_headers.h"
#include "common/rpc/shared_text.h"

namespace league::rpc {

/// How a message came or will go. A new transport adds an enumerator, and a metadata struct if it
/// has something to say.
enum class TransportType : std::uint8_t {
  kUnknown,
  kStdio,  ///< the standard streams of this process
  kSubprocess,  ///< those of a child
  kTcp,  ///< lines on a TCP connection
  kUnix,  ///< lines on a Unix socket
  kHttp,
  kSse,
  kWebSocket,
  kNats,  ///< a message bus
  kMemory,
  kSeat,  ///< to a player that has come to us, inside this program
};

/// `unknown`, `stdio`, `subprocess`, `tcp`, `unix`, `http`, `sse`, `websocket`, `nats`, `memory`
/// or `seat`.
[[nodiscard]] std::string_view to_string(TransportType type);

/// Of a message through the standard streams of a process.
struct StdioMetadata {
  std::int64_t process_id = 0;  ///< of this process, or of the child
  bool operator==(const StdioMetadata&) const = default;
};

/// Of a message in the body of an HTTP request or response.
struct HttpMetadata {
  std::shared_ptr<const HeaderMap> headers;  ///< null when nobody looked at them
  SharedText method;  ///< `POST`
  SharedText uri;  ///< as in the request line: `/mcp`
  std::optional<int> status;  ///< of responses
};

/// Of a message in a stream of server-sent events.
struct SseMetadata {
  std::optional<std::string> event_id;
  std::optional<std::string> event_type;
  std::optional<std::chrono::milliseconds> retry_after;
  std::optional<std::string> last_event_id;  ///< the last event that a returning client has seen
  std::string stream_id;
  bool operator==(const SseMetadata&) const = default;
};

/// RFC 6455 §5.2.
enum class WebSocketFrameType : std::uint8_t { kText, kBinary, kClose, kPing, kPong };

/// `text`, `binary`, `close`, `ping` or `pong`.
[[nodiscard]] std::string_view to_string(WebSocketFrameType type);

/// Of a message in WebSocket frames.
struct WebSocketMetadata {
  WebSocketFrameType frame_type = WebSocketFrameType::kText;
  bool is_final = true;
  bool is_compressed = false;
  bool is_relayed = false;  ///< the upgrade request came through a proxy
  bool operator==(const WebSocketMetadata&) const = default;
};

/// Of a message on a bus.
struct NatsMetadata {
  std::string subject;
  std::string reply;  ///< where an answer is expected; empty: nowhere
  std::string trace_id;  ///< of the header; empty where there is none
  bool operator==(const NatsMetadata&) const = default;
};

/// What only one kind of transport knows. The large and rare forms are shared, to keep contexts
/// small.
using TransportMetadata =
    std::variant<std::monostate, StdioMetadata, HttpMetadata, std::shared_ptr<const SseMetadata>,
                 WebSocketMetadata, std::shared_ptr<const NatsMetadata>>;

/// What TLS said about the peer.
struct TlsInfo {
  std::string version;  ///< `TLSv1.3`
  std::string cipher;  ///< `TLS_AES_256_GCM_SHA384`
  std::string server_name;  ///< SNI; empty where none was sent
  bool operator==(const TlsInfo&) const = default;
};

/// One connection; all its messages share one of these.
struct ConnectionInfo {
  std::string remote_address;  ///< `127.0.0.1:45678`, `[::1]:45678`; empty where there is none
  std::string local_address;
  std::string connection_id;  ///< unique in this process
  std::optional<TlsInfo> tls;
  bool operator==(const ConnectionInfo&) const = default;
};

/// The transport of one message. A value; copies share headers, texts and the connection.
struct TransportContext {
  TransportType type = TransportType::kUnknown;
  TransportMetadata metadata;
  std::shared_ptr<const ConnectionInfo> connection;  ///< null where nothing is known about one

  /// The standard streams of this process.
  [[nodiscard]] static TransportContext stdio();
  /// The standard streams of a child.
  [[nodiscard]] static TransportContext subprocess(std::int64_t process_id);
  /// Lines on a socket: `type` is kTcp or kUnix.
  [[nodiscard]] static TransportContext socket(TransportType type);
  [[nodiscard]] static TransportContext memory();
  /// An HTTP request. `method` is copied unless it is a usual one; give `uri` as a literal where it
  /// is always the same.
  [[nodiscard]] static TransportContext http(std::shared_ptr<const HeaderMap> headers,
                                             std::string_view method, SharedText uri);
  [[nodiscard]] static TransportContext sse(SseMetadata metadata);
  [[nodiscard]] static TransportContext web_socket(WebSocketMetadata metadata);
  [[nodiscard]] static TransportContext nats(NatsMetadata metadata);

  /// The same on a connection.
  [[nodiscard]] TransportContext with_connection(std::shared_ptr<const ConnectionInfo> info) &&;
  [[nodiscard]] TransportContext with_connection(std::shared_ptr<const ConnectionInfo> info) const&;

  /// The HTTP part, or null for other transports; valid as long as this context.
  [[nodiscard]] const HttpMetadata* as_http() const { return std::get_if<HttpMetadata>(&metadata); }
  [[nodiscard]] HttpMetadata* as_http() { return std::get_if<HttpMetadata>(&metadata); }
};

}  // namespace league::rpc
