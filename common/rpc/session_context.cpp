#include "common/rpc/session_context.h"

namespace league::rpc {

std::string_view to_string(SessionState state) {
  switch (state) {
    case SessionState::kUninitialized:
      return "uninitialized";
    case SessionState::kInitializing:
      return "initializing";
    case SessionState::kActive:
      return "active";
    case SessionState::kClosing:
      return "closing";
    case SessionState::kClosed:
      return "closed";
  }
  return "uninitialized";
}

SessionContext SessionContext::with_id(SessionId id) {
  SessionContext context;
  context.session_id = std::move(id);
  context.state = SessionState::kActive;
  return context;
}

SessionContext SessionContext::with_correlation_id(SharedText id) const& {
  return SessionContext(*this).with_correlation_id(std::move(id));
}

SessionContext SessionContext::with_correlation_id(SharedText id) && {
  correlation_id = std::move(id);
  return std::move(*this);
}

}  // namespace league::rpc
