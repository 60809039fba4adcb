#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace league::agent::runtime {

/// Decides which log messages are written: of identical warnings only the first. The number of
/// repetitions is written in one line, with the first message after a minute or when the log ends.
/// Not thread-safe.
class RepeatFilter {
 public:
  using Instant = std::chrono::system_clock::time_point;
  struct Line {
    int level = 0;  ///< the caller's
    std::string text;
    bool operator==(const Line&) const = default;
  };
  static constexpr std::chrono::seconds kWindow{60};
  /// The number of different warnings that are counted; further ones are always written.
  static constexpr std::size_t kMostKinds = 256;

  /// The lines to write when `line` arrives at `now`; messages that are not warnings always pass.
  [[nodiscard]] std::vector<Line> pass(Instant now, bool is_warning, Line line);
  /// The counts of repeated warnings whose window is over.
  [[nodiscard]] std::vector<Line> take_counts(Instant now);
  /// The counts of all repeated warnings so far.
  [[nodiscard]] std::vector<Line> take_all_counts();

 private:
  struct Seen {
    Instant since;
    int level = 0;
    int repeats = 0;
  };
  void end_windows(Instant since, std::vector<Line>& out);

  std::map<std::string, Seen> seen_;
};

}  // namespace league::agent::runtime
