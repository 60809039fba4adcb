#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/audit/log/log_segments.h"
#include "common/audit/record/log_chain.h"

namespace league::audit::log {

/// A fault of a log, and where it is.
struct LogFault {
  std::string file;
  std::size_t line = 0;  ///< from 1; 0: the file as a whole
  std::string rule;  ///< a stable name: `chain.hash`
  std::string text;  ///< for people
};

/// Which league the records after a header belong to; empty while the agent does not know it.
struct LeagueIdentity {
  std::string id;
  std::string key;  ///< the league's public key; empty in logs that were made before it was written
  bool operator==(const LeagueIdentity&) const = default;
};

/// A line that holds a record, for checks beyond the chain.
struct RecordLine {
  const std::string& file;
  std::size_t line;
  std::uint64_t seq;
  const std::string& agent;  ///< of the last header
  std::string_view text;
  const LeagueIdentity& league;  ///< of the last header
  std::size_t run;  ///< which of the processes that wrote the log, from 0
  int version;  ///< of the format, according to the last header
};

/// A note in a log, other than `seal_delayed`.
struct LogNote {
  std::string name;  ///< `receipt_keys`
  std::string content;  ///< a JSON object, as it was written
  std::string file;
  std::size_t line = 0;
  std::string agent;  ///< of the last header
  LeagueIdentity league;  ///< of the last header
  std::size_t run = 0;
  bool is_sealed = false;  ///< a seal with the right signature follows in the log
};

/// The part of a log that one process wrote: from a header with `starts` to the next.
struct LogProcess {
  std::string created;  ///< the time in that header, as it was written
  std::string file;  ///< the file that contains that header
  std::size_t line = 0;
  bool closed = false;  ///< the process ended properly
};

/// The result of verifying the chain of a log.
struct VerifiedChain {
  std::string agent;  ///< its last name
  std::set<std::string> names;  ///< that one and those before it
  LeagueIdentity league;  ///< of its last header
  std::set<std::string> public_keys;
  std::uint64_t records = 0;
  std::uint64_t last_seq = 0;
  std::uint64_t unsealed = 0;  ///< lines after the last seal
  bool closed = false;  ///< the last program that wrote it ended properly
  /// Every process that wrote the log ended properly. A process that was killed may not have
  /// written its last records.
  bool complete = false;
  std::vector<LogProcess> processes;  ///< that wrote it, including those that were killed at once
  bool torn = false;  ///< the last line is cut off
  std::string last_file;  ///< the file with the last line of the log
  std::size_t last_line = 0;
  std::vector<LogFault> faults;
  /// Rule `seal.absent`: for agents that have registered a key for their log.
  std::vector<LogFault> seal_gaps;
  std::vector<LogNote> notes;
  int version = 0;  ///< the lowest that a header names; 0: there is no good header

  /// Whether the log has a line with this hash after record `seq` and before the next.
  [[nodiscard]] bool contains(const record::LogHead& head) const;

 private:
  friend class ChainVerifier;
  friend VerifiedChain verify_chain(const LogSegments&,
                                    const std::function<void(const RecordLine&)>&);
  std::vector<std::uint64_t> hashes_;  ///< the first half of each line's hash, sorted
};

/// Verifies hashes, numbers, headers and seals of a log and passes on each record. Source:
/// docs/audit.md. Thread-safe for different logs.
[[nodiscard]] VerifiedChain verify_chain(const LogSegments& log,
                                         const std::function<void(const RecordLine&)>& each = {});

}  // namespace league::audit::log
