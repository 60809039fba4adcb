#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/audit/record/log_chain.h"
#include "common/core/crypto.h"

namespace league::tools::auditor {

/// What has to be checked in a further copy of a broadcast that was found valid.
struct KnownBroadcast {
  std::string sender;
  std::string conversation;
  std::optional<audit::record::LogHead> head;  ///< as the manager's message states it
};

/// The part of a broadcast that is the same for all recipients: its method, and everything after
/// the masked token. Nothing for a body that does not begin exactly as our manager writes it.
[[nodiscard]] std::optional<std::string> common_part(std::string_view body);

/// Large broadcasts of which one copy was checked: each player's log has one copy, and the
/// manager's log has one for each player. They are identified by SHA-256, so another body cannot be
/// passed off as one of them. Thread-safe.
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

}  // namespace league::tools::auditor
