#include "tools/audit/export/export_plot.h"

#include <algorithm>
#include <cstdio>

#include "tools/audit/export/export_files.h"

namespace league::tools::auditor {
namespace {

// Sizes and classes are those of the live page (web/charts.js).
constexpr double kWidth = 360;
constexpr double kHeight = 230;
constexpr double kLeft = 30;
constexpr double kRight = 24;  // for labels
constexpr double kTop = 20;
constexpr double kBottom = 26;
constexpr double kLabelHeight = 15;
constexpr std::size_t kLabelled = 6;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", value);
  return text;
}

std::string begin(const std::string& title) {
  return "<svg class=\"chart\" role=\"img\" viewBox=\"0 0 " + number(kWidth) + " " +
         number(kHeight) + "\"><title>" + html_text(title) + "</title>\n";
}
constexpr const char* kEnd = "</svg>\n";

std::string svg_text(double x, double y, const char* anchor, const std::string& text,
                     const std::string& classes = "tick") {
  return "<text class=\"" + classes + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
         "\" text-anchor=\"" + anchor + "\">" + html_text(text) + "</text>";
}

struct Label {
  double y = 0;
  std::size_t line = 0;
};

/// Moves labels apart that would lie on each other.
void spread(std::vector<Label>& labels) {
  std::ranges::sort(labels, {}, &Label::y);
  for (std::size_t i = 1; i < labels.size(); ++i)
    labels[i].y = std::max(labels[i].y, labels[i - 1].y + kLabelHeight);
  double lowest = kHeight - kBottom;
  for (std::size_t i = labels.size(); i-- > 0; lowest -= kLabelHeight)
    labels[i].y = std::min(labels[i].y, lowest);
}

double height_of(double value, double most) {
  return kHeight - kBottom - value / most * (kHeight - kTop - kBottom);
}

/// The distance of grid lines: 1, 2 or 5 times a power of ten, so that about five fit into `most`.
int step_of(int most) {
  int power = 1;
  while (most / power >= 50) power *= 10;
  for (int factor : {1, 2, 5, 10})
    if (most / (factor * power) <= 6) return factor * power;
  return 10 * power;
}

}  // namespace

std::string line_plot(const std::string& title, const std::vector<PlottedLine>& lines) {
  std::size_t points = 2;
  int most = 1;
  for (const auto& line : lines) {
    points = std::max(points, line.values.size());
    for (int value : line.values) most = std::max(most, value);
  }
  auto x = [&](std::size_t i) {
    return kLeft +
           static_cast<double>(i) / static_cast<double>(points - 1) * (kWidth - kLeft - kRight);
  };
  std::string out = begin(title);
  for (int value = 0; value <= most; value += step_of(most)) {
    const std::string y = number(height_of(value, most));
    out += "<line class=\"grid\" x1=\"" + number(kLeft) + "\" x2=\"" + number(kWidth - kRight) +
           "\" y1=\"" + y + "\" y2=\"" + y + "\"/>" +
           svg_text(kLeft - 6, height_of(value, most) + 4, "end", std::to_string(value));
  }
  const int rounds = static_cast<int>(points) - 1;
  for (int round = 0; round <= rounds; round += step_of(rounds))
    out +=
        svg_text(x(static_cast<std::size_t>(round)), kHeight - 8, "middle", std::to_string(round));
  std::vector<Label> labels;
  // Draw in reverse order, so that the line of the first player is on top.
  for (std::size_t i = lines.size(); i-- > 0;) {
    const auto& values = lines[i].values;
    if (values.empty()) continue;
    const bool is_labelled = i < kLabelled;
    out += "<polyline class=\"series " +
           (is_labelled ? "series-" + std::to_string(i) : std::string("faint")) + "\" points=\"";
    for (std::size_t at = 0; at < values.size(); ++at)
      out += number(x(at)) + "," + number(height_of(values[at], most)) + " ";
    out += "\"/>";
    if (is_labelled) labels.push_back({height_of(values.back(), most), i});
  }
  spread(labels);
  for (const Label& label : labels)
    out += svg_text(x(lines[label.line].values.size() - 1) + 6, label.y + 4, "start",
                    std::to_string(label.line + 1), "label series-" + std::to_string(label.line));
  std::string names = "<ol class=\"series-names\">\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kLabelled); ++i)
    names +=
        "<li class=\"series-" + std::to_string(i) + "\">" + html_text(lines[i].label) + "</li>\n";
  return out + kEnd + names + "</ol>\n";
}

std::string bar_plot(const std::string& title, const std::vector<PlottedBar>& bars,
                     double expected) {
  double most = std::max(1.0, expected * 1.15);
  for (const auto& bar : bars) most = std::max(most, static_cast<double>(bar.value));
  const double step = (kWidth - kLeft) / static_cast<double>(std::max<std::size_t>(bars.size(), 1));
  std::string out = begin(title);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double middle = kLeft + (static_cast<double>(i) + 0.5) * step;
    const double top = height_of(bars[i].value, most);
    out += "<rect class=\"bar\" x=\"" + number(middle - step * 0.35) + "\" width=\"" +
           number(step * 0.7) + "\" y=\"" + number(top) + "\" height=\"" +
           number(kHeight - kBottom - top) + "\"/>" +
           svg_text(middle, top - 4, "middle", std::to_string(bars[i].value)) +
           svg_text(middle, kHeight - 8, "middle", bars[i].label);
  }
  const std::string y = number(height_of(expected, most));
  out += "<line class=\"expected\" x1=\"" + number(kLeft) + "\" x2=\"" + number(kWidth) +
         "\" y1=\"" + y + "\" y2=\"" + y + "\"/>";
  return out + kEnd;
}

}  // namespace league::tools::auditor
