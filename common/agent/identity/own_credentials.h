#pragma once

#include <mutex>
#include <optional>
#include <string_view>

#include "common/core/auth_token.h"
#include "common/transport/link/rate_limiter.h"

namespace league::agent::identity {

/// Lets a referee or player recognise callers before it parses their messages: by its own token,
/// which the manager shows, or by a match credential derived from it, which referees show.
/// Thread-safe.
class OwnCredentials {
 public:
  /// Until this is called, every caller is a stranger.
  void set_token(core::AuthToken token);

  /// See transport::link::RateLimiter::Recognise.
  [[nodiscard]] std::optional<transport::link::RequestSender> recognise(
      std::string_view member, std::string_view shown, std::string_view body) const;

 private:
  mutable std::mutex mutex_;
  core::AuthToken token_;
};

}  // namespace league::agent::identity
