#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "common/audit/record/log_chain.h"
#include "common/audit/record/record.h"

namespace league::audit::record {

inline constexpr std::string_view kLogFormat = "league.conversation-log";
inline constexpr int kLogVersion = 3;
/// The oldest version with a chain. Version 3 added notes, `said_by` and `seal_interval_ms`.
inline constexpr int kFirstChainedVersion = 2;
/// The note in front of a record that follows the first unsealed one too late.
inline constexpr std::string_view kSealDelayed = "seal_delayed";
/// A record may refer to one of this many previous records of its file that say `broadcast`: a
/// request to a request, an answer to an answer.
inline constexpr std::size_t kRememberedBroadcasts = 8;

/// First line of each file: whose records follow. Repeated at the place where an agent got its id.
struct LogHeader {
  std::string agent;  ///< `player:P01`, `league_manager`, or a temporary name
  std::string league_id;  ///< empty while unknown
  std::string league_key = {};  ///< public key of the league, which is its identity
  core::UtcTimestamp created;
  int segment = 1;  ///< 1 for the first file of an agent
  std::uint64_t first_seq = 1;  ///< of the first record that follows
  std::string public_key = {};  ///< of the seals that follow; empty: there will be none
  /// The longest that a record stays unsealed, unless a note says otherwise; 0: no seals follow.
  std::chrono::milliseconds seal_interval{0};
  /// For a file under a temporary name that continues an older log: the hash of that log's last
  /// line.
  std::string continues = {};
  bool starts = false;  ///< the first of its process
};

/// Appends the header of a chain that begins with it.
void append_header(const LogHeader& header, std::string& out);

/// Turns records into lines: the only place that knows the format, and where secrets are masked.
/// Keys have a fixed order, and absent ones are left out: seq, time, mono_ns, dir, kind, call,
/// peer, said_by, transport, context, conversation_id, message_type, match_id, http_status,
/// elapsed_us, leniencies, verdict, fault, broadcast, raw_ref, raw_keep, raw_bytes, raw_sha256, raw
/// or raw_base64, prev, hash. Not thread-safe: it belongs to the thread that writes.
class RecordWriter {
 public:
  struct Options {
    std::size_t max_body =
        64 * 1024;  ///< longer bodies are cut; `raw_bytes` and `raw_sha256` are of the whole one
    bool chained = true;  ///< with hashes of bodies and lines
  };

  RecordWriter() = default;
  explicit RecordWriter(Options options) : options_(options) {}

  /// Appends `record` as one line with its line end; a note without `seq`. Of a broadcast that is
  /// nearly equal to an earlier one of the same type and conversation, or an answer that is nearly
  /// equal to an earlier one of the same type, only what differs is written: `raw_ref` is the
  /// sequence number of the earlier one, and `raw_keep` says how many bytes of its `raw` stand
  /// before and after this `raw`.
  void append(const Record& record, std::uint64_t seq, std::string& out);

  /// Appends the header of a file, or of an agent that has got its id.
  void append_header(const LogHeader& header, std::string& out);
  /// Appends a signed head as a line of the chain that it covers.
  void append_seal(const Seal& seal, std::string& out);

  [[nodiscard]] LogChain& chain() { return chain_; }

  /// A new file begins: nothing may refer to the old one.
  void forget_broadcasts() {
    broadcasts_.clear();
    answers_.clear();
  }

 private:
  struct Broadcast {
    std::string message_type;
    std::string conversation_id;
    std::uint64_t seq;
    std::string masked;
  };

  void append_note(const Record& note, std::string& out);
  void append_facts(const Record& record, std::uint64_t seq, std::string& out);
  void append_body(const Record& record, std::uint64_t seq, std::string& out);
  /// What an earlier body shares with `masked_`, in bytes, if that is worth a reference.
  struct Shared {
    std::uint64_t seq = 0;
    std::size_t before = 0;
    std::size_t after = 0;
  };
  [[nodiscard]] std::optional<Shared> shared_with(const Broadcast& earlier) const;
  std::string_view append_reference(const Record& record, std::uint64_t seq, std::string& out);

  void end_line(std::size_t begin, std::string& out);

  Options options_;
  LogChain chain_;
  std::deque<Broadcast> broadcasts_;
  std::deque<Broadcast> answers_;
  std::string masked_;  ///< kept for its memory
};

}  // namespace league::audit::record
