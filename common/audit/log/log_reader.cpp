#include "common/audit/log/log_reader.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "common/audit/log/log_archive.h"
#include "common/audit/log/log_lines.h"
#include "common/audit/log/packed_log.h"
#include "common/audit/record/record_writer.h"
#include "common/schema/json_fields.h"

namespace league::audit::log {
namespace {

using nlohmann::json;

std::int64_t number(const json& line, const char* key) {
  return schema::number_at(line, key).value_or(0);
}

/// Reads one file; remembers its header and the bodies that later records refer to.
class Reading {
 public:
  Reading(const std::filesystem::path& path, const std::function<void(LogEntry)>& each)
      : path_(path.string()), each_(each) {}

  core::Result<LogFileSummary> run(LogLines& lines) {
    std::string_view text;
    auto next = lines.next(text);
    while (next == LogLines::Next::kLine || next == LogLines::Next::kPart) {
      ++line_;
      json line = json::parse(text, nullptr, false);
      if (next == LogLines::Next::kPart && line.is_discarded()) {
        summary_.torn = true;
        break;
      }
      if (auto taken = take(line); !taken) return taken.error();
      if (next == LogLines::Next::kPart) break;
      next = lines.next(text);
    }
    if (next == LogLines::Next::kTooLong) return not_a_log("a line is too long");
    if (next == LogLines::Next::kDamaged) return not_a_log("it cannot be read any further");
    if (!header_seen_) return not_a_log("it has no header line");
    return std::move(summary_);
  }

 private:
  core::Error not_a_log(const std::string& why) const {
    return {core::ErrorCode::kMalformedMessage, path_ + " is not a conversation log: " + why, {}};
  }

  void problem(const std::string& what) {
    constexpr std::size_t kMostProblems = 1000;
    if (summary_.problems.size() >= kMostProblems) return;
    summary_.problems.push_back(path_ + ":" + std::to_string(line_) + ": " + what);
  }

  core::Result<void> take(const json& line) {
    if (line.is_object() && line.contains("format")) return take_header(line);
    if (!header_seen_) return not_a_log("its first line is not a header");
    if (line.is_object() && (line.contains("seal") || line.contains("note"))) return {};
    if (!line.is_object() || !line.contains("seq")) {
      problem("not a record");
      return {};
    }
    LogEntry entry = entry_of(line);
    tie_to_request(entry);
    if (auto time = core::UtcTimestamp::parse(schema::text_at(line, "time"))) {
      entry.time = *time;
    } else {
      problem(time.error().message);
    }
    ++summary_.records;
    each_(std::move(entry));
    return {};
  }

  core::Result<void> take_header(const json& line) {
    if (schema::text_at(line, "format") != record::kLogFormat)
      return not_a_log("the format is " + schema::text_at(line, "format"));
    if (number(line, "version") < 1 || number(line, "version") > record::kLogVersion) {
      return not_a_log("version " + std::to_string(number(line, "version")) +
                       " is unknown to this program");
    }
    header_seen_ = true;
    version_ = static_cast<int>(number(line, "version"));
    if (line.contains("starts")) asked_.clear();
    agent_ = schema::text_at(line, "agent");
    segment_ = static_cast<int>(number(line, "segment"));
    return {};
  }

  LogEntry entry_of(const json& line) {
    LogEntry entry;
    entry.agent = agent_;
    entry.file = path_;
    entry.line = line_;
    entry.segment = segment_;
    entry.seq = static_cast<std::uint64_t>(number(line, "seq"));
    entry.mono_ns = std::max(number(line, "mono_ns"), std::int64_t{0});
    entry.outbound = schema::text_at(line, "dir") == "out";
    entry.kind = schema::text_at(line, "kind");
    entry.call = static_cast<std::uint64_t>(number(line, "call"));
    entry.peer = schema::text_at(line, "peer");
    entry.version = version_;
    entry.via = schema::text_at(line, "via");
    entry.transport = schema::text_at(line, "transport");
    entry.conversation_id = schema::text_at(line, "conversation_id");
    entry.message_type = schema::text_at(line, "message_type");
    entry.match_id = schema::text_at(line, "match_id");
    entry.http_status = static_cast<int>(number(line, "http_status"));
    if (line.contains("elapsed_us")) entry.elapsed_us = number(line, "elapsed_us");
    if (const json& names = schema::field_at(line, "leniencies"); names.is_array()) {
      for (const json& name : names) {
        if (name.is_string()) entry.leniencies.push_back(name.get<std::string>());
      }
    }
    entry.verdict = schema::text_at(line, "verdict");
    entry.fault = schema::text_at(line, "fault");
    entry.said_by = speaker_of(line, entry);
    entry.raw_sha256 = schema::text_at(line, "raw_sha256");
    entry.raw_is_cut = line.contains("raw_bytes");
    entry.raw = body_of(line, entry);
    return entry;
  }

  /// Until version 3 a message with a token that nobody checked was either refused or had a
  /// leniency.
  static std::string speaker_of(const json& line, const LogEntry& entry) {
    if (entry.version >= kFirstVersionWithSpeakers) return schema::text_at(line, "said_by");
    const bool is_doubtful = std::ranges::any_of(entry.leniencies, [](const std::string& name) {
      return name == "missing_call_token" || name == "foreign_call_token";
    });
    return entry.outbound || !entry.verdict.empty() || is_doubtful ? std::string() : entry.peer;
  }

  /// The conversation that an answer names is only its sender's claim; the answer belongs to its
  /// request's conversation.
  void tie_to_request(LogEntry& entry) {
    if (entry.call == 0) return;
    if (entry.kind == "request") {
      asked_[entry.call] = entry.conversation_id;
      return;
    }
    auto request = asked_.extract(entry.call);
    if (!request.empty() && !request.mapped().empty())
      entry.conversation_id = std::move(request.mapped());
  }

  using Bodies = std::map<std::uint64_t, std::string>;  ///< by the number of their record

  std::string body_of(const json& line, const LogEntry& entry) {
    std::string raw = schema::text_at(line, "raw");
    Bodies& bodies = entry.kind == "request" ? broadcasts_ : answers_;
    if (!line.contains("raw_ref")) {
      if (line.contains("broadcast")) remember(bodies, entry.seq, raw);
      return raw;
    }
    auto base = bodies.find(static_cast<std::uint64_t>(number(line, "raw_ref")));
    const json& keep = schema::field_at(line, "raw_keep");
    if (base == bodies.end() || !keep.is_array() || keep.size() != 2 ||
        !keep[0].is_number_unsigned() || !keep[1].is_number_unsigned()) {
      problem("raw_ref names no earlier record of this file");
      return raw;
    }
    std::size_t before = std::min(keep[0].get<std::size_t>(), base->second.size());
    std::size_t after = std::min(keep[1].get<std::size_t>(), base->second.size());
    return base->second.substr(0, before) + raw + base->second.substr(base->second.size() - after);
  }

  /// Bounded like the writer's memory, so that memory use does not grow with the file.
  static void remember(Bodies& bodies, std::uint64_t seq, const std::string& raw) {
    if (bodies.size() == record::kRememberedBroadcasts) bodies.erase(bodies.begin());
    bodies.emplace(seq, raw);
  }

  std::string path_;
  const std::function<void(LogEntry)>& each_;
  LogFileSummary summary_;
  bool header_seen_ = false;
  std::string agent_;
  int version_ = 1;
  int segment_ = 1;
  std::size_t line_ = 0;
  Bodies broadcasts_;
  Bodies answers_;
  std::unordered_map<std::uint64_t, std::string> asked_;  ///< conversations of open calls
};

}  // namespace

std::uint64_t LogEntry::ns_from_request(std::int64_t sent_ns) const {
  const auto waited_ns = static_cast<std::uint64_t>(elapsed_us.value_or(0)) * 1000;
  const std::uint64_t apart =
      static_cast<std::uint64_t>(mono_ns) - waited_ns - static_cast<std::uint64_t>(sent_ns);
  return std::min(apart, 0 - apart);  // unsigned, so that nothing overflows
}

core::Result<LogFileSummary> read_log(const std::filesystem::path& path,
                                      const std::function<void(LogEntry)>& each) {
  auto lines = LogLines::open(path);
  if (!lines) {
    return core::Error{core::ErrorCode::kInternalError,
                       path.string() +
                           " cannot be read; check the path and its permissions; a "
                           "compressed one may be damaged",
                       {}};
  }
  return Reading(path, each).run(*lines);
}

std::vector<std::filesystem::path> find_logs(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(directory, error), end;
       !error && entry != end; entry.increment(error)) {
    if (is_archive(*entry, directory)) entry.disable_recursion_pending();
    if (!entry->is_regular_file(error)) continue;
    std::filesystem::path unpacked = entry->path();
    if (unpacked.extension() == ".gz") unpacked.replace_extension();
    if (unpacked.extension() == ".jsonl" && present_path(unpacked) == entry->path())
      found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace league::audit::log
