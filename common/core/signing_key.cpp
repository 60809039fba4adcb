#include "common/core/signing_key.h"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

#include "common/core/private_file.h"

namespace league::core {
namespace {

using KeyPointer = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using ContextPointer = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

ContextPointer new_context() { return {EVP_MD_CTX_new(), &EVP_MD_CTX_free}; }

}  // namespace

struct SigningKey::Native {
  KeyPointer key;
};

SigningKey::SigningKey(std::shared_ptr<const Native> native) : native_(std::move(native)) {
  std::array<std::uint8_t, 32> bytes{};
  std::size_t size = bytes.size();
  EVP_PKEY_get_raw_public_key(native_->key.get(), bytes.data(), &size);
  public_key_ = to_hex(bytes);
}

SigningKey SigningKey::from_seed(const std::array<std::uint8_t, 32>& seed) {
  KeyPointer key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()),
                 &EVP_PKEY_free);
  return SigningKey(std::make_shared<const Native>(Native{std::move(key)}));
}

SigningKey SigningKey::generate(RandomSource& random) { return from_seed(random.bytes<32>()); }

Result<SigningKey> SigningKey::open(const std::filesystem::path& file, RandomSource& random) {
  auto content = read_private_file(file);
  if (!content) return content.error();
  if (!*content) {
    auto seed = random.bytes<32>();
    if (auto written = write_private_file(file, to_hex(seed) + "\n"); !written)
      return written.error();
    return from_seed(seed);
  }
  auto bytes = from_hex(std::string_view(**content).substr(0, (*content)->find_first_of("\r\n")));
  std::array<std::uint8_t, 32> seed{};
  if (!bytes || bytes->size() != seed.size()) {
    return Error{ErrorCode::kInternalError,
                 "signing key " + file.string() +
                     ": its first line must be 64 hexadecimal digits; put the right file back, or "
                     "remove it, and a new key will be made",
                 {}};
  }
  std::copy(bytes->begin(), bytes->end(), seed.begin());
  return from_seed(seed);
}

Signature SigningKey::sign(std::string_view text) const {
  Signature signature{};
  std::size_t size = signature.size();
  ContextPointer context = new_context();
  Bytes bytes = as_bytes(text);
  EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, native_->key.get());
  EVP_DigestSign(context.get(), signature.data(), &size, bytes.data(), bytes.size());
  return signature;
}

bool is_signature_of(std::string_view public_key, std::string_view text,
                     std::string_view signature) {
  auto key_bytes = from_hex(public_key);
  auto signature_bytes = from_hex(signature);
  if (!key_bytes || key_bytes->size() != 32 || !signature_bytes ||
      signature_bytes->size() != Signature{}.size())
    return false;
  KeyPointer key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key_bytes->data(), key_bytes->size()),
      &EVP_PKEY_free);
  if (!key) return false;
  ContextPointer context = new_context();
  Bytes bytes = as_bytes(text);
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature_bytes->data(), signature_bytes->size(),
                          bytes.data(), bytes.size()) == 1;
}

}  // namespace league::core
