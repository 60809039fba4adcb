#include "tools/audit/facts/known_broadcasts.h"

#include <cstring>

namespace league::tools::auditor {
namespace {

constexpr std::size_t kShownOfToken = 8;

/// Takes `prefix` from the front of `text`, if it is there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string_view take_word(std::string_view& text) {
  std::size_t end =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  std::string_view word = text.substr(0, end);
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

std::optional<std::string> common_part(std::string_view body) {
  if (!take(body, R"({"jsonrpc":"2.0","id":)") || take_word(body).empty()) return std::nullopt;
  if (!take(body, R"(,"method":")")) return std::nullopt;
  std::string_view method = take_word(body);
  if (!take(body, R"(","params":{"auth_token":")")) return std::nullopt;
  if (take_word(body).size() > kShownOfToken || !take(body, R"(...",)")) return std::nullopt;
  std::string part(method);
  return part.append("\n").append(body);
}

std::optional<KnownBroadcast> KnownBroadcasts::find(const core::Digest& digest) const {
  std::lock_guard lock(mutex_);
  auto found = known_.find(digest);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void KnownBroadcasts::add(const core::Digest& digest, KnownBroadcast&& broadcast) {
  std::lock_guard lock(mutex_);
  known_.try_emplace(digest, std::move(broadcast));
}

std::size_t KnownBroadcasts::Hash::operator()(const core::Digest& digest) const {
  std::size_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

}  // namespace league::tools::auditor
