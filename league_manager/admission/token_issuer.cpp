#include "league_manager/admission/token_issuer.h"

#include <algorithm>
#include <cctype>

#include "common/core/crypto.h"
#include "common/core/private_file.h"

namespace league::league_manager::admission {
namespace {

core::Error key_error(const std::string& why) {
  return {core::ErrorCode::kInternalError, "secret key " + why, ""};
}

core::Result<TokenIssuer::Key> create_key(const std::filesystem::path& file,
                                          core::RandomSource& random) {
  auto key = random.bytes<32>();
  auto written = core::write_private_file(
      file, std::string_view(reinterpret_cast<const char*>(key.data()), key.size()));
  if (!written) return key_error(written.error().message);
  return key;
}

}  // namespace

TokenIssuer::TokenIssuer(core::LeagueId league, core::RandomSource& random)
    : league_(std::move(league)), key_(random.bytes<32>()) {}

core::Result<TokenIssuer> TokenIssuer::open(core::LeagueId league,
                                            const std::filesystem::path& file,
                                            core::RandomSource& random) {
  auto content = core::read_private_file(file);
  if (!content) {
    return key_error(
        content.error().message +
        "; if others may have read it, start a new league in which all agents register again");
  }
  if (!*content) {
    auto key = create_key(file, random);
    return key ? core::Result<TokenIssuer>(TokenIssuer(std::move(league), *key)) : key.error();
  }
  Key key{};
  if ((*content)->size() != key.size()) {
    return key_error(file.string() + ": must contain 32 bytes; it is damaged, or not a secret key");
  }
  std::ranges::copy(**content, key.begin());
  return TokenIssuer(std::move(league), key);
}

core::AuthToken TokenIssuer::referee_key() const {
  return core::AuthToken("ref_" + core::to_base32(core::hmac_sha256(
                                      key_, core::as_bytes("referees" + league_.str()))));
}

std::string TokenIssuer::code_digest(std::string_view code) const {
  const std::string text = std::string("codes").append(league_.str()).append("|").append(code);
  return core::to_hex(core::hmac_sha256(key_, core::as_bytes(text)));
}

core::SigningKey TokenIssuer::league_key() const {
  return core::SigningKey::from_seed(
      core::hmac_sha256(key_, core::as_bytes("broadcast" + league_.str())));
}

std::string TokenIssuer::receipt_key(const std::string& id, const std::string& nonce) const {
  const std::string text = "receipt|" + league_.str() + '|' + id + '|' + nonce;
  return core::to_hex(core::hmac_sha256(key_, core::as_bytes(text)));
}

core::AuthToken TokenIssuer::token(const std::string& id, const std::string& nonce) const {
  std::string text = league_.str() + '|' + id + '|' + nonce;
  std::string name = id;
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return core::AuthToken("tok_" + name + '_' +
                         core::to_base32(core::hmac_sha256(key_, core::as_bytes(text))));
}

}  // namespace league::league_manager::admission
