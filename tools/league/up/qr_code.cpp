#include "tools/league/up/qr_code.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace league::tools {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Bytes of data and of error correction, which are one block in these versions.
struct Version {
  int number;
  std::size_t data;
  std::size_t correction;
};
constexpr std::array kVersions = {Version{1, 19, 7}, Version{2, 34, 10}, Version{3, 55, 15},
                                  Version{4, 80, 20}, Version{5, 108, 26}};
constexpr std::size_t kHead = 2;  ///< bytes beside the text: its kind and length, the end

/// The text with its head, filled up.
Bytes data_of(std::string_view text, const Version& version) {
  constexpr std::uint8_t kBytes = 0x4;  // the kind of text
  constexpr std::array<std::uint8_t, 2> kFill = {0xec, 0x11};
  Bytes nibbles = {kBytes, static_cast<std::uint8_t>(text.size() >> 4),
                   static_cast<std::uint8_t>(text.size() & 0xf)};
  for (const char one : text) {
    nibbles.push_back(static_cast<std::uint8_t>(static_cast<std::uint8_t>(one) >> 4));
    nibbles.push_back(static_cast<std::uint8_t>(one & 0xf));
  }
  nibbles.push_back(0);  // the end
  Bytes data;
  for (std::size_t i = 0; i < nibbles.size(); i += 2)
    data.push_back(static_cast<std::uint8_t>(nibbles[i] << 4 | nibbles[i + 1]));
  for (std::size_t i = 0; data.size() < version.data; ++i) data.push_back(kFill[i % 2]);
  return data;
}

/// The product in GF(256) with the polynomial of QR codes.
std::uint8_t product(std::uint8_t a, std::uint8_t b) {
  constexpr int kPolynomial = 0x11d;
  int result = 0;
  for (int bit = 7; bit >= 0; --bit) {
    result = result << 1 ^ ((result >> 7 & 1) * kPolynomial);
    if ((b >> bit & 1) != 0) result ^= a;
  }
  return static_cast<std::uint8_t>(result);
}

/// The Reed-Solomon code of `data`, `size` bytes.
Bytes correction_of(const Bytes& data, std::size_t size) {
  Bytes divisor(size);  // coefficients without the leading 1
  divisor.back() = 1;
  std::uint8_t root = 1;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      divisor[j] = product(divisor[j], root);
      if (j + 1 < size) divisor[j] = static_cast<std::uint8_t>(divisor[j] ^ divisor[j + 1]);
    }
    root = product(root, 2);
  }
  Bytes rest(size);
  for (const std::uint8_t byte : data) {
    const auto factor = static_cast<std::uint8_t>(byte ^ rest.front());
    std::rotate(rest.begin(), rest.begin() + 1, rest.end());
    rest.back() = 0;
    for (std::size_t i = 0; i < size; ++i)
      rest[i] = static_cast<std::uint8_t>(rest[i] ^ product(divisor[i], factor));
  }
  return rest;
}

class Drawing {
 public:
  explicit Drawing(int version)
      : size_(17 + 4 * version),
        modules_(static_cast<std::size_t>(size_),
                 std::vector<bool>(static_cast<std::size_t>(size_))),
        is_fixed_(modules_) {
    for (int i = 0; i < size_; ++i) {
      fix(6, i, i % 2 == 0);
      fix(i, 6, i % 2 == 0);
    }
    for (const auto& [x, y] : {std::pair{3, 3}, {size_ - 4, 3}, {3, size_ - 4}})
      fix_square(x, y, 4);
    if (version > 1) fix_square(size_ - 7, size_ - 7, 2);
    fix_format();
  }

  /// Writes the bits upwards and downwards in columns of two, from the right, and masks them.
  QrModules with(const Bytes& bytes) && {
    std::size_t bit = 0;
    for (int right = size_ - 1; right >= 1; right -= 2) {
      if (right == 6) right = 5;  // the column of a fixed pattern
      for (int step = 0; step < size_; ++step) {
        const int y = ((right + 1) & 2) == 0 ? size_ - 1 - step : step;
        for (const int x : {right, right - 1}) {
          if (is_fixed_[index(y)][index(x)]) continue;
          const bool is_set = bit < 8 * bytes.size() && (bytes[bit / 8] >> (7 - bit % 8) & 1) != 0;
          modules_[index(y)][index(x)] = is_set != ((x + y) % 2 == 0);
          ++bit;
        }
      }
    }
    return std::move(modules_);
  }

 private:
  static std::size_t index(int at) { return static_cast<std::size_t>(at); }

  void fix(int x, int y, bool is_dark) {
    if (x < 0 || y < 0 || x >= size_ || y >= size_) return;
    modules_[index(y)][index(x)] = is_dark;
    is_fixed_[index(y)][index(x)] = true;
  }
  /// Squares within each other, by which readers find the code.
  void fix_square(int x, int y, int radius) {
    for (int dy = -radius; dy <= radius; ++dy) {
      for (int dx = -radius; dx <= radius; ++dx) {
        const int distance = std::max(std::abs(dx), std::abs(dy));
        fix(x + dx, y + dy, radius == 4 ? distance != 2 && distance != 4 : distance != 1);
      }
    }
  }
  /// Says, twice, that the error correction is L and the mask a chessboard: readers take any mask.
  void fix_format() {
    constexpr int kFormat = 0x77c4;
    const auto bit = [](int i) { return (kFormat >> i & 1) != 0; };
    for (int i = 0; i < 6; ++i) fix(8, i, bit(i));
    fix(8, 7, bit(6));
    fix(8, 8, bit(7));
    fix(7, 8, bit(8));
    for (int i = 9; i < 15; ++i) fix(14 - i, 8, bit(i));
    for (int i = 0; i < 8; ++i) fix(size_ - 1 - i, 8, bit(i));
    for (int i = 8; i < 15; ++i) fix(8, size_ - 15 + i, bit(i));
    fix(8, size_ - 8, true);
  }

  const int size_;
  QrModules modules_;
  QrModules is_fixed_;
};

}  // namespace

QrModules qr_code(std::string_view text) {
  const auto* version = std::ranges::find_if(
      kVersions, [&](const Version& one) { return text.size() + kHead <= one.data; });
  if (version == kVersions.end()) return {};
  Bytes bytes = data_of(text, *version);
  const Bytes correction = correction_of(bytes, version->correction);
  bytes.insert(bytes.end(), correction.begin(), correction.end());
  return Drawing(version->number).with(bytes);
}

std::vector<std::string> qr_lines(const QrModules& modules) {
  constexpr int kMargin = 4;
  constexpr std::array<const char*, 4> kBlocks = {" ", "\u2580", "\u2584", "\u2588"};
  const int size = static_cast<int>(modules.size());
  const auto is_dark = [&](int x, int y) {
    return x >= 0 && y >= 0 && x < size && y < size &&
           modules[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
  };
  std::vector<std::string> lines;
  for (int y = -kMargin; size > 0 && y < size + kMargin; y += 2) {
    std::string line = "\x1b[38;5;16;48;5;231m";
    for (int x = -kMargin; x < size + kMargin; ++x)
      line += kBlocks[(is_dark(x, y) ? 1U : 0U) + (is_dark(x, y + 1) ? 2U : 0U)];
    lines.push_back(line + "\x1b[0m");
  }
  return lines;
}

}  // namespace league::tools
