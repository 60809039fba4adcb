#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/audit/record/log_chain.h"
#include "common/core/crypto.h"

namespace league::tools {

/// What is left to check of a broadcast that was found good in another record.
struct KnownBroadcast {
  std::string sender;
  std::string conversation;
  std::optional<audit::LogHead> head;  ///< that the manager's message told
};

/// The part of a broadcast that is the same for everybody who got it: its method, and all that
/// follows the masked token. Nothing for a body that does not begin exactly as our manager writes
/// it.
[[nodiscard]] std::optional<std::string> common_part(std::string_view body);

/// Large broadcasts of which one copy was checked: every player has one, and the manager as many as
/// there are players. Known by SHA-256, so nobody can pass off another body as one of them.
/// Thread-safe.
class KnownBroadcasts {
 public:
  [[nodiscard]] std::optional<KnownBroadcast> find(const core::Digest& digest) const;
  void add(const core::Digest& digest, KnownBroadcast&& broadcast);

 private:
  struct Hash {
    std::size_t operator()(const core::Digest& digest) const;
  };
  mutable std::mutex mutex_;
  std::unordered_map<core::Digest, KnownBroadcast, Hash> known_;
};

}  // namespace league::tools
