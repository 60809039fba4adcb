#include "league_manager/operator_key.h"

#include <string>

#include "common/core/crypto.h"
#include "common/core/private_file.h"

namespace league::league_manager {
namespace {

constexpr std::size_t kShortestKey = 16;

core::Error operator_key_error(const std::string& why) {
  return {core::ErrorCode::kInternalError, "operator key " + why, ""};
}

core::Result<core::AuthToken> create_operator_key(const std::filesystem::path& file,
                                                  core::RandomSource& random) {
  std::string key = "op_" + core::to_base32(random.bytes<32>());
  if (auto written = core::write_private_file(file, key + "\n"); !written)
    return operator_key_error(written.error().message);
  return core::AuthToken(std::move(key));
}

}  // namespace

core::Result<core::AuthToken> open_operator_key(const std::filesystem::path& file,
                                                core::RandomSource& random) {
  auto content = core::read_private_file(file);
  if (!content) return operator_key_error(content.error().message);
  if (!*content) return create_operator_key(file, random);
  std::string key = (*content)->substr(0, (*content)->find_first_of("\r\n"));
  if (key.size() < kShortestKey)
    return operator_key_error(file.string() +
                              ": its first line must be a key of at least 16 characters");
  return core::AuthToken(std::move(key));
}

}  // namespace league::league_manager
