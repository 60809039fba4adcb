#include "league_manager/admission/operator_key.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "common/core/crypto.h"
#include "common/core/private_file.h"

namespace league::league_manager::admission {
namespace {

constexpr std::size_t kShortestKey = 16;

core::Result<core::AuthToken> open_key(const std::filesystem::path& file, const std::string& name,
                                       const std::function<core::AuthToken()>& make) {
  auto failed = [&name](const std::string& why) {
    return core::Error{core::ErrorCode::kInternalError, name + " key " + why, ""};
  };
  auto content = core::read_private_file(file);
  if (!content) return failed(content.error().message);
  if (!*content) {
    core::AuthToken key = make();
    if (auto written = core::write_private_file(file, key.reveal() + "\n"); !written)
      return failed(written.error().message);
    return key;
  }
  const std::string_view line = core::secret_line(**content);
  if (line.size() < kShortestKey)
    return failed(file.string() + ": its first line must be a key of at least 16 characters");
  return core::AuthToken(std::string(line));
}

}  // namespace

core::Result<core::AuthToken> open_operator_key(const std::filesystem::path& file,
                                                core::RandomSource& random) {
  return open_key(file, "operator", [&random] {
    return core::AuthToken("op_" + core::to_base32(random.bytes<32>()));
  });
}

core::Result<core::AuthToken> open_referee_key(const std::filesystem::path& file,
                                               const core::AuthToken& usual) {
  return open_key(file, "referee", [&usual] { return usual; });
}

std::optional<core::Error> refusal_of_operator(const nlohmann::json& arguments,
                                               const core::AuthToken& key, std::string_view tool) {
  auto given = arguments.find("operator_key");
  const bool is_text = given != arguments.end() && given->is_string();
  const std::string shown = is_text ? given->get<std::string>() : std::string();
  if (!shown.empty() && !key.empty() && key.matches(shown)) return std::nullopt;
  const std::string where = "the contents of the manager's --operator-key file";
  if (shown.empty())
    return core::Error{
        core::ErrorCode::kAuthTokenMissing,
        std::string(tool) + " needs operator_key, the operator's key (" + where + ")",
        "/operator_key"};
  return core::Error{core::ErrorCode::kNotAuthorized,
                     "operator_key is not the key of this league's operator: use " + where,
                     "/operator_key"};
}

}  // namespace league::league_manager::admission
