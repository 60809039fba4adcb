#include "tools/league/verify_projections.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/journal/sqlite_journal.h"
#include "league_manager/event_codec.h"
#include "league_manager/league_files.h"
#include "tools/league/json_fields.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;
namespace lm = league_manager;
using nlohmann::json;

/// One file, and what it should be.
struct Projection {
  fs::path file;
  const char* rule;
  const lm::LeagueBook::Stamp& (lm::LeagueBook::*stamp)() const;
  core::Result<void> (*write)(const lm::LeagueBook&, const lm::FileSink&);
  std::string content = {};
  std::uint64_t entry = 0;  ///< of the journal, after which it was made
  std::optional<std::string> expected = {};
};

std::string whole_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Projection> projections_in(const fs::path& data) {
  std::vector<Projection> found;
  std::error_code error;
  for (const auto& league : fs::directory_iterator(data / "leagues", error)) {
    found.push_back({league.path() / "standings.json", "projection.standings",
                     &lm::LeagueBook::table_stamp, lm::write_standings});
    found.push_back({league.path() / "rounds.json", "projection.rounds",
                     &lm::LeagueBook::rounds_stamp, lm::write_rounds});
  }
  std::erase_if(found, [](const Projection& one) { return !fs::exists(one.file); });
  std::ranges::sort(found, {}, &Projection::file);
  return found;
}

std::string written(const lm::LeagueBook& book, const Projection& projection) {
  std::string text;
  auto done = projection.write(book, [&text](std::string_view part) {
    text += part;
    return core::Result<void>();
  });
  return done ? text : std::string();
}

/// Replays the journal and writes each file anew at the moment from which it is.
core::Result<void> replay(const fs::path& journal, std::vector<Projection>& projections) {
  lm::LeagueBook book;
  return journal::read_journal(journal, [&](const journal::Entry& entry) {
    auto event = lm::from_record(entry.record);
    if (!event) return core::Result<void>(event.error());
    if (auto applied = book.apply(*event); !applied) return applied;
    for (Projection& one : projections) {
      if (!one.expected && (book.*one.stamp)().entry == one.entry)
        one.expected = written(book, one);
    }
    return core::Result<void>();
  });
}

/// The number of the first line in which two texts differ.
std::size_t first_other_line(const std::string& a, const std::string& b) {
  auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(std::count(a.begin(), at, '\n')) + 1;
}

void compare_with_message(const Projection& projection, const json& file, const json& rows,
                          std::vector<audit::LogFault>& faults) {
  if (!rows.is_array() || text_at(file, "status") != "COMPLETED" || !file.contains("standings") ||
      file["standings"] == rows)
    return;
  faults.push_back({projection.file.string(), 0, projection.rule,
                    "its rows are not those of the final table that everybody was told"});
}

}  // namespace

void check_projections(const fs::path& data, const json& final_standings,
                       std::vector<audit::LogFault>& faults) {
  auto projections = projections_in(data);
  for (Projection& one : projections) {
    one.content = whole_file(one.file);
    json file = json::parse(one.content, nullptr, false);
    if (!file.is_object() || !file.value("journal_entry", json()).is_number_unsigned()) {
      faults.push_back({one.file.string(), 0, one.rule, "it is no such file, or damaged"});
      continue;
    }
    one.entry = file["journal_entry"].get<std::uint64_t>();
    compare_with_message(one, file, final_standings, faults);
  }
  fs::path journal = data / "journal" / "journal.sqlite";
  if (!fs::exists(journal) || projections.empty()) return;
  if (!replay(journal, projections)) return;  // journal.damaged says it
  for (const Projection& one : projections) {
    if (one.entry == 0) continue;
    if (!one.expected) {
      faults.push_back({one.file.string(), 0, one.rule,
                        "it is of entry " + std::to_string(one.entry) +
                            " of the journal, after which nothing in it changes"});
    } else if (*one.expected != one.content) {
      faults.push_back({one.file.string(), first_other_line(one.content, *one.expected), one.rule,
                        "it does not follow from the journal"});
    }
  }
}

}  // namespace league::tools
