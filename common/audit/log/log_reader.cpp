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
#include "common/schema/fields.h"

namespace league::audit::log {
namespace {

using nlohmann::json;

using schema::JsonNode;

/// A line of a log as a tree.
class ParsedLine {
 public:
  explicit ParsedLine(std::string_view text) : tree_(schema::JsonTree::parse(text)) {
    if (tree_) return;
    document_ = json::parse(text, nullptr, false);  // not as we write it, but perhaps JSON
    tree_.emplace(document_);
  }
  [[nodiscard]] bool is_json() const { return !document_.is_discarded(); }
  [[nodiscard]] JsonNode root() const { return tree_->root(); }

 private:
  std::optional<schema::JsonTree> tree_;
  json document_;
};

/// A record, and how its body follows from an earlier one.
struct RecordLine {
  LogEntry entry;
  std::optional<std::uint64_t> raw_ref = std::nullopt;
  std::vector<std::size_t> raw_keep{};

  void describe(schema::Fields& a) {
    entry.describe(a);
    a.optional("raw_ref", raw_ref);
    a.filled("raw_keep", raw_keep);
  }
};

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
      const ParsedLine line(text);
      if (next == LogLines::Next::kPart && !line.is_json()) {
        summary_.torn = true;
        break;
      }
      if (auto taken = take(line.root()); !taken) return taken.error();
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

  core::Result<void> take(JsonNode line) {
    if (line.find("format")) return take_header(schema::read_loosely<LogHeader>(line));
    if (!header_seen_) return not_a_log("its first line is not a header");
    if (line.find("seal") || line.find("note")) return {};
    if (!line.find("seq")) {
      problem("not a record");
      return {};
    }
    LogEntry entry = entry_of(line);
    tie_to_request(entry);
    if (auto time = core::UtcTimestamp::parse(line.find("time").text()); !time)
      problem(time.error().message);
    ++summary_.records;
    each_(std::move(entry));
    return {};
  }

  core::Result<void> take_header(const LogHeader& header) {
    if (header.format != record::kLogFormat) return not_a_log("the format is " + header.format);
    if (header.version < 1 || header.version > record::kLogVersion) {
      return not_a_log("version " + std::to_string(header.version) + " is unknown to this program");
    }
    header_seen_ = true;
    header_ = header;
    if (header.starts) asked_.clear();
    return {};
  }

  LogEntry entry_of(JsonNode line) {
    auto record = schema::read_loosely<RecordLine>(line);
    LogEntry& entry = record.entry;
    entry.agent = header_.agent;
    entry.file = path_;
    entry.line = line_;
    entry.mono_ns = std::max(entry.mono_ns, std::int64_t{0});
    entry.segment = header_.segment;
    entry.version = header_.version;
    if (entry.version < kFirstVersionWithSpeakers) entry.said_by = speaker_of(entry);
    put_body_together(record, line.find("broadcast"));
    return std::move(entry);
  }

  /// Until version 3 a message with a token that nobody checked was either refused or had a
  /// leniency.
  static std::string speaker_of(const LogEntry& entry) {
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

  void put_body_together(RecordLine& record, JsonNode is_broadcast) {
    std::string& raw = record.entry.raw;
    Bodies& bodies = record.entry.kind == "request" ? broadcasts_ : answers_;
    if (!record.raw_ref) {
      if (is_broadcast) remember(bodies, record.entry.seq, raw);
      return;
    }
    auto base = bodies.find(*record.raw_ref);
    if (base == bodies.end() || record.raw_keep.size() != 2)
      return problem("raw_ref names no earlier record of this file");
    const std::string& whole = base->second;
    const std::size_t before = std::min(record.raw_keep[0], whole.size());
    const std::size_t after = std::min(record.raw_keep[1], whole.size());
    raw = whole.substr(0, before) + raw + whole.substr(whole.size() - after);
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
  LogHeader header_;
  std::size_t line_ = 0;
  Bodies broadcasts_;
  Bodies answers_;
  std::unordered_map<std::uint64_t, std::string> asked_;  ///< conversations of open calls
};

}  // namespace

void LogHeader::describe(schema::Fields& a) {
  a.required("format", format, "version", version, "agent", agent, "segment", segment);
  a.filled("league_id", league_id);
  a.filled("league_key", league_key);
  a.filled("public_key", public_key);
  a.filled("created", created);
  a.flag("starts", starts);
}

void LogEntry::describe(schema::Fields& a) {
  a.required("seq", seq, "time", time, "mono_ns", mono_ns);
  std::string direction;
  a.required("dir", direction);
  outbound = direction == "out";
  a.required("kind", kind, "call", call, "peer", peer);
  a.filled("said_by", said_by);
  a.filled("via", via);
  a.filled("transport", transport);
  a.filled("conversation_id", conversation_id);
  a.filled("message_type", message_type);
  a.filled("match_id", match_id);
  a.unless("http_status", http_status, 0);
  a.optional("elapsed_us", elapsed_us);
  a.filled("leniencies", leniencies);
  a.filled("verdict", verdict);
  a.filled("fault", fault);
  a.filled("raw_sha256", raw_sha256);
  raw_is_cut = a.has("raw_bytes");
  a.required("raw", raw);
}

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
