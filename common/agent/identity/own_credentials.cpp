#include "common/agent/identity/own_credentials.h"

#include <string>
#include <utility>

#include "common/agent/identity/match_credential.h"

namespace league::agent::identity {
namespace {

constexpr std::string_view kToken = "auth_token";
constexpr std::string_view kMatch = "match_id";
constexpr std::size_t kLongestMatchId = 64;
constexpr std::size_t kCredentialDigits = 64;

}  // namespace

void OwnCredentials::set_token(core::AuthToken token) {
  std::lock_guard lock(mutex_);
  token_ = std::move(token);
}

std::optional<transport::link::RequestSender> OwnCredentials::recognise(
    std::string_view member, std::string_view shown, std::string_view body) const {
  if (member != kToken) return std::nullopt;
  core::AuthToken token;
  {
    std::lock_guard lock(mutex_);
    token = token_;
  }
  if (token.empty()) return std::nullopt;
  if (token.matches(shown))
    return transport::link::RequestSender{transport::link::Standing::kStaff, "league_manager"};
  if (shown.size() != kCredentialDigits) return std::nullopt;
  const std::string_view match = transport::link::text_member(body, kMatch);
  if (match.empty() || match.size() > kLongestMatchId) return std::nullopt;
  if (!credential_attempt(token, core::MatchId(std::string(match)), shown)) return std::nullopt;
  return transport::link::RequestSender{transport::link::Standing::kStaff, "referees"};
}

}  // namespace league::agent::identity
