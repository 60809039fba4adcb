#pragma once

#include <mutex>
#include <optional>
#include <string_view>

#include "common/core/auth_token.h"
#include "common/transport/link/rate_limiter.h"

namespace league::agent {

/// By what a referee or player knows callers before it reads what they say: its own token, which
/// the manager shows, and the match credentials made of it, which referees show. Thread-safe.
class OwnCredentials {
 public:
  /// Until then everybody is a stranger.
  void set_token(core::AuthToken token);

  /// See transport::RateLimiter::Recognise.
  [[nodiscard]] std::optional<transport::RequestSender> recognise(std::string_view member,
                                                                  std::string_view shown,
                                                                  std::string_view body) const;

 private:
  mutable std::mutex mutex_;
  core::AuthToken token_;
};

}  // namespace league::agent
