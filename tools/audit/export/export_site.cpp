#include <algorithm>

#include "common/core/text.h"
#include "common/rpc/json_text.h"
#include "league_manager/view/json_rows.h"
#include "league_manager/view/public_text.h"
#include "league_manager/view/spectator_view.h"
#include "league_manager/view/web_files.h"
#include "tools/audit/export/export_files.h"

namespace league::tools::auditor {
namespace {

namespace lm = league_manager;
using lm::view::Rows;

std::string html_text(std::string_view text) { return core::escape_markup(core::safe_text(text)); }

std::string json_of(std::string_view text) {
  std::string out;
  rpc::append_json_string(out, text);
  return out;
}

/// Replaces what is in `page` from `begin` to `end`, both included.
void replace(std::string& page, std::string_view begin, std::string_view end,
             const std::string& with) {
  const auto from = page.find(begin);
  const auto to = page.find(end, from);
  page.replace(from, to + end.size() - from, with);
}

/// For readers without JavaScript.
std::string plain_table(const lm::files::LeagueBook& book, const lm::table::Figures& figures) {
  std::string out = "<noscript><section class=\"card\"><h2>" +
                    html_text(book.league().settings().league_id.str()) +
                    "</h2>\n<p>With JavaScript this page shows every match; without it, the table "
                    "of " +
                    book.table_change().at.to_wire() + ".</p>\n<table><thead><tr>";
  for (const char* heading : {"Rank", "Name", "Points", "Played", "Won", "Drawn", "Lost"})
    out += std::string("<th>") + heading + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const lm::RankedPlayer& row : book.table()) {
    const lm::Tally& tally = row.tally;
    out += "<tr><td>" + std::to_string(row.rank) + "</td><td>" +
           html_text(agent_of(book, row.player).profile.display_name) + "</td>";
    for (const int number : {tally.points, tally.played, tally.wins, tally.draws, tally.losses})
      out += "<td>" + std::to_string(number) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n<p>" + lm::table::luck_sentence(figures.luck) +
         "</p></section></noscript>";
}

std::string page_mark(const lm::files::LeagueBook& book) {
  return "<meta name=\"generator\" content=\"league export of " +
         html_text(book.league().settings().league_id.str()) + "\">\n";
}

/// The live page, which finds its data in snapshot.js instead of asking a manager.
std::string index_page(const lm::files::LeagueBook& book, const lm::table::Figures& figures,
                       std::string page) {
  // 'self' does not mean the files beside this one when it is opened from a disk.
  const std::string script = "<script defer src=\"page.js\"></script>";
  replace(page, script, "",
          page_mark(book) +
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self' file:; "
              "base-uri 'none'; form-action 'none'\">\n"
              "<script defer src=\"snapshot.js\"></script>\n" +
              script);
  replace(page, "<noscript>", "</noscript>", plain_table(book, figures));
  return page;
}

/// Rows of time, from, to, message, error code, error.
std::string transcript_of(const referee::files::MatchRecord& record) {
  constexpr std::size_t kLongestError = 500;
  std::string out;
  Rows rows(out);
  for (const auto& line : record.transcript()) {
    Rows(rows.next())
        .number(lm::view::milliseconds_of(line.at))
        .text(line.from)
        .text(line.to)
        .text(line.message_type)
        .text(line.error_code)
        .text(lm::view::public_text(core::excerpt(line.error, kLongestError)))
        .end();
  }
  rows.end();
  return out;
}

/// Rows of name, how often, and the agent whose mere word it is.
std::string leniencies_of(const PlayerFigures& player) {
  std::string out;
  Rows rows(out);
  const auto add = [&](const std::string& name, std::uint64_t times, const std::string& teller) {
    Rows(rows.next()).text(name).number(static_cast<std::int64_t>(times)).text(teller).end();
  };
  for (const auto& [name, times] : player.leniencies) add(name, times, "");
  for (const auto& [told, times] : player.told_leniencies) add(told.second, times, told.first);
  rows.end();
  return out;
}

/// What begins the file of a league's snapshot.
std::string snapshot_mark(const lm::files::LeagueBook& book) {
  return "// Made by league export, league " + json_of(book.league().settings().league_id.str()) +
         ". The third line is JSON.\n";
}

/// All that the page asks a manager for: its stream's first event, and each match and player. A
/// script, since browsers let no page that was opened from a disk read a file of data.
core::Result<void> write_snapshot(const ExportedLeague& league,
                                  const std::vector<PlayerFigures>& players,
                                  const lm::view::MatchTimelines& timelines,
                                  const std::shared_ptr<const lm::table::Figures>& figures,
                                  core::DraftFile& draft) {
  const lm::files::LeagueBook& book = league.book;
  std::string out = snapshot_mark(book) + "globalThis.snapshot =\n{\"view\":" +
                    lm::view::league_view(book, timelines, {.is_whole = true, .figures = figures},
                                          book.table_change().at) +
                    ",\"match\":{";
  const char* separator = "";
  for (const auto match : lm::view::shown_matches(book)) {
    const auto record = league.matches.find(match);
    const bool has_log = record != league.matches.end() && record->second->has_transcript();
    out +=
        separator + json_of(match.id().str()) + ":" +
        lm::view::match_view(book, timelines, match, has_log ? transcript_of(*record->second) : "");
    separator = ",";
    if (auto written = draft.write(out); !written) return written;
    out.clear();
  }
  out += "},\"player\":{";
  separator = "";
  for (const PlayerFigures& player : players) {
    out += separator + json_of(player_id_of(player.row.player)) + ":" +
           lm::view::player_view(book, player.row.player, leniencies_of(player));
    separator = ",";
  }
  return draft.write(out + "}}\n;\n");
}

/// A file that may replace one whose first 64 KiB contain `mark`.
OutputFile marked_file(const std::filesystem::path& path, std::string text, std::string mark) {
  return {.path = path,
          .write = text_of(std::move(text)),
          .is_ours = [mark = std::move(mark)](const std::filesystem::path& file) {
            return head_of_file(file).find(mark) != std::string::npos;
          }};
}

}  // namespace

std::vector<OutputFile> site_files(const ExportedLeague& league,
                                   const std::vector<PlayerFigures>& players,
                                   const lm::view::MatchTimelines& timelines,
                                   const std::filesystem::path& out) {
  const auto figures =
      std::make_shared<const lm::table::Figures>(lm::table::figures_of(league.book.league()));
  std::vector<OutputFile> files;
  for (const lm::view::EmbeddedFile& file : lm::view::web_files()) {
    std::string text(file.text);
    if (file.name == "index.html") {
      files.push_back(marked_file(out / file.name,
                                  index_page(league.book, *figures, std::move(text)),
                                  page_mark(league.book)));
    } else {  // the same for all leagues, but not in all versions
      const std::string first_line = text.substr(0, text.find('\n'));
      files.push_back(marked_file(out / file.name, std::move(text), first_line));
    }
  }
  OutputFile snapshot = marked_file(out / "snapshot.js", "", snapshot_mark(league.book));
  snapshot.write = [&, figures](core::DraftFile& draft) {
    return write_snapshot(league, players, timelines, figures, draft);
  };
  files.push_back(std::move(snapshot));
  return files;
}

}  // namespace league::tools::auditor
