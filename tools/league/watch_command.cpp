#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/agent/host/terminal.h"
#include "common/core/clock.h"
#include "common/transport/link/signals.h"
#include "tools/league/commands.h"
#include "tools/league/up/manager_client.h"
#include "tools/league/up/table_text.h"
#include "tools/league/up/watch_view.h"

namespace league::tools {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{1000};
constexpr std::chrono::milliseconds kBetweenKeys{100};
/// Without a terminal, `league watch` ends after the manager has been silent for this long; it may
/// be restarting.
constexpr std::chrono::seconds kMostSilence{30};

/// A terminal on which pictures are drawn. The destructor restores its state.
class Canvas {
 public:
  Canvas()
      : is_drawn_on_(agent::host::may_draw(STDOUT_FILENO)),
        has_colours_(agent::host::may_colour(STDOUT_FILENO)) {
    if (!is_drawn_on_) return;
    std::cout << "\x1b[?1049h\x1b[?25l" << std::flush;
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    reads_keys_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &quiet) == 0;
  }
  ~Canvas() {
    if (reads_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    if (is_drawn_on_) std::cout << "\x1b[?25h\x1b[?1049l" << std::flush;
  }
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  [[nodiscard]] bool is_drawn_on() const { return is_drawn_on_; }
  [[nodiscard]] bool has_colours() const { return has_colours_; }

  static void draw(const std::vector<std::string>& lines) {
    std::string frame = "\x1b[H";  // written at once, to avoid flicker
    for (std::size_t i = 0; i < lines.size(); ++i)
      frame += (i > 0 ? "\n" : "") + lines[i] + "\x1b[K";
    std::cout << frame << "\x1b[J" << std::flush;
  }
  /// The key that was pressed; 0: none.
  [[nodiscard]] char key() const {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    char pressed = 0;
    if (!reads_keys_ || ::poll(&input, 1, 0) <= 0 || ::read(STDIN_FILENO, &pressed, 1) != 1)
      return 0;
    return pressed;
  }

 private:
  const bool is_drawn_on_;
  const bool has_colours_;
  bool reads_keys_ = false;
  termios before_{};
};

/// The lines of a view that is not the table.
core::Result<std::vector<std::string>> lines_of(ManagerClient& client, const WatchPicture& picture,
                                                const WatchOptions& options) {
  using Lines = std::vector<std::string>;
  if (options.view == WatchView::kAgents) {
    const auto agents = client.agents();
    return agents ? agent_lines(*agents) : core::Result<Lines>(agents.error());
  }
  if (options.view == WatchView::kNews) {
    const auto news = client.resource("league://news");
    return news ? news_lines(*news) : core::Result<Lines>(news.error());
  }
  const int number = shown_round(picture.progress, options);
  if (number == 0) return Lines{"no round has begun"};
  const auto round = client.resource("league://round/" + std::to_string(number));
  return round ? match_lines(*round, picture.table) : core::Result<Lines>(round.error());
}

/// Gets everything that is shown from the manager. Keeps the old data if a call fails.
core::Result<void> look(ManagerClient& client, WatchPicture& picture, const WatchOptions& options) {
  auto status = client.call("get_league_status", nlohmann::json::object());
  if (!status) return status.error();
  picture.progress = parse_progress(*status);
  picture.seconds = picture.progress.seconds(core::SystemClock().utc_now());
  auto rows = client.standings(static_cast<std::size_t>(std::max(picture.progress.players, 1)));
  if (!rows) return rows.error();
  picture.table = parse_rows(*rows);
  if (options.view == WatchView::kTable) return {};
  auto lines = lines_of(client, picture, options);
  if (!lines) return lines.error();
  picture.lines = std::move(*lines);
  return {};
}

/// Draws until a key, a signal or (without a terminal) the end of the league. Returns the last
/// picture.
WatchPicture follow(ManagerClient& client, WatchPicture picture,
                    transport::link::StopSignal& stop) {
  const Canvas canvas;
  WatchOptions options{.has_colours = canvas.has_colours()};
  std::string told;
  bool was_over = false;  // at an earlier look: the figures of its last round follow the end
  auto next_look = std::chrono::steady_clock::now();
  auto last_answer = next_look;
  while (true) {
    if (std::chrono::steady_clock::now() >= next_look) {
      was_over = picture.progress.is_completed();
      auto seen = look(client, picture, options);
      picture.trouble = seen ? "" : "the manager does not answer: " + seen.error().message;
      next_look = std::chrono::steady_clock::now() + kBetweenLooks;
      if (seen) last_answer = next_look;
    }
    if (canvas.is_drawn_on()) {
      Canvas::draw(watch_lines(picture, options, terminal_size(STDOUT_FILENO)));
    } else {
      const std::string line = picture.trouble.empty()
                                   ? progress_line(picture.progress, picture.seconds)
                                   : safe_text(picture.trouble);
      if (line != told) std::cerr << (told = line) << '\n';
      const bool is_over = picture.progress.is_completed() && (picture.progress.luck || was_over);
      if (is_over || next_look - last_answer > kMostSilence) return picture;
    }
    if (stop.wait_for(kBetweenKeys) >= 0) return picture;
    const char key = canvas.key();
    if (!options.obey(key, picture)) return picture;
    if (key == 0 || key == 'j' || key == 'k') continue;
    picture.lines.clear();
    next_look = {};  // get the data of the new view at once
  }
}

int watch(const std::string& url, transport::link::StopSignal& stop) {
  auto client = ManagerClient::connect(url);
  WatchPicture first;
  auto seen = client ? look(*client, first, {}) : core::Result<void>(client.error());
  if (!seen) return fail(seen.error());
  const WatchPicture last = follow(*client, std::move(first), stop);
  constexpr std::size_t kOutputWidth = 120;
  for (const auto& line :
       table_lines(last.table, kOutputWidth, last.table.size(), last.table.size()))
    std::cout << line << '\n';
  if (last.progress.champion) std::cout << champion_line(last.progress) << '\n';
  if (!last.progress.luck_sentence.empty())
    std::cout << safe_text(last.progress.luck_sentence) << '\n';
  return last.trouble.empty() ? 0 : 2;
}

}  // namespace

void add_watch_command(CLI::App& app, std::function<int()>& chosen) {
  auto url = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("watch", "show a running league in this terminal");
  add_manager_url(*command, *url);
  command->footer(
      "Keys: t table, m matches (h and l: previous and next round), a agents, n news, j and k "
      "scroll, q quit. Honours NO_COLOR. Without a terminal, or with TERM=dumb, it writes a line "
      "for each change and exits when the league ends or the manager has been silent for 30 s.\n"
      "Example:\n"
      "  league watch http://localhost:8000/mcp\n"
      "Exit codes: 0 success, 2 the manager did not answer.");
  agent::host::when_given(*command, chosen, [url] {
    transport::link::StopSignal stop;
    return watch(*url, stop);
  });
}

}  // namespace league::tools
