#include "common/core/random_source.h"

#include <openssl/rand.h>

#include <cstdio>
#include <cstdlib>

namespace league::core {

void CryptoRandom::fill(std::span<std::uint8_t> out) {
  if (RAND_bytes(out.data(), static_cast<int>(out.size())) != 1) {
    std::fputs("fatal: the cryptographic random source failed\n", stderr);
    std::abort();
  }
}

}  // namespace league::core
