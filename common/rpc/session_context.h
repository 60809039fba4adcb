#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/rpc/shared_text.h"

namespace league::rpc {

/// The newest MCP revision that has sessions.
inline constexpr std::string_view kLatestSessionRevision = "2025-11-25";

/// Names a session. Worth as much as a credential while the session lives: logs show only its
/// beginning.
class SessionId {
 public:
  explicit SessionId(std::string text) : text_(std::move(text)) {}
  explicit SessionId(SharedText text) : text_(std::move(text)) {}
  [[nodiscard]] std::string_view view() const { return text_.view(); }
  bool operator==(const SessionId&) const = default;
  auto operator<=>(const SessionId&) const = default;

 private:
  SharedText text_;
};

/// Which revision of the protocol a session speaks, such as `2025-11-25`. Any text: what is
/// supported is decided above.
class ProtocolVersion {
 public:
  ProtocolVersion() : text_(SharedText::literal(kLatestSessionRevision)) {}
  explicit ProtocolVersion(std::string text) : text_(std::move(text)) {}
  explicit ProtocolVersion(SharedText text) : text_(std::move(text)) {}
  [[nodiscard]] std::string_view view() const { return text_.view(); }
  bool operator==(const ProtocolVersion&) const = default;
  auto operator<=>(const ProtocolVersion&) const = default;

 private:
  SharedText text_;
};

/// State of a session's life cycle.
enum class SessionState : std::uint8_t {
  kUninitialized,
  kInitializing,
  kActive,
  kClosing,
  kClosed,
};

/// `uninitialized`, `initializing`, `active`, `closing` or `closed`.
[[nodiscard]] std::string_view to_string(SessionState state);

/// The session that a message belongs to. A value; copies share the texts.
struct SessionContext {
  std::optional<SessionId>
      session_id;  ///< nothing before the handshake and where there are no sessions
  ProtocolVersion protocol_version;
  std::optional<SharedText>
      correlation_id;  ///< joins a request and what it caused, such as a conversation id
  SessionState state = SessionState::kUninitialized;

  /// Without an id, not initialised.
  [[nodiscard]] static SessionContext anonymous() { return {}; }
  /// An active session.
  [[nodiscard]] static SessionContext with_id(SessionId id);

  /// The same with a correlation id.
  [[nodiscard]] SessionContext with_correlation_id(SharedText id) const&;
  [[nodiscard]] SessionContext with_correlation_id(SharedText id) &&;

  bool operator==(const SessionContext&) const = default;
};

}  // namespace league::rpc
