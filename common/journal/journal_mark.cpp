#include "common/journal/journal_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace league::journal {
namespace {

// `entry 00000000000000000042 sha256 HEX` and a line feed: always the same length, so that a single
// write replaces it.
constexpr std::string_view kBefore = "entry ";
constexpr std::string_view kBetween = " sha256 ";
constexpr std::size_t kDigits = 20;
constexpr std::size_t kHexDigits = 64;
constexpr std::size_t kLine = kBefore.size() + kDigits + kBetween.size() + kHexDigits + 1;

}  // namespace

core::Digest chained(const core::Digest& before, const EventRecord& record) {
  std::string text;
  text.reserve(before.size() + record.type.size() + 1 + record.payload.size());
  text.append(before.begin(), before.end());
  text.append(record.type).append("\n").append(record.payload);
  return core::sha256(text);
}

void JournalMark::write(const JournalPosition& place) {
  if (!descriptor_.is_open()) {
    descriptor_ = core::FileDescriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  }
  if (!descriptor_.is_open()) return;
  std::string number = std::to_string(place.sequence);
  std::string line(kBefore);
  line.append(kDigits - std::min(kDigits, number.size()), '0').append(number);
  line.append(kBetween).append(core::to_hex(place.digest)).append("\n");
  [[maybe_unused]] auto written = ::pwrite(descriptor_.get(), line.data(), line.size(), 0);
}

std::optional<JournalPosition> JournalMark::read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line(kLine + 1, '\0');
  in.read(line.data(), static_cast<std::streamsize>(line.size()));
  if (in.gcount() != static_cast<std::streamsize>(kLine)) return std::nullopt;
  std::string_view text(line);
  std::string_view digits = text.substr(kBefore.size(), kDigits);
  std::string_view hex = text.substr(kBefore.size() + kDigits + kBetween.size(), kHexDigits);
  if (!text.starts_with(kBefore) ||
      text.substr(kBefore.size() + kDigits, kBetween.size()) != kBetween ||
      text[kLine - 1] != '\n') {
    return std::nullopt;
  }
  JournalPosition place;
  auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), place.sequence);
  auto digest = core::from_hex(hex);
  if (problem != std::errc{} || end != digits.data() + digits.size() || !digest)
    return std::nullopt;
  std::copy(digest->begin(), digest->end(), place.digest.begin());
  return place;
}

}  // namespace league::journal
