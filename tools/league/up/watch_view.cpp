#include "tools/league/up/watch_view.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/schema/json_fields.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

std::string number_of(const nlohmann::json& object, const char* name, std::size_t width) {
  const auto found = object.find(name);
  const bool is_there = found != object.end() && found->is_number_integer();
  return fitted(is_there ? std::to_string(found->get<std::int64_t>()) : "?", width);
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
    lines.push_back(fitted(safe_text(schema::text_at(agent, "agent_id")), 6) + ' ' +
                    fitted(safe_text(schema::text_at(agent, "display_name")), kName) + "  " +
                    fitted(safe_text(schema::text_at(agent, "state")), 11) + ' ' +
                    number_of(agent, "failed_matches", 7) + ' ' +
                    number_of(agent, "failed_in_a_row", 9) + ' ' + safe_text(why));
  }
  return lines;
}

std::string time_left(const LeagueProgress& progress, double seconds) {
  constexpr double kMinute = 60;
  const int left = progress.total_matches - progress.matches_completed;
  if (progress.matches_completed == 0 || left <= 0 || seconds <= 0) return {};
  const double wait = seconds / progress.matches_completed * left;
  if (wait < 1.5 * kMinute)
    return "about " + std::to_string(static_cast<int>(wait) + 1) + " s left";
  return "about " + std::to_string(std::lround(wait / kMinute)) + " min left";
}

std::vector<std::string> watch_lines(const WatchPicture& picture, const WatchOptions& options,
                                     const Screen& screen) {
  const std::size_t width = screen.width > 1 ? screen.width - 1 : 1;  // never in the last column
  const std::size_t height = screen.height > 1 ? screen.height - 1 : 1;
  const LeagueProgress& progress = picture.progress;
  std::vector<std::string> top{safe_text(progress.league_id) + "  " +
                               progress_line(progress, picture.seconds)};
  if (progress.has_started()) {
    const std::string left =
        progress.is_completed() ? "finished" : time_left(progress, picture.seconds);
    const std::size_t beside = left.empty() ? 0 : left.size() + 2;
    top.push_back(progress_bar(progress.matches_completed, progress.total_matches,
                               std::min<std::size_t>(50, width > beside ? width - beside : 0)) +
                  (left.empty() ? "" : "  " + left));
  }
  if (progress.champion) top.push_back(champion_line(progress));
  if (!picture.trouble.empty()) top.push_back(safe_text(picture.trouble));
  top.emplace_back();

  auto rows = options.shows_agents
                  ? picture.agents
                  : table_lines(picture.table, width, picture.table.size(), picture.table.size());
  const std::string keys = options.shows_agents ? "[t] table  [j/k] scroll  [q] quit"
                                                : "[a] agents  [j/k] scroll  [q] quit";
  std::vector<std::string> lines = std::move(top);
  const std::size_t room = height > lines.size() + 2 ? height - lines.size() - 2 : 0;
  if (!rows.empty() && room > 1) {
    lines.push_back(rows.front());
    const std::size_t most = rows.size() - 1;
    const std::size_t shown = std::min(most, room - 1);
    const std::size_t first = 1 + std::min(options.first, most - shown);
    for (std::size_t i = first; i < first + shown; ++i) lines.push_back(rows[i]);
  }
  lines.push_back(keys);
  lines.resize(std::min(lines.size(), height));
  for (auto& line : lines) {
    if (display_width(line) > width) line = fitted(line, width);
  }
  if (!lines.empty()) lines[0] = coloured(lines[0], "1", options.has_colours);
  if (lines.size() > 1) lines.back() = coloured(lines.back(), "2", options.has_colours);
  return lines;
}

}  // namespace league::tools
