#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/crypto.h"
#include "common/journal/journal.h"

namespace league::league_manager::stream {

/// The purpose of a message in the stream of a league's journal.
enum class MessageKind : std::uint8_t {
  kOpen,  ///< the first of an incarnation: `writer` begins to publish its journal into it
  kEntries,  ///< consecutive entries of the journal
  kClaim,  ///< `writer` leads, unless it finds afterwards that somebody else does
  kAffirm,  ///< `writer` leads; repeated while it has nothing else to write
};

/// One message of the stream. Source: design, the stream is the journal.
struct Message {
  MessageKind kind = MessageKind::kEntries;
  std::string writer;  ///< name of the manager
  std::uint64_t term = 0;  ///< the writer's; each claim has the next one
  /// Sequence numbers in the journal; of other kinds, `last` is the writer's last entry. In a
  /// Publish of kEntries, `records` is empty: the shell adds these entries from the local journal,
  /// or those that it is about to flush.
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::vector<journal::EventRecord> records = {};
  /// The batch goes on in the next message: it counts when it is complete, or not at all.
  bool has_more = false;
  core::Digest digest{};  ///< of the entry `last`; zeros: none
  std::vector<std::string> members = {};  ///< of kClaim and kAffirm: all managers ever heard of
  std::optional<std::uint64_t> lose_after = std::nullopt;  ///< an operator's decision
  core::Digest previous{};  ///< id of the message before this one; zeros: it is the first
  /// `Nats-Msg-Id`. It covers `previous`, so the same entries at another place have another id: a
  /// broker that remembers the id of an unfinished batch would otherwise not store its repetition.
  core::Digest id{};

  bool operator==(const Message&) const = default;
};

/// The id of `message`, from all of its fields but `id`, `records` and `members`.
[[nodiscard]] core::Digest message_id(const Message& message);

}  // namespace league::league_manager::stream
