#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace league::agent {

/// Decides which messages of a log are written: of warnings with the same words only the first, and
/// how often it was repeated in one line, with the first message after a minute and in the end. Not
/// thread-safe.
class RepeatFilter {
 public:
  using Instant = std::chrono::system_clock::time_point;
  struct Line {
    int level = 0;  ///< the caller's
    std::string text;
    bool operator==(const Line&) const = default;
  };
  static constexpr std::chrono::seconds kWindow{60};
  /// More different warnings than this are not told apart.
  static constexpr std::size_t kMostKinds = 256;

  /// What to write when `line` comes at `now`; everything that is no warning passes.
  [[nodiscard]] std::vector<Line> pass(Instant now, bool is_warning, Line line);
  /// What was repeated in windows that are over.
  [[nodiscard]] std::vector<Line> take_counts(Instant now);
  /// What has been repeated so far.
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

}  // namespace league::agent
