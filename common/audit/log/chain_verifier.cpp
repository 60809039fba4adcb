#include "common/audit/log/chain_verifier.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "common/audit/log/chain_lines.h"
#include "common/audit/log/log_file.h"
#include "common/audit/log/log_lines.h"
#include "common/audit/log/packed_log.h"
#include "common/audit/log/seal_watch.h"
#include "common/audit/record/record_writer.h"
#include "common/core/signing_key.h"
#include "common/schema/json_fields.h"

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFirstVersionWithNotes = 3;
constexpr std::size_t kMostFaultsOfAFile = 10'000;
constexpr std::uintmax_t kLongestSealFile = 64 * 1024;

}  // namespace

/// Verifies one log from its first line to its last.
class ChainVerifier {
 public:
  ChainVerifier(const LogSegments& log, const std::function<void(const RecordLine&)>& each)
      : log_(log), each_(each) {}

  VerifiedChain run() {
    int expected = 0;
    for (const fs::path& file : log_.files) {
      begin_file(file);
      check_name(file, ++expected);
      auto lines = LogLines::open(file);
      if (!lines) {
        fault("file.unreadable",
              "it cannot be read: check its permissions; a compressed one may be damaged");
        watch_.on_seal();
        continue;
      }
      read(*lines);
    }
    check_kept_seal();
    std::sort(chain_.hashes_.begin(), chain_.hashes_.end());
    chain_.agent = agent_;
    chain_.league = league_;
    chain_.last_seq = seq_;
    chain_.last_file = file_;
    chain_.last_line = line_;
    chain_.closed = closed_;
    if (!chain_.processes.empty()) chain_.processes.back().closed = closed_;
    chain_.complete = closed_ && !was_killed_;
    return std::move(chain_);
  }

 private:
  void fault(std::string rule, std::string text) {
    chain_.faults.push_back({file_, line_, std::move(rule), std::move(text)});
  }

  void begin_file(const fs::path& file) {
    file_ = file.string();
    line_ = 0;
    first_in_file_ = true;
  }

  void check_name(const fs::path& file, int expected) {
    const fs::path segment = segment_path(log_.path, expected);
    if (file != log_.path && file != segment && file != packed_path(segment)) {
      fault("segment.missing", "segment " + std::to_string(expected) + " should come before it");
    }
    expected_segment_ = static_cast<std::uint64_t>(expected);
  }

  void read(LogLines& lines) {
    chain_.torn = false;
    is_torn_ = false;
    const std::size_t faults_before = chain_.faults.size();
    std::string_view line;
    auto next = lines.next(line);
    if (next == LogLines::Next::kEnd) return torn({});
    for (; next == LogLines::Next::kLine; next = lines.next(line)) {
      ++line_;
      take(line);
      // Otherwise a file of line feeds would fill the memory with faults.
      if (chain_.faults.size() - faults_before < kMostFaultsOfAFile) continue;
      return fault("file.unreadable", "there are too many faults; it was not read any further");
    }
    if (next == LogLines::Next::kEnd) return;
    ++line_;
    if (next == LogLines::Next::kPart) return torn(line);
    watch_.on_seal();
    fault("file.unreadable", next == LogLines::Next::kTooLong
                                 ? "it was not read any further: the line is too long"
                                 : "it cannot be read any further: check the disk");
  }

  /// A program that is killed, or whose disk is full, may leave a part of a line, even all of it
  /// but the line feed: such a part does not count, and the seal shows whether it was sealed. After
  /// the seal of a program that ended in order there can be no such part.
  void torn(std::string_view rest) {
    chain_.torn = true;
    if (first_in_file_) return;  // killed while it began the file: nothing is taken from the others
    is_torn_ = true;
    if (closed_ && !rest.empty()) fault("line.after_end", "a part of a line follows the last seal");
  }

  void take(std::string_view line) {
    auto parts = record::chained_line(line);
    if (!parts) {
      fault("line.form", "it does not end with prev and hash");
      watch_.on_seal();
      computed_.clear();
      broken_ = true;
      return;
    }
    if (closed_ && !first_in_file_) fault("line.after_end", "a line follows the last seal");
    const bool was_closed = std::exchange(closed_, false);
    check_hashes(*parts);
    bool header = line.starts_with("{\"format\":");
    if (first_in_file_ && !header)
      fault("header.missing", "the first line of the file is not a header");
    ++chain_.unsealed;
    if (line.starts_with("{\"seq\":")) {
      take_record(line);
    } else if (header) {
      take_header(line, was_closed);
    } else if (line.starts_with("{\"seal\":")) {
      take_seal(line, *parts);
    } else if (version_ >= kFirstVersionWithNotes && line.starts_with("{\"note\":")) {
      take_note(line);
    } else {
      watch_.on_seal();
      fault("line.kind", "it is not a header, a record, a seal or a note");
    }
    first_in_file_ = false;
    chain_.hashes_.push_back(half_of(parts->hash));
  }

  void check_hashes(const record::ChainedLine& parts) {
    std::string computed;
    core::append_hex(sha256_(parts.covered), computed);
    if (computed != parts.hash)
      fault("chain.hash", "its hash is not that of the line: the line was changed");
    bool follows = parts.prev == stated_ || (!computed_.empty() && parts.prev == computed_);
    restarts_ = first_in_file_ && parts.prev == record::kNoLine && stated_ != record::kNoLine;
    if (!follows && !restarts_ && !broken_)
      fault("chain.prev",
            "it does not follow the line before it: lines were removed, added or reordered");
    broken_ = false;
    before_file_ = first_in_file_ ? stated_ : before_file_;
    stated_ = parts.hash;
    computed_ = std::move(computed);
  }

  void take_record(std::string_view line) {
    constexpr std::size_t kSeq = 7;
    std::uint64_t seq = 0;
    std::from_chars(line.data() + kSeq, line.data() + line.size(), seq);
    if (seq != seq_ + 1) {
      fault("seq.gap", "record " + std::to_string(seq) + " follows record " + std::to_string(seq_));
    }
    seq_ = seq;
    ++chain_.records;
    if (auto gap = watch_.on_record(seq, line))
      chain_.seal_gaps.push_back({file_, line_, "seal.absent", std::move(*gap)});
    if (each_) each_({file_, line_, seq, agent_, line, league_, current_process(), version_});
  }

  void take_note(std::string_view line) {
    auto note = read_note(line);
    if (!note)
      return fault("line.kind", "it is not a note: a key is missing or has the wrong type");
    if (note->delay) return watch_.on_delay(note->delay->first, note->delay->second);
    chain_.notes.push_back({std::move(note->name), std::move(note->content), file_, line_, agent_,
                            league_, current_process()});
  }

  void take_header(std::string_view line, bool was_closed) {
    json header = json::parse(line, nullptr, false);
    const auto version = number_of(header, "version").value_or(0);
    if (schema::text_at(header, "format") != record::kLogFormat ||
        version < record::kFirstChainedVersion || version > record::kLogVersion) {
      return fault("header.form", "it is not a header of format version " +
                                      std::to_string(record::kFirstChainedVersion) + " or " +
                                      std::to_string(record::kLogVersion));
    }
    if (!has_right_types(header)) return fault("header.form", "one of its keys has the wrong type");
    version_ = static_cast<int>(version);
    if (chain_.version == 0 || version_ < chain_.version) chain_.version = version_;
    agent_ = schema::text_at(header, "agent");
    chain_.names.insert(agent_);
    league_ = {schema::text_at(header, "league_id"), schema::text_at(header, "league_key")};
    key_ = schema::text_at(header, "public_key");
    if (!key_.empty()) chain_.public_keys.insert(key_);
    check_continuation(header);
    auto first = number_of(header, "first_seq");
    bool known = header.contains("continues") || restarts_;
    if (!first || *first == 0) return fault("header.form", "first_seq is missing");
    if (*first != seq_ + 1 && !known) {
      fault("seq.gap",
            "first_seq is " + std::to_string(*first) + " after record " + std::to_string(seq_));
    }
    if (header.contains("continues") && *first < older_seq_ + 1)
      fault("seq.gap", "first_seq does not come after the older log's last record");
    if (first_in_file_) older_seq_ = seq_;
    seq_ = *first - 1;
    const bool is_first = std::exchange(is_first_header_, false);
    const bool starts = schema::field_at(header, "starts") == true;
    if (starts) names_starts_ = true;
    // Logs of 0.1.0 do not say where a process begins, but each began a file.
    watch_.on_header(number_of(header, "seal_interval_ms"),
                     starts || is_first || (first_in_file_ && !names_starts_));
    if (!starts && !is_first) return;
    if (!is_first) chain_.processes.back().closed = was_closed;
    if (!is_first && !was_closed) was_killed_ = true;
    chain_.processes.push_back({schema::text_at(header, "created"), file_, line_});
  }

  [[nodiscard]] std::size_t current_process() const {
    return chain_.processes.empty() ? 0 : chain_.processes.size() - 1;
  }

  /// A file that began under a temporary name starts a chain of its own, which a second header has
  /// to tie to the older one.
  void check_continuation(const json& header) {
    if (first_in_file_) untied_ = restarts_;
    if (header.contains("continues")) {
      if (schema::text_at(header, "continues") != before_file_)
        fault("chain.continues", "it continues a different log than the segment before");
      untied_ = false;
    } else if (!first_in_file_ && untied_) {
      fault("chain.continues", "it does not say which line of the older log it follows");
      untied_ = false;
    }
    if (!first_in_file_ || !restarts_) {
      auto segment = number_of(header, "segment");
      if (segment != expected_segment_ && file_ != log_.path.string())
        fault("segment.number", "the header is that of another segment");
    }
  }

  void take_seal(std::string_view line, const record::ChainedLine& parts) {
    json object = json::parse(line, nullptr, false);
    auto seal = seal_of(object, std::string(parts.prev));
    if (!seal) return fault("seal.form", "it is not a seal");
    chain_.unsealed = 0;
    watch_.on_seal();
    seals_ = true;
    closed_ = seal->closed;
    if (closed_) closing_heads_.insert(seal->head);
    if (seal->seq != seq_) fault("seal.seq", "it does not name the last record");
    if (!is_signed(*seal, key_))
      return fault("seal.signature", "its signature is not that of " + agent_ + "'s key");
    for (; sealed_notes_ < chain_.notes.size(); ++sealed_notes_)
      chain_.notes[sealed_notes_].is_sealed = true;
  }

  [[nodiscard]] std::optional<record::Seal> seal_of(const json& object, std::string head) const {
    auto seq = number_of(object, "seal");
    auto time = core::UtcTimestamp::parse(schema::text_at(object, "time"));
    if (!seq || !time || !has_flag(object, "closed")) return std::nullopt;
    return record::Seal{.agent = agent_,
                        .seq = *seq,
                        .time = *time,
                        .closed = schema::field_at(object, "closed") == true,
                        .head = std::move(head),
                        .signature = schema::text_at(object, "signature")};
  }

  /// The seal beside the log: the log must reach as far as it says.
  void check_kept_seal() {
    std::string end_file = file_;
    std::size_t end_line = line_;
    fs::path path = seal_path(log_.path);
    std::error_code error;
    // Ours has a few hundred bytes.
    const bool is_huge = fs::file_size(path, error) > kLongestSealFile && !error;
    auto content = is_huge ? std::optional<std::string>("") : read_log_file(path);
    if (!content) {
      if (seals_) {
        begin_file(path);
        fault("seal.missing", "the log has seals, but its newest seal file is missing");
        file_ = end_file;
        line_ = end_line;
      }
      return;
    }
    begin_file(path);
    line_ = 1;
    json object = json::parse(*content, nullptr, false);
    auto seal = seal_of(object, schema::text_at(object, "head"));
    const std::string& key = schema::text_at(object, "public_key");
    if (seal) seal->agent = schema::text_at(object, "agent");
    if (!seal || *content != record::seal_file_text(*seal, key)) {
      fault("seal.form", "it is not a seal");
    } else if (!is_signed(*seal, key)) {
      fault("seal.signature", "its signature is not that of the key that it names");
    } else if (!chain_.public_keys.empty() && !chain_.public_keys.contains(key)) {
      fault("seal.key", "it was made with a key that the log does not name");
    } else {
      file_ = end_file;
      line_ = end_line;
      check_end(*seal, path);
    }
    file_ = end_file;
    line_ = end_line;
  }

  void check_end(const record::Seal& seal, const fs::path& path) {
    if (log_.files.empty()) {
      file_ = log_.path.string();
      line_ = 0;
      return fault("log.missing", path.string() + " belongs to a log that is missing");
    }
    bool found = std::find(chain_.hashes_.begin(), chain_.hashes_.end(), half_of(seal.head)) !=
                 chain_.hashes_.end();
    if (!found) {
      fault("log.truncated", "the log ends here after record " + std::to_string(seq_) +
                                 "; its sealed line after record " + std::to_string(seal.seq) +
                                 " is missing");
    } else if (seal.closed && !closing_heads_.contains(seal.head)) {
      fault("log.truncated", "the log was closed properly, but its last seal is missing");
    } else if (seal.closed && closed_ && is_torn_) {
      fault("log.truncated", "the log was closed properly, but its last line is cut off");
    }
  }

  const LogSegments& log_;
  const std::function<void(const RecordLine&)>& each_;
  VerifiedChain chain_;
  core::Sha256 sha256_;
  std::string file_;
  std::size_t line_ = 0;
  std::string agent_;
  LeagueIdentity league_;
  std::string key_;
  std::string stated_{record::kNoLine};  ///< the hash that the previous line claims to have
  std::string computed_;  ///< the hash that it really has
  std::string before_file_{record::kNoLine};  ///< of the last line of the segment before
  std::uint64_t seq_ = 0;
  std::uint64_t older_seq_ = 0;
  std::uint64_t expected_segment_ = 0;
  bool first_in_file_ = true;
  bool restarts_ = false;  ///< the file starts a chain of its own
  bool untied_ = false;  ///< and has not said whose it continues
  bool broken_ = false;  ///< the previous line was not a valid line of a chain
  bool seals_ = false;
  bool closed_ = false;
  bool is_torn_ = false;  ///< the file that was read last ends with a part of a line
  /// The seals of processes that ended in order. A later process may have been killed before it
  /// could write its own first seal file.
  std::set<std::string> closing_heads_;
  bool is_first_header_ = true;  ///< no header has come yet
  bool was_killed_ = false;  ///< a process before the last one
  int version_ = 0;  ///< of the last header
  SealWatch watch_;
  bool names_starts_ = false;  ///< a header has said where a process begins
  std::size_t sealed_notes_ = 0;  ///< so many of the notes are under a seal
};

bool VerifiedChain::contains(const record::LogHead& head) const {
  return std::binary_search(hashes_.begin(), hashes_.end(), half_of(head.hash));
}

VerifiedChain verify_chain(const LogSegments& log,
                           const std::function<void(const RecordLine&)>& each) {
  return ChainVerifier(log, each).run();
}

}  // namespace league::audit::log
