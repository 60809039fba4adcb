#include "common/core/auth_token.h"

#include <algorithm>

#include "common/core/crypto.h"

namespace league::core {

std::string mask_token(std::string_view token) {
  constexpr std::size_t kShown = 8;
  std::size_t shown = std::min(kShown, token.size() / 2);
  return std::string(token.substr(0, shown)) + "...";
}

std::string AuthToken::masked() const { return mask_token(secret_); }
std::string AuthToken::hash() const { return to_hex(sha256(secret_)); }
bool AuthToken::matches(std::string_view other) const {
  return constant_time_equal(secret_, other);
}

}  // namespace league::core
