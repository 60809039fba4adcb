#include "league_manager/token_vault.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "common/core/crypto.h"

namespace league::league_manager {
namespace {

core::Error key_error(const std::filesystem::path& file, const std::string& why) {
  return {core::ErrorCode::kInternalError, "secret key " + file.string() + ": " + why, ""};
}

core::Result<TokenVault::Key> read_key(int fd, const std::filesystem::path& file) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return key_error(file, std::strerror(errno));
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return key_error(file,
                     "others may read it; run chmod 600 on it, and let all agents register anew if "
                     "it was exposed");
  }
  TokenVault::Key key{};
  if (status.st_size != static_cast<off_t>(key.size()) ||
      ::read(fd, key.data(), key.size()) != static_cast<ssize_t>(key.size())) {
    return key_error(file, "does not hold 32 bytes; it is damaged or something else");
  }
  return key;
}

core::Result<TokenVault::Key> create_key(const std::filesystem::path& file,
                                         core::RandomSource& random) {
  auto key = random.bytes<32>();
  int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return key_error(file, std::strerror(errno));
  bool written =
      ::write(fd, key.data(), key.size()) == static_cast<ssize_t>(key.size()) && ::fsync(fd) == 0;
  std::string why = written ? "" : std::strerror(errno);
  ::close(fd);
  if (!written) {
    ::unlink(file.c_str());
    return key_error(file, why);
  }
  return key;
}

}  // namespace

TokenVault::TokenVault(core::LeagueId league, core::RandomSource& random)
    : league_(std::move(league)), key_(random.bytes<32>()) {}

core::Result<TokenVault> TokenVault::open(core::LeagueId league, const std::filesystem::path& file,
                                          core::RandomSource& random) {
  int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno != ENOENT) return key_error(file, std::strerror(errno));
  auto key = fd >= 0 ? read_key(fd, file) : create_key(file, random);
  if (fd >= 0) ::close(fd);
  if (!key) return key.error();
  return TokenVault(std::move(league), *key);
}

core::AuthToken TokenVault::token(const std::string& id, const std::string& nonce) const {
  std::string text = league_.str() + '|' + id + '|' + nonce;
  std::string name = id;
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return core::AuthToken("tok_" + name + '_' +
                         core::to_base32(core::hmac_sha256(key_, core::as_bytes(text))));
}

}  // namespace league::league_manager
