#include "league_manager/files/journal_evidence.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "common/agent/runtime/log.h"
#include "common/schema/json_fields.h"
#include "league_manager/files/accepted_log.h"

namespace league::league_manager::files {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uintmax_t kLargestMatchFile = 4UL * 1024 * 1024;

/// Reads only the plain values at the beginning of a projection, and stops there.
class HeadReader final : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t value) override {
    return value < 0 || number_unsigned(static_cast<number_unsigned_t>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (key_ == "journal_entry") entry = value;
    if (key_ == "matches_completed") matches = value;
    return true;
  }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& value) override {
    if (key_ == "last_updated") at = value;
    return true;
  }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return ++depth_ == 1; }
  bool key(string_t& value) override {
    key_ = value;
    return true;
  }
  bool end_object() override { return false; }
  bool start_array(std::size_t /*size*/) override { return false; }
  bool end_array() override { return false; }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*problem*/) override {
    return false;
  }

  std::uint64_t entry = 0;
  std::uint64_t matches = 0;
  std::string at;

 private:
  std::string key_;
  int depth_ = 0;
};

/// Whether a fact from this time has to be in the journal. False for an invalid time, which no
/// manager has written.
bool counts(const std::string& time, const JournalContent& content) {
  auto at = core::UtcTimestamp::parse(time);
  return at && *at >= content.since;
}

/// What `file`, a table or a list of rounds, contains beyond the journal; nothing if it does not.
std::optional<std::string> beyond(const fs::path& file, const JournalContent& content) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  HeadReader head;
  (void)json::sax_parse(in, &head, json::input_format_t::json, false);
  if (!counts(head.at, content)) return std::nullopt;
  std::string text = file.string() + " was made from entry " + std::to_string(head.entry);
  if (head.matches > 0) text += " and has " + std::to_string(head.matches) + " results";
  if (head.entry > content.entries || head.matches > content.finished.size()) return text;
  return std::nullopt;
}

/// Whether a referee's record says that the match is finished, at a time that counts.
bool is_finished(const json& match, const JournalContent& content) {
  const json& steps = schema::field_at(match, "lifecycle");
  return schema::text_at(match, "state") == "FINISHED" && steps.is_array() && !steps.empty() &&
         counts(schema::text_at(steps.back(), "at"), content);
}

/// Whether the file of one match says so.
bool is_finished(const fs::path& file, const JournalContent& content) {
  std::error_code failed;
  if (fs::file_size(file, failed) > kLargestMatchFile || failed) return false;
  std::ifstream in(file, std::ios::binary);
  return is_finished(json::parse(in, nullptr, false), content);
}

/// Calls `add` with each match that is finished according to `file`, which a referee writes while
/// it plays matches.
void read_lines(const fs::path& file, const JournalContent& content,
                const std::function<void(const events::MatchKey&)>& add) {
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    const json match = json::parse(line, nullptr, false);
    const auto key = events::MatchKey::parse(schema::text_at(match, "match_id"));
    if (key && !content.has_finished(*key) && is_finished(match, content)) add(*key);
  }
}

std::optional<std::string> finished_matches(const fs::path& directory,
                                            const JournalContent& content) {
  std::error_code failed;
  std::set<events::MatchKey> missing;
  for (const auto& entry : fs::directory_iterator(directory, failed)) {
    if (entry.path().extension() == ".jsonl")
      read_lines(entry.path(), content, [&](const auto& match) { missing.insert(match); });
    auto match = events::MatchKey::parse(entry.path().stem().string());
    if (!match || entry.path().extension() != ".json" || content.has_finished(*match)) continue;
    if (is_finished(entry.path(), content)) missing.insert(*match);
  }
  if (missing.empty()) return std::nullopt;
  return directory.string() + " holds the result of " + missing.begin()->id().str() +
         (missing.size() > 1 ? " and " + std::to_string(missing.size() - 1) + " more" : "");
}

std::optional<std::string> marked(const fs::path& file, const JournalContent& content) {
  auto mark = journal::JournalMark::read(file);
  if (!mark || content.has_marked) return std::nullopt;
  if (mark->sequence > content.entries)
    return file.string() + " names entry " + std::to_string(mark->sequence);
  return file.string() + " names another entry " + std::to_string(mark->sequence);
}

/// The leagues to which these files can belong.
std::set<std::string> leagues_of(const EvidencePaths& places, const JournalContent& content) {
  if (!content.league_id.empty()) return {content.league_id};
  std::set<std::string> leagues{places.league_id};
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(places.data.root() / "leagues", failed))
    leagues.insert(entry.path().filename().string());
  return leagues;
}

/// Whether a manager has used this directory, and not only agents that share it.
bool is_managers(const DataDirectory& data) {
  std::error_code ignored;
  return fs::exists(data.secret_key(), ignored) || fs::exists(data.log_key(), ignored);
}

}  // namespace

std::vector<std::string> find_missing(const EvidencePaths& places, const JournalContent& content) {
  std::vector<std::string> missing;
  auto add = [&](std::optional<std::string> text) {
    if (text) missing.push_back(std::move(*text));
  };
  const fs::path& root = places.data.root();
  add(marked(places.data.journal_mark(), content));
  for (const auto& league : leagues_of(places, content)) {
    for (const char* file : {"standings.json", "rounds.json"})
      add(beyond(root / "leagues" / league / file, content));
    if (!is_managers(places.data)) continue;
    add(finished_matches(root / "matches" / league, content));
    add(accepted_beyond(places.logs, league, places.data.log_key(), content));
  }
  return missing;
}

core::Error behind_error(const fs::path& journal, const JournalContent& content,
                         const std::vector<std::string>& missing) {
  constexpr std::size_t kShown = 4;
  std::error_code ignored;
  std::string text = "journal " + journal.string();
  if (content.entries > 0) {
    text += " is behind: it ends with " + content.text();
  } else {
    text += fs::exists(journal, ignored) ? " is empty" : " is gone";
  }
  text += ", and lacks entries that other files of the league prove: ";
  for (std::size_t i = 0; i < std::min(kShown, missing.size()); ++i)
    text += (i > 0 ? "; " : "") + missing[i];
  if (missing.size() > kShown) text += "; and more";
  text +=
      ". Nothing was changed. Restore a backup (docs/recovery.md, \"Back up and restore\"), or "
      "add "
      "--new to archive the league and begin another";
  return {core::ErrorCode::kInternalError, text, ""};
}

core::Result<void> check_empty_journal(const EvidencePaths& places) {
  std::error_code ignored;
  auto file = places.data.journal();
  if (fs::exists(file, ignored) && fs::file_size(file, ignored) > 0) return {};
  auto missing = find_missing(places, {});
  return missing.empty() ? core::Result<void>() : behind_error(file, {}, missing);
}

core::Result<void> check_journal(const journal::Journal& journal, const EvidencePaths& places,
                                 bool has_followed) {
  auto content = read_content(journal, journal::JournalMark::read(places.data.journal_mark()));
  if (!content) return content.error();
  auto missing = find_missing(places, *content);
  if (missing.empty()) return {};
  auto behind = behind_error(places.data.journal(), *content, missing);
  if (!has_followed) return behind;
  agent::runtime::log::warn("the league has gone on without entries that files here are of: {}",
                            behind.message);
  return {};
}

}  // namespace league::league_manager::files
