#include "player/core/misbehaviour.h"

#include <array>
#include <charconv>

namespace league::player {

namespace {

struct Entry {
  std::string_view name;
  std::string_view shown;
  MisbehaviourKind kind;
};

constexpr std::array<Entry, 12> kMisbehaviours = {{
    {"slow", "slow:MS", MisbehaviourKind::kSlow},
    {"silent", "silent", MisbehaviourKind::kSilent},
    {"crash", "crash", MisbehaviourKind::kCrash},
    {"garbage", "garbage", MisbehaviourKind::kGarbage},
    {"invalid", "invalid", MisbehaviourKind::kInvalid},
    {"wrong-match", "wrong-match", MisbehaviourKind::kWrongMatch},
    {"no-token", "no-token", MisbehaviourKind::kNoToken},
    {"huge", "huge", MisbehaviourKind::kHuge},
    {"bad-commitment", "bad-commitment", MisbehaviourKind::kBadCommitment},
    {"bad-nonce", "bad-nonce", MisbehaviourKind::kBadNonce},
    {"no-nonce", "no-nonce", MisbehaviourKind::kNoNonce},
    {"other-choice", "other-choice", MisbehaviourKind::kOtherChoice},
}};

constexpr int kLongestDelayMs = 3'600'000;

core::Error bad(std::string_view text, const std::string& rule) {
  return {core::ErrorCode::kInvalidFieldValue,
          "strategy \"" + std::string(text.substr(0, 64)) + "\": " + rule, "/strategy"};
}

std::optional<int> parse_delay(std::string_view digits) {
  int value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end || value < 0 || value > kLongestDelayMs)
    return std::nullopt;
  return value;
}

}  // namespace

core::Result<std::optional<Misbehaviour>> parse_misbehaviour(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (const Entry& entry : kMisbehaviours) {
    if (entry.name != name) continue;
    if (entry.kind != MisbehaviourKind::kSlow) {
      if (colon != std::string_view::npos) {
        return bad(text, std::string(name) + " takes no number.");
      }
      return std::optional(Misbehaviour{entry.kind, {}});
    }
    const auto delay =
        colon == std::string_view::npos ? std::nullopt : parse_delay(text.substr(colon + 1));
    if (!delay) {
      return bad(text, "write slow:MS with MS from 0 to " + std::to_string(kLongestDelayMs) + ".");
    }
    return std::optional(Misbehaviour{entry.kind, std::chrono::milliseconds(*delay)});
  }
  return std::optional<Misbehaviour>();
}

std::vector<std::string_view> known_misbehaviours() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kMisbehaviours));
  for (const Entry& entry : kMisbehaviours) names.push_back(entry.shown);
  return names;
}

}  // namespace league::player
