#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "common/core/timestamp.h"

namespace league::schema {
class Fields;
}

namespace league::audit::log {

/// From this version of the format on, records say who said them.
inline constexpr int kFirstVersionWithSpeakers = 3;

/// What a header line says, as far as it says it.
struct LogHeader {
  std::string format{};
  int version = 0;
  std::string agent{};
  int segment = 0;
  std::string league_id{};
  std::string league_key{};
  std::string public_key{};
  std::string created{};
  bool starts = false;  ///< a process begins here

  void describe(schema::Fields& a);
};

/// One record as it was read back. Texts that the record does not have are empty.
struct LogEntry {
  std::string agent;  ///< from the header: whose log it is
  std::string file;  ///< and where in it
  std::size_t line = 0;
  int segment = 1;
  std::uint64_t seq = 0;
  core::UtcTimestamp time;
  std::int64_t mono_ns = 0;
  bool outbound = false;
  std::string kind;  ///< `request`, `reply`, `failure`
  std::uint64_t call = 0;  ///< ties an answer to its request, in one run; 0 in old logs
  std::string peer;
  int version = 0;  ///< of the format, according to the last header
  /// Inbound: the agent whose token, credential or signature was checked for this message; empty:
  /// hearsay. Of old logs, which do not say it: the peer, where nothing was wrong with the message.
  std::string said_by;
  std::string
      via;  ///< `seat`: the manager passed it on, between a referee and a player at its seat
  std::string transport;
  std::string conversation_id;  ///< of an answer whose request stands in the file: the request's
  std::string message_type;
  std::string match_id;
  int http_status = 0;
  std::optional<std::int64_t> elapsed_us;
  std::vector<std::string> leniencies;
  std::string verdict;  ///< `E004`
  std::string fault;
  std::string raw;  ///< masked; if the record refers to an earlier one, put together again
  std::string raw_sha256;  ///< of the body as it was on the wire; empty in old logs
  bool raw_is_cut = false;  ///< there was more of it

  /// The fields of a line, to read it; `said_by` is what a line of a new log says.
  void describe(schema::Fields& a);
  /// The sender and the receiver, according to the direction.
  [[nodiscard]] const std::string& from() const { return outbound ? agent : peer; }
  [[nodiscard]] const std::string& to() const { return outbound ? peer : agent; }
  /// Of an answer or a failure: how far `sent_ns`, a `mono_ns` of the same log, is from the moment
  /// at which its request was made. Any numbers will do: a log can hold some that no clock shows.
  [[nodiscard]] std::uint64_t ns_from_request(std::int64_t sent_ns) const;
};

/// Facts about a file that was read.
struct LogFileSummary {
  std::uint64_t records = 0;
  bool torn = false;  ///< the last line was cut off, as after a crash: no fault
  std::vector<std::string> problems;  ///< lines that are no records, by file and line
};

/// Reads one file line by line and passes on each record. Fails only if it cannot be opened or is
/// not a conversation log of a known version.
[[nodiscard]] core::Result<LogFileSummary> read_log(const std::filesystem::path& path,
                                                    const std::function<void(LogEntry)>& each);

/// Every `*.jsonl` and, compressed, `*.jsonl.gz` below `directory`, but for those of other leagues
/// in its `archive` (LogArchive), sorted by name. Links are not followed.
[[nodiscard]] std::vector<std::filesystem::path> find_logs(const std::filesystem::path& directory);

}  // namespace league::audit::log
