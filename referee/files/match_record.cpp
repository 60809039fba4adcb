#include "referee/files/match_record.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/audit/log/log_file.h"
#include "common/rpc/json_object.h"

namespace league::referee::files {
namespace {

using rpc::JsonObject;

constexpr std::string_view kVersion = "1.0.0";
constexpr std::string_view kFinished = "FINISHED";
/// The maximum length of a player's text in the record.
constexpr std::size_t kLongestError = 500;

void add_line(std::string& out, const TranscriptLine& line, bool is_finished) {
  JsonObject object(out);
  object.time("at", line.at)
      .text("from", line.from)
      .text("to", line.to)
      .text("message_type", line.message_type);
  if (line.accept) object.flag("accept", *line.accept);
  if (is_finished) {
    const auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) object.text(name, value);
    };
    add("choice_commitment", line.choice_commitment);
    add("parity_choice", line.parity_choice);
    add("choice_nonce", line.choice_nonce);
  }
  if (!line.error_code.empty()) object.text("error_code", line.error_code);
  if (!line.error.empty())
    object.text("error", std::string_view(line.error).substr(0, kLongestError));
  object.end();
}

template <typename List, typename Add>
void add_list(std::string& out, const List& list, Add add) {
  const char* separator = "[\n ";
  for (const auto& one : list) {
    out += separator;
    separator = ",\n ";
    add(one);
  }
  out += list.empty() ? "[]" : "]";
}

}  // namespace

MatchRecord::MatchRecord(MatchRecordHead head, std::string_view made_by)
    : head_(std::move(head)), made_by_(made_by) {
  constexpr std::size_t kUsualLength = 12;
  transcript_.reserve(kUsualLength);
}

bool MatchRecord::enter(std::string_view state, core::UtcTimestamp at) {
  std::lock_guard lock(mutex_);
  if (!lifecycle_.empty() && lifecycle_.back().state == state) return false;
  lifecycle_.push_back({std::string(state), at});
  return true;
}

void MatchRecord::add(TranscriptLine line) {
  std::lock_guard lock(mutex_);
  transcript_.push_back(std::move(line));
}

void MatchRecord::set_result(std::string json) {
  std::lock_guard lock(mutex_);
  result_ = std::move(json);
}

bool MatchRecord::has_transcript() const {
  std::lock_guard lock(mutex_);
  return !transcript_.empty();
}

std::vector<TranscriptLine> MatchRecord::transcript() const {
  std::lock_guard lock(mutex_);
  return transcript_;
}

void MatchRecord::sort_transcript() {
  std::lock_guard lock(mutex_);
  std::ranges::stable_sort(transcript_, {}, &TranscriptLine::at);
}

std::string MatchRecord::json() const {
  std::lock_guard lock(mutex_);
  const bool is_finished = !lifecycle_.empty() && lifecycle_.back().state == kFinished;
  std::string out;
  JsonObject object(out, ",\n");
  object.text("schema_version", kVersion)
      .text("league_id", head_.league_id.str())
      .optional_text("league_key", head_.league_key)
      .number("round_id", head_.round_id)
      .text("match_id", head_.match_id.str())
      .text("game_type", head_.game_type)
      .number("attempt", head_.attempt)
      .optional_text("referee_id", head_.referee_id)
      .text("player_A_id", head_.player_a_id)
      .text("player_B_id", head_.player_b_id)
      .optional_text("draw_commitment", head_.draw_commitment)
      .text("made_by", made_by_)
      .optional_text("state", lifecycle_.empty() ? "" : lifecycle_.back().state)
      .raw("result", is_finished ? result_ : "null");
  object.name("lifecycle");
  add_list(out, lifecycle_, [&](const Stage& stage) {
    JsonObject(out).text("state", stage.state).time("at", stage.at).end();
  });
  object.name("transcript");
  add_list(out, transcript_, [&](const TranscriptLine& line) { add_line(out, line, is_finished); });
  object.end();
  out += '\n';
  return out;
}

core::Result<std::filesystem::path> match_file(const std::filesystem::path& data,
                                               const core::LeagueId& league,
                                               const core::MatchId& match) {
  if (!audit::log::is_safe_name(league.str()) || !audit::log::is_safe_name(match.str())) {
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "an id that names a file has 1 to 128 letters, digits, `_` or `-`", ""};
  }
  return data / "matches" / league.str() / (match.str() + ".json");
}

core::Result<std::filesystem::path> match_lines_file(const std::filesystem::path& data,
                                                     const MatchRecordHead& head) {
  auto file = match_file(data, head.league_id, head.match_id);
  if (!file) return file;
  // A referee of a third-party manager may have no id.
  const std::string& referee = head.referee_id;
  return file->parent_path() /
         ((audit::log::is_safe_name(referee) ? referee : "referee") + ".jsonl");
}

bool has_later_attempt(const std::filesystem::path& file, int attempt) {
  std::ifstream in(file);
  if (!in) return false;
  auto json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object()) return false;
  auto found = json.find("attempt");
  return found != json.end() && found->is_number_integer() && *found > attempt;
}

}  // namespace league::referee::files
