#include "league_manager/files/accepted_log.h"

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "common/audit/log/log_file.h"
#include "common/audit/log/log_reader.h"
#include "common/audit/log/packed_log.h"
#include "common/core/crypto.h"
#include "common/core/private_file.h"
#include "common/core/signing_key.h"
#include "common/schema/fields.h"
#include "common/schema/json_fields.h"

namespace league::league_manager::files {
namespace {

namespace fs = std::filesystem;
using audit::log::LogEntry;
using nlohmann::json;

constexpr std::uintmax_t kTail = 64UL * 1024 * 1024;

/// The content of a log segment, decompressed if necessary; empty if the file is missing.
std::unique_ptr<std::istream> open_log(const fs::path& segment) {
  if (audit::log::present_path(segment) == segment)
    return std::make_unique<std::ifstream>(segment, std::ios::binary);
  return std::make_unique<std::istringstream>(audit::log::read_log_file(segment).value_or(""));
}

std::uintmax_t size_of(std::istream& in) {
  in.seekg(0, std::ios::end);
  const auto size = in.tellg();
  in.clear();
  in.seekg(0);
  return size < 0 ? 0 : static_cast<std::uintmax_t>(size);
}

/// The public key of the key in `file`; empty if there is none. Never creates a key.
std::string public_key_in(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  core::CryptoRandom random;
  auto key = core::SigningKey::open(file, random);
  return key ? key->public_key() : std::string();
}

/// The content of a raw answer: the result of a JSON-RPC answer or of a tool call.
json answer_in(const std::string& raw) {
  const json frame = json::parse(raw, nullptr, false);
  const json& result = schema::field_at(frame, "result");
  if (const json& inner = schema::field_at(result, "structuredContent"); !inner.is_null())
    return inner;
  const json& parts = schema::field_at(result, "content");
  if (parts.is_null()) return result;
  return parts.is_array() && !parts.empty()
             ? json::parse(schema::text_at(parts[0], "text"), nullptr, false)
             : json();
}

/// A key that an answer shares with its request: the number of the call; in older logs, which lack
/// it, the conversation and the peer.
std::string exchange_of(const LogEntry& entry) {
  return entry.call != 0 ? std::to_string(entry.call) : entry.conversation_id + '\n' + entry.peer;
}

/// Reads one file of the log.
class FileReading {
 public:
  FileReading(const std::string& public_key, const JournalContent& content)
      : public_key_(public_key), content_(content) {}

  /// Reads from the first complete line after byte `from`.
  void read(std::istream& in, std::uintmax_t from) {
    std::string line;
    if (!std::getline(in, line) || !is_ours(line)) return;
    if (from > line.size()) {
      in.seekg(static_cast<std::streamoff>(from));
      std::getline(in, line);
    }
    while (std::getline(in, line)) {
      if (!in.eof()) take(line);
    }
  }
  [[nodiscard]] bool has_found_any() const { return has_found_any_; }
  [[nodiscard]] const std::set<std::string>& missing() const { return missing_; }

 private:
  [[nodiscard]] bool is_ours(const std::string& text) const {
    const auto header =
        schema::read_loosely<audit::log::LogHeader>(json::parse(text, nullptr, false));
    return !header.format.empty() &&
           (header.public_key.empty() || header.public_key == public_key_);
  }

  void take(const std::string& text) {
    bool is_report = text.find("MATCH_RESULT_REPORT") != std::string::npos;
    bool is_registration = text.find("_REGISTER_RESPONSE") != std::string::npos;
    if (!is_report && !is_registration && asked_.empty()) return;
    if (!is_report && text.find(R"("kind":"reply")") == std::string::npos) return;
    const auto entry = schema::read_loosely<LogEntry>(json::parse(text, nullptr, false));
    if (entry.time < content_.since) return;  // which a line without a time is, too
    if (entry.outbound && entry.kind == "reply") return take_answer(entry);
    const bool is_asking = !entry.outbound && entry.kind == "request" && entry.verdict.empty();
    if (is_asking && entry.message_type == "MATCH_RESULT_REPORT") asked_.insert(exchange_of(entry));
  }

  void take_answer(const LogEntry& entry) {
    bool is_player = entry.message_type == "LEAGUE_REGISTER_RESPONSE";
    bool is_registration = is_player || entry.message_type == "REFEREE_REGISTER_RESPONSE";
    bool is_asked = asked_.erase(exchange_of(entry)) > 0;
    if ((!is_registration && !is_asked) || !entry.verdict.empty()) return;
    json answer = answer_in(entry.raw);
    if (!answer.is_object()) return;
    std::string status = schema::text_at(answer, "status");
    if (is_registration) {
      auto agent =
          events::AgentRef::parse(schema::text_at(answer, is_player ? "player_id" : "referee_id"));
      if (agent && status == "ACCEPTED") find(content_.has(*agent), agent->id());
      return;
    }
    auto match = events::MatchKey::parse(entry.match_id);
    if (match && status == "ok") find(content_.has_finished(*match), match->id().str());
  }

  void find(bool is_there, const std::string& what) {
    has_found_any_ = true;
    if (!is_there) missing_.insert(what);
  }

  const std::string& public_key_;
  const JournalContent& content_;
  std::set<std::string> asked_;  ///< reports (by exchange_of) without an answer so far
  bool has_found_any_ = false;
  std::set<std::string> missing_;
};

}  // namespace

std::optional<std::string> accepted_beyond(const fs::path& logs, const std::string& league_id,
                                           const fs::path& log_key, const JournalContent& content) {
  auto log = audit::log::league_log_path(logs, league_id);
  if (!log) return std::nullopt;
  std::string public_key = public_key_in(log_key);
  if (public_key.empty()) return std::nullopt;
  FileReading reading(public_key, content);
  std::uintmax_t left = kTail;
  int segment = audit::log::last_segment(*log);
  for (fs::path file = *log;; file = audit::log::segment_path(*log, segment--)) {
    auto in = open_log(file);
    const std::uintmax_t size = size_of(*in);
    reading.read(*in, size > left ? size - left : 0);
    if (!reading.has_found_any() && size > left) {
      in->clear();
      in->seekg(0);
      reading.read(*in, 0);
    }
    left -= std::min(left, size);
    if (segment == 0 || (left == 0 && reading.has_found_any())) break;
  }
  if (reading.missing().empty()) return std::nullopt;
  const auto& missing = reading.missing();
  return log->string() + " says that " + *missing.begin() +
         (missing.size() > 1 ? " and " + std::to_string(missing.size() - 1) + " more were"
                             : " was") +
         " accepted";
}

}  // namespace league::league_manager::files
