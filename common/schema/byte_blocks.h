#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Sixteen bytes at a time, with the vector types of GCC and Clang: one instruction where the
/// machine has it, a loop where it has not. For the places that look at every byte of every
/// message.
namespace league::schema {

inline constexpr std::size_t kBlock = 16;
using Block [[gnu::vector_size(kBlock)]] = unsigned char;

inline Block load_block(const char* from) {
  Block block;
  std::memcpy(&block, from, kBlock);
  return block;
}

/// Each byte is `value`.
inline Block splat(unsigned char value) { return Block{} + value; }

/// Bit i is set where byte i of `chosen` is: a comparison of two blocks, whose bytes are 0 or 255.
template <typename Comparison>
std::uint32_t bits_of_block(const Comparison& chosen) {
  static_assert(sizeof(chosen) == kBlock && std::endian::native == std::endian::little);
#if defined(__SSE2__)
  __m128i bytes;
  std::memcpy(&bytes, &chosen, kBlock);
  return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
#else
  // The product moves the high bits of eight bytes side by side into the highest byte.
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  constexpr std::uint64_t kGather = 0x0002040810204081U;
  std::uint64_t halves[2];
  std::memcpy(halves, &chosen, kBlock);
  return static_cast<std::uint32_t>((halves[0] & kHigh) * kGather >> 56U |
                                    ((halves[1] & kHigh) * kGather >> 56U) << 8U);
#endif
}

}  // namespace league::schema
