#include <algorithm>

#include "common/core/text.h"
#include "tools/audit/inspect/explain_text.h"

namespace league::tools::auditor {
namespace {

constexpr std::size_t kLaneWidth = 270;  // pixels
constexpr std::size_t kTimesWidth = 300;
constexpr std::size_t kRowHeight = 34;
constexpr std::size_t kHeadHeight = 50;
constexpr std::size_t kMostRaw = 20'000;  // bytes of a body that are shown

constexpr std::string_view kTimelineStyle = R"css(
body{font:14px/1.4 system-ui,sans-serif;margin:2em;color:#222;background:#fff}
svg{font:12px ui-monospace,monospace;max-width:none}
.lane{stroke:#bbb;stroke-dasharray:3 3}.party{font-weight:bold;text-anchor:middle}
.arrow{stroke:#246;stroke-width:1.5;fill:none}.bad .arrow{stroke:#b00}.one .arrow{stroke-dasharray:6 3}
.label{text-anchor:middle}.bad .label{fill:#b00}.time,.note{fill:#666}.note{font-size:11px}
.bad .note{fill:#b00}h2{margin-top:2em}h3{margin:1.2em 0 .3em}pre{white-space:pre-wrap;word-break:break-all}
details{margin:.2em 0}.diagram{overflow-x:auto}
)css";

std::string escaped(std::string_view text, std::size_t limit = 600) {
  return core::escape_markup(printable(text, limit));
}

std::string number(std::size_t value) { return std::to_string(value); }

std::size_t x_of(const Explanation& explanation, const std::string& party) {
  auto found = std::ranges::find(explanation.parties, party);
  auto lane = static_cast<std::size_t>(found - explanation.parties.begin());
  return kTimesWidth + kLaneWidth / 2 + lane * kLaneWidth;
}

std::string text_element(std::string_view css, std::size_t x, std::size_t y,
                         const std::string& escaped_text) {
  return "<text class=\"" + std::string(css) + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
         "\">" + escaped_text + "</text>\n";
}

std::string note_of(const ExplainedStep& step) {
  std::string note = step.verdict;
  auto add = [&note](const std::string& text) { note += (note.empty() ? "" : ", ") + text; };
  if (!step.only_in.empty()) add("only in the log of " + step.only_in);
  for (const auto& name : step.leniencies) add("leniency: " + name);
  if (step.took_us) add("after " + duration_text(*step.took_us));
  return note;
}

/// The whole message, shown while the mouse is over its arrow.
std::string tooltip(const ExplainedStep& step) {
  std::string text = step.from + " to " + step.to + ": " + step.type + " " + step.what;
  if (!step.way.empty()) text += " [" + step.way + "]";
  if (!step.fault.empty()) text += " | " + step.verdict + " " + step.fault;
  return "<title>" + escaped(text) + "</title>";
}

std::string arrow_head(std::size_t x, std::size_t y, bool to_the_right) {
  std::string back = number(to_the_right ? x - 8 : x + 8);
  return "<path class=\"arrow\" d=\"M" + back + " " + number(y - 4) + "L" + number(x) + " " +
         number(y) + "L" + back + " " + number(y + 4) + "\"/>\n";
}

std::string step_svg(const Explanation& explanation, const ExplainedStep& step, std::size_t y) {
  std::size_t from = x_of(explanation, step.from);
  std::size_t to = x_of(explanation, step.to);
  std::string css = step.verdict.empty() ? "" : "bad ";
  if (!step.only_in.empty() || step.is_failure) css += "one";
  std::string out = "<g class=\"" + css + "\">" + tooltip(step) + "\n";
  std::string way = step.way_us ? "  transit " + duration_text(*step.way_us) : "";
  out += text_element("time", 0, y,
                      time_of_day(step.time) + "  +" + duration_text(step.mono_us) + way);
  out += "<line class=\"arrow\" x1=\"" + number(from) + "\" y1=\"" + number(y) + "\" x2=\"" +
         number(to) + "\" y2=\"" + number(y) + "\"/>\n";
  std::size_t middle = (from + to) / 2;
  out += step.is_failure ? text_element("label", middle, y + 4, "&#10005;")
                         : arrow_head(to, y, to > from);
  out += text_element("label", middle, y - 4, escaped(step.type, 40));
  out += text_element("note label", middle, y + 12, escaped(note_of(step), 60));
  return out + "</g>\n";
}

std::string diagram(const Explanation& explanation) {
  std::size_t height = kHeadHeight + kRowHeight * (explanation.steps.size() + 1);
  std::size_t width = kTimesWidth + kLaneWidth * explanation.parties.size();
  std::string out = "<div class=\"diagram\"><svg width=\"" + number(width) + "\" height=\"" +
                    number(height) + "\" role=\"img\">\n";
  for (const auto& party : explanation.parties) {
    std::size_t x = x_of(explanation, party);
    out += text_element("party", x, 20, escaped(party, 36));
    out += "<line class=\"lane\" x1=\"" + number(x) + "\" y1=\"28\" x2=\"" + number(x) +
           "\" y2=\"" + number(height) + "\"/>\n";
  }
  std::size_t y = kHeadHeight + kRowHeight / 2;
  for (const auto& step : explanation.steps) {
    out += step_svg(explanation, step, y);
    y += kRowHeight;
  }
  return out + "</svg></div>\n";
}

std::string messages(const Explanation& explanation) {
  std::string out = "<h3>the messages as they were on the wire, secrets masked</h3>\n";
  for (const auto& step : explanation.steps) {
    out += "<details><summary>" + time_of_day(step.time) + " " + escaped(step.from) + " to " +
           escaped(step.to) + ": " + escaped(step.type) + " " + escaped(step.what) +
           "</summary><pre>" + escaped(step.raw, kMostRaw) + "</pre>";
    if (!step.fault.empty())
      out += "<p>" + escaped(step.verdict) + " " + escaped(step.fault) + "</p>";
    for (const auto& place : step.places) out += "<p>" + escaped(place) + "</p>";
    out += "</details>\n";
  }
  return out;
}

}  // namespace

std::string html_of(const std::vector<Explanation>& explanations, const std::string& title) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>" +
      escaped(title) + "</title>\n<style>" + std::string(kTimelineStyle) +
      "</style></head>\n<body>\n<h1>" + escaped(title) + "</h1>\n";
  for (const Explanation& explanation : explanations) {
    out += explanation.steps.empty()
               ? "<h2>no messages</h2>\n"
               : "<h2>conversation " + escaped(explanation.conversation) + "</h2>\n";
    for (const auto& [name, sentences] : sections_of(explanation)) {
      out += "<h3>" + escaped(name) + "</h3>\n<ul>\n";
      for (const auto& sentence : *sentences) out += "<li>" + escaped(sentence) + "</li>\n";
      out += "</ul>\n";
    }
    if (explanation.steps.empty()) continue;
    out +=
        "<p>Times are of the sender's wall clock; + is its monotonic clock since its first "
        "record here; transit is from its wall clock to the receiver's. Dashed arrows: one side "
        "only.</p>\n";
    out += diagram(explanation) + messages(explanation);
  }
  return out + "</body></html>\n";
}

}  // namespace league::tools::auditor
