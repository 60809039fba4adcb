#include "tools/league/up/live_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "common/agent/host/terminal.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

constexpr std::size_t kMostRows = 15;
constexpr std::size_t kOtherLines = 6;  // figures, bar, blank line, heading, "and more", cursor

std::string rate_text(const LeagueProgress& progress, double seconds) {
  if (seconds <= 0 || progress.matches_completed == 0) return {};
  return short_number(progress.matches_completed / seconds) + " matches/s";
}

std::string state_text(const LeagueProgress& progress) {
  const std::string paused = progress.is_paused ? "paused: " : "";
  if (!progress.has_started()) {
    return paused + "waiting: " + std::to_string(progress.players) + " of " +
           std::to_string(progress.players_expected) + " players, " +
           std::to_string(progress.referees) + " of " + std::to_string(progress.referees_expected) +
           " referees registered";
  }
  std::string text = paused + "round " + std::to_string(progress.current_round) + " of " +
                     std::to_string(progress.total_rounds) + ", " +
                     std::to_string(progress.matches_completed) + " of " +
                     std::to_string(progress.total_matches) + " matches";
  if (progress.technical_losses > 0)
    text += ", " + std::to_string(progress.technical_losses) +
            (progress.technical_losses == 1 ? " technical loss" : " technical losses");
  return text;
}

}  // namespace

TerminalSize terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

std::vector<std::string> live_lines(const LeagueProgress& progress,
                                    const std::vector<TableRow>& top, double seconds,
                                    const TerminalSize& screen) {
  std::size_t width = screen.width > 1 ? screen.width - 1 : 1;  // never in the last column
  std::vector<std::string> lines;
  lines.push_back(progress.league_id + "  " + state_text(progress));
  if (progress.has_started()) {
    std::string figures = "  " + rate_text(progress, seconds) + "  " + short_number(seconds) + " s";
    std::size_t bar =
        std::min<std::size_t>(50, width > figures.size() ? width - figures.size() : 0);
    lines.push_back(progress_bar(progress.matches_completed, progress.total_matches, bar) +
                    figures);
    std::size_t room = screen.height > kOtherLines ? screen.height - kOtherLines : 0;
    if (room > 0 && !top.empty()) {
      lines.emplace_back();
      for (auto& line : table_lines(top, width, std::min(room, kMostRows),
                                    static_cast<std::size_t>(progress.players)))
        lines.push_back(std::move(line));
    }
  }
  for (auto& line : lines) {
    if (display_width(line) > width) line = fitted(line, width);
  }
  return lines;
}

std::string progress_line(const LeagueProgress& progress, double seconds) {
  std::string rate = rate_text(progress, seconds);
  return state_text(progress) + (rate.empty() ? "" : ", " + rate);
}

LiveView::LiveView() : is_terminal_(agent::host::may_draw(STDERR_FILENO)) {}

LiveView::~LiveView() { clear(); }

void LiveView::write(const std::string& text) const {
  for (std::size_t done = 0; done < text.size();) {
    ssize_t size = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (size <= 0) return;  // the terminal is closed
    done += static_cast<std::size_t>(size);
  }
}

void LiveView::say(const std::string& text) {
  clear();
  write(text + "\n");
}

void LiveView::show(const LeagueProgress& progress, const std::vector<TableRow>& top,
                    double seconds) {
  if (!is_terminal_) {
    std::string text = progress_line(progress, seconds);
    bool is_due = last_line_ < 0 || seconds - last_line_ >= 1 || !progress.has_started();
    if (!is_due || text == last_text_) return;
    last_line_ = progress.has_started() ? seconds : -1;
    last_text_ = text;
    return write(text + "\n");
  }
  // To avoid flicker, everything is written at once, and each line is overwritten and its rest
  // erased. The cursor is hidden.
  std::string frame = "\x1b[?25l";
  if (drawn_ > 0) frame += "\x1b[" + std::to_string(drawn_) + "A\r";
  auto lines = live_lines(progress, top, seconds, terminal_size(STDERR_FILENO));
  for (const auto& line : lines) frame += line + "\x1b[K\n";
  frame += "\x1b[J";
  drawn_ = lines.size();
  write(frame);
}

void LiveView::clear() {
  if (!is_terminal_ || drawn_ == 0) return;
  write("\x1b[" + std::to_string(drawn_) + "A\r\x1b[J\x1b[?25h");
  drawn_ = 0;
}

std::size_t LiveView::rows_wanted() const { return is_terminal_ ? kMostRows : 0; }

}  // namespace league::tools
