#include "tools/audit/export/export_league.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "common/rpc/json_text.h"
#include "tools/audit/export/export_files.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;
namespace lm = league_manager;

fs::path default_out(const ExportOptions& options, const ExportSource& source) {
  return options.format == "json" ? source.data : options.directory / "export";
}

bool needs_figures(const std::string& format) {
  return format == "html" || format == "grades" || format == "gradescope";
}

std::vector<OutputFile> files_of(ExportedLeague& league, const std::vector<PlayerFigures>& players,
                                 const lm::view::MatchTimelines& timelines,
                                 const GradeColumns& columns, const std::string& format,
                                 const fs::path& out) {
  if (format == "csv") return csv_files(league.book, out);
  if (format == "html") return site_files(league, players, timelines, out);
  if (format == "grades") return grades_files(league.book, players, columns, out);
  if (format == "gradescope") return gradescope_files(league.book, players, out);
  return layout_files(league, out);
}

/// Reads only the journal, which is enough for tables.
core::Result<ExportedLeague> read_tables(const ExportSource& source) {
  auto book = league_manager::files::read_book(source.data);
  if (!book) return book.error();
  ExportedLeague league;
  league.book = std::move(*book);
  return league;
}

/// Writes the manager's files again if its journal has grown: a running manager writes them, too,
/// and this export must not leave an older state.
core::Result<void> catch_up(const ExportSource& source, const fs::path& out,
                            std::uint64_t written_entries) {
  constexpr int kMostRounds = 5;
  for (int i = 0; i < kMostRounds; ++i) {
    auto book = league_manager::files::read_book(source.data);
    if (!book) return book.error();
    if (book->entries() == written_entries) return {};
    written_entries = book->entries();
    if (auto written = write_output(manager_files(*book, out), {}); !written) return written;
  }
  return {};
}

void say(const ExportOptions& options, const ExportedLeague& league, const fs::path& target,
         std::size_t files, std::ostream& out, std::ostream& err) {
  const std::string& id = league.book.league().settings().league_id.str();
  if (options.json) {
    const nlohmann::json summary = {{"league_id", id},
                                    {"format", options.format},
                                    {"out", target.string()},
                                    {"files", files},
                                    {"matches", league.matches.size()},
                                    {"histories", league.histories.size()},
                                    {"journal_entries", league.book.entries()},
                                    {"notes", league.notes}};
    out << rpc::to_json_text(summary) << '\n';
    return;
  }
  for (const auto& note : league.notes) err << "note: " << note << '\n';
  out << "league " << id << ": " << files << (files == 1 ? " file" : " files") << " in "
      << target.string() << '\n';
}

}  // namespace

int export_league(const ExportOptions& options, std::ostream& out, std::ostream& err) {
  auto fail = [&err](const core::Error& error) {
    err << "error: " << error.message << '\n';
    return 2;
  };
  auto source = find_export_source(options.directory, options.logs);
  if (!source) return fail(source.error());
  const bool needs_matches = options.format == "json" || options.format == "html";
  auto league = needs_matches ? read_league(*source) : read_tables(*source);
  if (!league) return fail(league.error());
  auto timelines = needs_figures(options.format)
                       ? read_timelines(source->data)
                       : core::Result<lm::view::MatchTimelines>(lm::view::MatchTimelines(0));
  if (!timelines) return fail(timelines.error());
  std::vector<PlayerFigures> players;
  if (needs_figures(options.format))
    players = read_figures(source->logs, league->book, *timelines, league->notes);
  auto columns = read_grade_columns(options.grades);
  if (!columns) return fail(columns.error());
  for (auto& note : unmatched(league->book, players, *columns))
    league->notes.push_back(std::move(note));
  fs::path target = options.out.empty() ? default_out(options, *source) : options.out;
  auto files = files_of(*league, players, *timelines, *columns, options.format, target);
  auto written = write_output(files, {.may_overwrite = options.may_overwrite});
  if (!written) return fail(written.error());
  if (options.format == "json") {
    if (auto caught = catch_up(*source, target, league->book.entries()); !caught)
      return fail(caught.error());
  }
  say(options, *league, target, files.size(), out, err);
  return 0;
}

}  // namespace league::tools::auditor
