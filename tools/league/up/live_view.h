#pragma once

#include <string>
#include <vector>

#include "tools/league/up/league_progress.h"

namespace league::tools {

/// The size of a terminal.
struct TerminalSize {
  std::size_t width = 80;
  std::size_t height = 24;
};

/// The size of the terminal at a descriptor; the usual one if it has none.
[[nodiscard]] TerminalSize terminal_size(int fd);

/// The lines of one picture of a running league: figures, bar, the top of the table. No line is
/// wider than the screen, and there are fewer lines than the screen has.
[[nodiscard]] std::vector<std::string> live_lines(const LeagueProgress& progress,
                                                  const std::vector<TableRow>& top, double seconds,
                                                  const TerminalSize& screen);
/// The progress of a league as one line for a log.
[[nodiscard]] std::string progress_line(const LeagueProgress& progress, double seconds);

/// Shows progress on stderr: on a terminal as a picture that is redrawn in place, elsewhere as
/// plain lines. The destructor removes the picture and restores the cursor. Not thread-safe.
class LiveView {
 public:
  LiveView();
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  /// Prints a message above the picture, where it stays.
  void say(const std::string& text);
  /// Redraws the picture; plain lines are written at most once a second, and only if something has
  /// changed.
  void show(const LeagueProgress& progress, const std::vector<TableRow>& top, double seconds);
  /// Removes the picture.
  void clear();
  /// The number of table rows for which there is room.
  [[nodiscard]] std::size_t rows_wanted() const;

 private:
  void write(const std::string& text) const;

  const bool is_terminal_;
  std::size_t drawn_ = 0;  // lines of the picture that is on the screen
  double last_line_ = -1;  // second of the last plain line
  std::string last_text_;
};

}  // namespace league::tools
