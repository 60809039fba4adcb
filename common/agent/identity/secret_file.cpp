#include "common/agent/identity/secret_file.h"

#include "common/core/private_file.h"

namespace league::agent::identity {

core::Result<core::AuthToken> read_secret_file(const std::filesystem::path& file) {
  if (file.empty()) return core::AuthToken();
  auto failed = [&file](const std::string& why) {
    return core::Error{core::ErrorCode::kInternalError, file.string() + ": " + why, ""};
  };
  auto content = core::read_private_file(file);
  if (!content) return content.error();
  if (!*content) return failed("there is no such file");
  const std::string_view line = core::secret_line(**content);
  if (line.empty()) return failed("its first line is empty; it must hold the secret");
  return core::AuthToken(std::string(line));
}

core::Result<void> use_token_of(const std::filesystem::path& file,
                                RegistrationOptions& registration) {
  auto token = read_secret_file(file);
  if (!token) return token.error();
  if (token->empty()) return {};
  registration.token = std::move(*token);
  registration.next_credentials = nullptr;
  return {};
}

}  // namespace league::agent::identity
