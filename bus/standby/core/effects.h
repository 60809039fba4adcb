#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/core/crypto.h"
#include "common/journal/journal.h"
#include "common/journal/journal_mark.h"

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

/// Each rule of replication, so that a test can show what happens without it. Programs change none.
struct Rules {
  bool expects_sequence = true;  ///< a publish names the last sequence that it expects
  bool expects_id = true;  ///< and the last message id
  bool waits_for_flush = true;  ///< an answer waits for the local journal
  bool waits_for_stream = true;  ///< and for the stream
  bool waits_for_standbys = true;  ///< and for each stand-by in sync
  bool publishes_again = true;  ///< after an error or silence, until the answer is definite
  bool keeps_id = true;  ///< with the same id
  bool only_conflict_ends = true;  ///< no other error ends a manager
  bool reads_after_conflict = true;  ///< our own message is no conflict
  bool ends_at_others_message = true;  ///< an old leader writes nothing after another's message
  bool ignores_unfinished = true;  ///< a batch counts when it is complete
  bool waits_for_silence = true;  ///< a candidate waits until the leader's heartbeat has stopped
  bool puts_tail_aside = true;  ///< an old leader's entries that the new one does not have
  bool opens_incarnation = true;  ///< a stream that has lost messages is not written again in place
  /// A newer incarnation ends whoever holds an older one; and who opens one looks afterwards
  /// whether another was written meanwhile.
  bool newer_ends_older = true;
  bool recovers_only_whole = true;  ///< only who has every acknowledged entry publishes its journal
  bool doubts_after_silence = true;  ///< who was cut off does not know what the others have done
};

/// Durations that depend on each other. Doubt < silence, since a manager that is in no doubt must
/// have noticed every claim; and silence + doubt < patience, since a stand-by that was listed may
/// recover the journal for as long as the leader waits for it.
struct Timing {
  std::chrono::milliseconds heartbeat{500};  ///< also between two looks at the streams
  std::chrono::milliseconds again{1000};  ///< after which an unanswered request is repeated
  std::chrono::milliseconds affirm{1000};  ///< after which an idle leader writes again
  std::chrono::milliseconds doubt{4000};  ///< without the broker, after which anything can be
  std::chrono::milliseconds silence{5000};  ///< of the leader, before a candidate claims the lead
  std::chrono::milliseconds jitter{1000};  ///< a random part of this is added to `silence`
  std::chrono::milliseconds patience{10'000};  ///< for which answers wait for a silent stand-by
  std::chrono::milliseconds present{1500};  ///< after its heartbeat, a manager is present
  std::chrono::milliseconds notice{10'000};  ///< between two lines about the same trouble
  std::size_t piece{512 << 10};  ///< bytes of entries in a message
};

using journal::JournalPosition;
/// A steady clock of the machine, which goes on while the process is frozen.
using Time = std::chrono::milliseconds;

/// A message in a stream: 0 and zeros before the first.
struct StreamPosition {
  std::uint64_t incarnation = 0;  ///< part of the stream's name; 0: no stream
  std::uint64_t sequence = 0;
  core::Digest id{};

  bool operator==(const StreamPosition&) const = default;
};

/// What a manager must still know after a restart, apart from its journal.
struct Knowledge {
  std::uint64_t incarnation = 0;  ///< the last that it knows to have had a leader
  std::uint64_t term = 0;  ///< of the leader whose journal it has
  std::string leader;  ///< of that term
  JournalPosition acknowledged;  ///< the last entry of which it knows that it was acknowledged
  std::uint64_t kept = 0;  ///< up to here, its own journal is known to be acknowledged
  std::vector<std::string> members;  ///< other managers that it has heard of, sorted

  bool operator==(const Knowledge&) const = default;
};

/// Broadcast by every manager in the streams' account, never stored: twice a second, and by a
/// stand-by whenever its journal has grown.
struct Heartbeat {
  std::string name;
  std::uint64_t incarnation = 0;
  std::uint64_t term = 0;
  bool is_leading = false;  ///< or it publishes its journal into a new incarnation
  JournalPosition journal;  ///< flushed
  JournalPosition acknowledged;
  std::vector<std::string> members;
  Time sent{0};  ///< by the sender's clock
  /// Another manager that the sender hears.
  struct Heard {
    std::string name;
    Time sent{0};  ///< of its latest heartbeat, by its own clock
    /// From a leader: it has everything that was ever answered, and every answer waits for it.
    bool is_in_sync = false;
  };
  std::vector<Heard> heard;
};

/// What the broker says of a stream.
struct StreamInfo {
  std::uint64_t incarnation = 0;
  std::uint64_t created = 0;  ///< different for a stream that was deleted and made again
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t messages = 0;

  bool operator==(const StreamInfo&) const = default;
};

// --- Facts ---------------------------------------------------------------------------------------

/// The broker's answer to a Publish. Silence is no fact: the manager repeats what is not answered.
struct Published {
  enum class Status : std::uint8_t {
    kStored,
    kConflict,  ///< 10071 or 10070: wrong last sequence, wrong last message id
    kFull,  ///< 10077, or no room in the account or the broker
    kFailed,  ///< any other error, also that there is no such stream
  };
  std::uint64_t incarnation = 0;
  core::Digest id{};
  Status status = Status::kFailed;
  std::uint64_t sequence = 0;  ///< of kStored
  std::string why = {};  ///< unless stored: in the broker's words
};
/// The answer to a Read; without a message if the stream has none there.
struct ReadDone {
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
  std::optional<Message> message;
};
/// The answer to an Inspect: all streams of the league, also empty ones.
struct Inspected {
  Time sent{0};  ///< of the Inspect
  std::vector<StreamInfo> streams;
};
/// From the consumer that the last Follow has asked for.
struct Delivered {
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
  Message message;
};
/// The local journal is durable up to this entry.
struct Flushed {
  std::uint64_t sequence = 0;
};
/// Every 100 ms or so. `random` is at least 0 and less than 1.
struct Tick {
  double random = 0;
};
/// The operator's decision (`league admin lead --lose-after N`): to go on with the entries up to
/// `sequence`, although others may have been acknowledged.
struct LoseAfter {
  std::uint64_t sequence = 0;
};
using Fact =
    std::variant<Published, ReadDone, Inspected, Delivered, Flushed, Heartbeat, Tick, LoseAfter>;

// --- Effects -------------------------------------------------------------------------------------

/// Publish `message` with its id, and with the expectations `expected_sequence` and, unless this is
/// 0, `message.previous`. An open message creates the stream if there is none.
struct Publish {
  std::uint64_t incarnation = 0;
  std::optional<std::uint64_t> expected_sequence;
  bool expects_id = true;
  Message message;
};
/// Read one message from the stream's leader, not from any replica.
struct Read {
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
};
struct Inspect {
  Time sent{0};
};
/// Replace the consumer by one that reads this stream from `sequence` on, in order.
struct Follow {
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 1;
};
/// Append to the local journal, and report Flushed.
struct Store {
  std::uint64_t first = 0;
  std::vector<journal::EventRecord> records;
};
/// Move the local journal's entries after this one to a file of their own, before any later Store.
struct PutAside {
  std::uint64_t after = 0;
};
/// Flush this before any effect that follows.
struct Remember {
  Knowledge knowledge;
};
/// Answers that depend on entries up to this one may be sent.
struct Release {
  std::uint64_t sequence = 0;
};
/// This manager leads: the league begins or goes on.
struct Lead {
  std::uint64_t term = 0;
};
/// The league starts no new matches, or it does again.
struct Pause {
  bool is_paused = false;
};
/// This manager no longer leads and must answer nothing more: the process ends. After a restart it
/// is a stand-by.
struct End {
  std::string why;
};
/// One line for the operator: what is wrong, and what to do.
struct Say {
  std::string line;
};
using Effect = std::variant<Publish, Read, Inspect, Follow, Store, PutAside, Remember, Release,
                            Lead, Pause, End, Say, Heartbeat>;
using Effects = std::vector<Effect>;

}  // namespace league::league_manager::stream
