#pragma once

#include <string>
#include <vector>

namespace league::tools::auditor {

struct PlottedLine {
  std::string label;  ///< plain text
  std::vector<int> values;  ///< after 0, 1, 2, ... rounds
};

/// Lines over rounds as an inline SVG, with a title for screen readers; the first six are numbered
/// and named in a list below.
[[nodiscard]] std::string line_plot(const std::string& title,
                                    const std::vector<PlottedLine>& lines);

struct PlottedBar {
  std::string label;
  int value = 0;
};

/// Bars with their values, and a dashed line at the expected value.
[[nodiscard]] std::string bar_plot(const std::string& title, const std::vector<PlottedBar>& bars,
                                   double expected);

}  // namespace league::tools::auditor
