#include "player/service/registration_code.h"

#include <sstream>

#include "common/core/private_file.h"
#include "common/core/text.h"

namespace league::player {

core::Result<core::AuthToken> read_registration_code(const std::filesystem::path& file,
                                                     const std::string& name) {
  constexpr std::size_t kLongestFile = std::size_t{8} * 1024 * 1024;
  if (file.empty()) return core::AuthToken();
  auto failed = [&file](const std::string& why) {
    return core::Error{core::ErrorCode::kInternalError, file.string() + ": " + why, ""};
  };
  auto content = core::read_private_file(file, kLongestFile);
  if (!content) return content.error();
  if (!*content) return failed("there is no such file");
  std::istringstream lines(**content);
  core::AuthToken nameless;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string code;
    if (!(words >> code) || code.starts_with('#')) continue;
    std::string owner;
    std::getline(words >> std::ws, owner);
    owner.erase(owner.find_last_not_of(" \t\r") + 1);
    if (owner.empty()) nameless = core::AuthToken(code);
    if (core::lower_case(owner) == core::lower_case(name)) return core::AuthToken(std::move(code));
  }
  if (!nameless.empty()) return nameless;
  return failed("there is no registration code for \"" + name + "\" in it");
}

}  // namespace league::player
