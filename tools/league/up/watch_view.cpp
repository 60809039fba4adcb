#include "tools/league/up/watch_view.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/schema/json_fields.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

std::string number_of(const nlohmann::json& object, const char* name) {
  const auto number = schema::number_at(object, name);
  return number ? std::to_string(*number) : "?";
}

std::string text_in(const nlohmann::json& object, const char* name) {
  return safe_text(schema::text_at(object, name));
}

bool is_true(const nlohmann::json& object, const char* name) {
  return schema::field_at(object, name) == true;
}

std::string outcome_of(const nlohmann::json& match) {
  const std::string status = text_in(match, "status");
  if (status == "PENDING") return "waits";
  if (status == "IN_PROGRESS") return "in play";
  if (is_true(match, "void")) return "void";
  const std::string winner = text_in(match, "winner");
  const std::string outcome = !winner.empty()               ? winner + " wins"
                              : is_true(match, "technical") ? "nobody wins"
                                                            : "a draw";
  return outcome + (is_true(match, "technical") ? ", technically" : "");
}

std::vector<std::string> keys_of(WatchView view) {
  std::vector<std::string> keys;
  for (const auto& [own, text] :
       {std::pair(WatchView::kTable, "[t] table"), std::pair(WatchView::kMatches, "[m] matches"),
        std::pair(WatchView::kAgents, "[a] agents"), std::pair(WatchView::kNews, "[n] news")}) {
    if (own != view) keys.emplace_back(text);
  }
  if (view == WatchView::kMatches) keys.emplace_back("[h/l] round");
  keys.emplace_back("[j/k] scroll");
  keys.emplace_back("[q] quit");
  return keys;
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < list.size();) {
    const auto end = std::min(list.find(", ", begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return parts;
}

/// The parts with `between` them, on as many lines as they need.
std::vector<std::string> wrapped(const std::vector<std::string>& parts, const std::string& between,
                                 std::size_t width) {
  std::vector<std::string> lines;
  for (const auto& part : parts) {
    if (!lines.empty() &&
        display_width(lines.back()) + display_width(between) + display_width(part) <= width) {
      lines.back() += between + part;
    } else {
      lines.push_back(part);
    }
  }
  return lines;
}

std::string coloured(const std::string& line, const char* colour, bool has_colours) {
  return has_colours ? std::string("\x1b[") + colour + "m" + line + "\x1b[0m" : line;
}

}  // namespace

std::vector<std::string> agent_lines(const nlohmann::json& agents) {
  constexpr std::size_t kName = 20;
  std::vector<std::string> lines{"id     name                  state       failed  in a row  why"};
  for (const auto& agent : agents) {
    if (!agent.is_object()) continue;
    std::string why = schema::text_at(agent, "reason");
    if (const auto detail = schema::text_at(agent, "detail"); !detail.empty())
      why += (why.empty() ? "" : ": ") + detail;
    lines.push_back(fitted(text_in(agent, "agent_id"), 6) + ' ' +
                    fitted(text_in(agent, "display_name"), kName) + "  " +
                    fitted(text_in(agent, "state"), 11) + ' ' +
                    fitted(number_of(agent, "failed_matches"), 7) + ' ' +
                    fitted(number_of(agent, "failed_in_a_row"), 9) + ' ' + safe_text(why));
  }
  return lines;
}

std::vector<std::string> match_lines(const nlohmann::json& round,
                                     const std::vector<TableRow>& table) {
  constexpr std::size_t kName = 20;
  const nlohmann::json& matches = schema::field_at(round, "matches");
  std::vector<std::string> lines{"match     round " + number_of(round, "round_id") + " of " +
                                 number_of(round, "total_rounds")};
  if (!matches.is_array()) return lines;
  const auto named = [&table](const std::string& id) {
    const auto row = std::ranges::find(table, id, &TableRow::player_id);
    return id + " " + (row != table.end() ? safe_text(row->display_name) : "");
  };
  for (const auto& match : matches) {
    if (!match.is_object()) continue;
    lines.push_back(fitted(text_in(match, "match_id"), 9) + ' ' +
                    fitted(named(text_in(match, "player_A_id")), kName) + "  " +
                    fitted(named(text_in(match, "player_B_id")), kName) + "  " +
                    fitted(text_in(match, "referee_id"), 6) + ' ' + outcome_of(match));
  }
  return lines;
}

std::vector<std::string> news_lines(const nlohmann::json& news) {
  constexpr std::size_t kTimeAt = 11;  // after the date
  constexpr std::size_t kTime = 8;
  std::vector<std::string> lines{"UTC       messages for the operator, latest first"};
  const nlohmann::json& told = schema::field_at(news, "lines");
  if (!told.is_array()) return lines;
  for (auto line = told.rbegin(); line != told.rend(); ++line) {
    if (!line->is_object()) continue;
    std::string at = text_in(*line, "at");
    at = at.size() > kTimeAt ? at.substr(kTimeAt, kTime) : at;
    lines.push_back(fitted(at, kTime) + (is_true(*line, "warning") ? " ! " : "   ") +
                    text_in(*line, "text"));
  }
  return lines;
}

int shown_round(const LeagueProgress& progress, const WatchOptions& options) {
  return progress.current_round < 1 ? 0 : std::max(1, progress.current_round - options.rounds_back);
}

bool WatchOptions::obey(char key, const WatchPicture& picture) {
  constexpr std::size_t kScroll = 5;  // rows
  const auto show = [this](WatchView wanted) {
    view = wanted;
    first = 0;
    rounds_back = 0;
  };
  switch (key) {
    case 'q':
      return false;
    case 't':
      show(WatchView::kTable);
      break;
    case 'm':
      show(WatchView::kMatches);
      break;
    case 'a':
      show(WatchView::kAgents);
      break;
    case 'n':
      show(WatchView::kNews);
      break;
    case 'h':
      rounds_back = std::clamp(rounds_back + 1, 0, std::max(picture.progress.current_round - 1, 0));
      break;
    case 'l':
      rounds_back = std::max(rounds_back - 1, 0);
      break;
    case 'j':
      first += kScroll;
      break;
    case 'k':
      first -= std::min(first, kScroll);
      break;
    default:
      break;
  }
  const std::size_t rows = view == WatchView::kTable ? picture.table.size() : picture.lines.size();
  first = std::min(first, rows);
  return true;
}

std::string time_left(const LeagueProgress& progress, double seconds) {
  constexpr double kMinute = 60;
  const int left = progress.total_matches - progress.matches_completed;
  if (progress.is_paused || progress.matches_completed == 0 || left <= 0 || seconds <= 0) return {};
  const double wait = seconds / progress.matches_completed * left;
  if (wait < 1.5 * kMinute)
    return "about " + std::to_string(static_cast<int>(wait) + 1) + " s left";
  return "about " + std::to_string(std::lround(wait / kMinute)) + " min left";
}

/// The head of the rows and as many of them from `first` on as fit into `room` lines.
static void append_rows(const std::vector<std::string>& rows, std::size_t first, std::size_t room,
                        std::vector<std::string>& out) {
  if (rows.empty() || room <= 1) return;
  out.push_back(rows.front());
  const std::size_t most = rows.size() - 1;
  const std::size_t shown = std::min(most, room - 1);
  const std::size_t begin = 1 + std::min(first, most - shown);
  for (std::size_t i = begin; i < begin + shown; ++i) out.push_back(rows[i]);
}

std::vector<std::string> watch_lines(const WatchPicture& picture, const WatchOptions& options,
                                     const TerminalSize& screen) {
  const std::size_t width = screen.width > 1 ? screen.width - 1 : 1;  // never in the last column
  const std::size_t height = screen.height > 1 ? screen.height - 1 : 1;
  const LeagueProgress& progress = picture.progress;
  // On a low screen rows are worth more than the end of a line.
  constexpr std::size_t kLow = 14;
  const std::size_t line_width = height < kLow ? std::string::npos : width;
  std::vector<std::string> top =
      wrapped(parts_of(progress_line(progress, picture.seconds)), ", ", line_width);
  const std::string id = safe_text(progress.league_id);
  if (display_width(id) + 2 + display_width(top.front()) <= line_width) {
    top.front() = id + "  " + top.front();
  } else {
    top.insert(top.begin(), id);
  }
  if (progress.is_paused && !progress.pause_reason.empty())
    top.push_back("paused because: " + safe_text(progress.pause_reason));
  const auto keys = wrapped(keys_of(options.view), "  ", line_width);
  if (progress.has_started()) {
    const std::string left =
        progress.is_completed() ? "finished" : time_left(progress, picture.seconds);
    const std::size_t beside = left.empty() ? 0 : left.size() + 2;
    top.push_back(progress_bar(progress.matches_completed, progress.total_matches,
                               std::min<std::size_t>(50, width > beside ? width - beside : 0)) +
                  (left.empty() ? "" : "  " + left));
  }
  if (progress.champion) top.push_back(champion_line(progress));
  if (!progress.luck_sentence.empty() && height >= kLow)
    top.push_back(safe_text(progress.luck_sentence));
  if (!picture.trouble.empty()) top.push_back(safe_text(picture.trouble));
  top.emplace_back();

  const auto rows =
      options.view != WatchView::kTable
          ? picture.lines
          : table_lines(picture.table, width, picture.table.size(), picture.table.size());
  std::vector<std::string> lines = std::move(top);
  const std::size_t below = keys.size() + 1;
  const std::size_t room = height > lines.size() + below ? height - lines.size() - below : 0;
  append_rows(rows, options.first, room, lines);
  const std::size_t first_key = lines.size();
  lines.insert(lines.end(), keys.begin(), keys.end());
  lines.resize(std::min(lines.size(), height));
  for (auto& line : lines) {
    if (display_width(line) > width) line = fitted(line, width);
  }
  if (!lines.empty()) lines[0] = coloured(lines[0], "1", options.has_colours);
  for (std::size_t i = std::max<std::size_t>(first_key, 1); i < lines.size(); ++i)
    lines[i] = coloured(lines[i], "2", options.has_colours);
  return lines;
}

}  // namespace league::tools
