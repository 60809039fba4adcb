#include "common/core/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <memory>

namespace league::core {

Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

namespace {

/// The algorithms, looked up once: OpenSSL 3 spends more on finding one by name than on hashing a
/// short text. They live as long as the process and are only read.
const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const kAlgorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return kAlgorithm;
}

const EVP_MAC_CTX* hmac_prototype() {
  static const EVP_MAC_CTX* const kPrototype = [] {
    EVP_MAC* hmac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    EVP_MAC_CTX* context = EVP_MAC_CTX_new(hmac);
    std::array<char, 7> digest{"SHA256"};
    const std::array<OSSL_PARAM, 2> params = {
        OSSL_PARAM_construct_utf8_string("digest", digest.data(), 0), OSSL_PARAM_construct_end()};
    EVP_MAC_CTX_set_params(context, params.data());
    return context;
  }();
  return kPrototype;
}

}  // namespace

struct Sha256::Native {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                  &EVP_MD_CTX_free};
};

Sha256::Sha256() : native_(std::make_unique<Native>()) {
  EVP_DigestInit_ex2(native_->context.get(), sha256_algorithm(), nullptr);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Digest Sha256::operator()(std::string_view text) {
  Digest out{};
  EVP_MD_CTX* context = native_->context.get();
  EVP_DigestInit_ex2(context, nullptr, nullptr);
  EVP_DigestUpdate(context, text.data(), text.size());
  EVP_DigestFinal_ex(context, out.data(), nullptr);
  return out;
}

Digest sha256(std::string_view text) {
  // A context of its own for each short text takes longer than the computation.
  thread_local Sha256 hash;
  return hash(text);
}

Digest sha256(Bytes data) {
  return sha256(std::string_view(reinterpret_cast<const char*>(data.data()), data.size()));
}

Digest hmac_sha256(Bytes key, Bytes data) {
  Digest out{};
  // Copying the prototype takes as long as the computation.
  thread_local std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(
      EVP_MAC_CTX_dup(hmac_prototype()), &EVP_MAC_CTX_free);
  std::size_t length = 0;
  const std::uint8_t none = 0;  // an empty key is a key; a null one is none
  EVP_MAC_init(context.get(), key.empty() ? &none : key.data(), key.size(), nullptr);
  EVP_MAC_update(context.get(), data.data(), data.size());
  EVP_MAC_final(context.get(), out.data(), &length, out.size());
  return out;
}

bool constant_time_equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string to_hex(Bytes data) {
  std::string text;
  append_hex(data, text);
  return text;
}

void append_hex(Bytes data, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::size_t before = out.size();
  out.resize(before + data.size() * 2);
  char* to = out.data() + before;
  for (auto byte : data) {
    *to++ = kDigits[byte >> 4U];
    *to++ = kDigits[byte & 15U];
  }
}

std::optional<std::vector<std::uint8_t>> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  auto nibble = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::vector<std::uint8_t> bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    int high = nibble(hex[i]);
    int low = nibble(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return bytes;
}

std::string to_base32(Bytes data) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  text.reserve((data.size() * 8 + 4) / 5);
  std::uint32_t buffer = 0;
  unsigned bits = 0;
  for (auto byte : data) {
    buffer = (buffer << 8U) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += kAlphabet[(buffer >> bits) & 31U];
    }
  }
  if (bits > 0) text += kAlphabet[(buffer << (5 - bits)) & 31U];
  return text;
}

}  // namespace league::core
