#include <algorithm>
#include <map>

#include "tools/audit/inspect/audit_text.h"
#include "tools/audit/inspect/explanation.h"

namespace league::tools::auditor {
namespace {

using audit::log::LogEntry;
using audit::log::LoggedMessage;

/// A drift between the wall clock and the monotonic clock of one machine is reported from this
/// value on.
constexpr std::int64_t kNotableDriftUs = 2'000;
/// Monotonic clocks that differ by less than this are assumed to belong to the same machine.
constexpr std::int64_t kSameMachineUs = 1'000'000;

std::int64_t wall_us(const LogEntry& entry) {
  return entry.time.instant().time_since_epoch().count();
}
std::int64_t monotonic_us(const LogEntry& entry) { return entry.mono_ns / 1000; }

/// The shortest transit times of messages from one agent to another, by both kinds of clock.
struct ShortestWay {
  std::int64_t wall = INT64_MAX;
  std::int64_t mono = INT64_MAX;
  void take(const LogEntry& sent, const LogEntry& received) {
    wall = std::min(wall, wall_us(received) - wall_us(sent));
    mono = std::min(mono, monotonic_us(received) - monotonic_us(sent));
  }
};

std::string signed_text_of(std::int64_t microseconds) {
  return (microseconds < 0 ? "-" : "+") +
         duration_text(microseconds < 0 ? -microseconds : microseconds);
}

/// Describes the difference of two clocks. As in NTP, it is half of the difference between the
/// shortest transit times in both directions, with an error of at most half of their sum.
std::string skew_text(const std::string& one, const std::string& other, const ShortestWay& there,
                      const ShortestWay& back) {
  auto wall = (there.wall - back.wall) / 2;
  auto error = std::max<std::int64_t>(1, (there.wall + back.wall) / 2);
  auto mono = (there.mono - back.mono) / 2;
  std::string text = "wall clock of " + other + ": " + signed_text_of(wall) + " against " + one +
                     "'s, with an error of at most " + duration_text(error < 0 ? -error : error);
  if (wall < error && -wall < error) text += " (no measurable difference)";
  if (mono > -kSameMachineUs && mono < kSameMachineUs)
    return text + "; monotonic clock: " + signed_text_of(mono) +
           ", so both run on the same machine";
  return text + "; the monotonic clocks belong to different machines";
}

struct Span {
  const LogEntry* first = nullptr;
  const LogEntry* last = nullptr;
};

void note_span(const LogEntry& entry, std::map<std::string, Span>& spans) {
  Span& span = spans[entry.agent];
  if (span.first == nullptr || entry.mono_ns < span.first->mono_ns) span.first = &entry;
  if (span.last == nullptr || entry.mono_ns > span.last->mono_ns) span.last = &entry;
}

}  // namespace

std::vector<std::string> explain_clocks(const std::vector<LoggedMessage>& exchanges) {
  std::map<std::string, Span> spans;
  std::map<std::pair<std::string, std::string>, ShortestWay> ways;
  for (const LoggedMessage& exchange : exchanges) {
    for (const auto* side : {&exchange.sent, &exchange.received}) {
      if (*side) note_span(**side, spans);
    }
    if (exchange.sent && exchange.received)
      ways[{exchange.sent->agent, exchange.received->agent}].take(*exchange.sent,
                                                                  *exchange.received);
  }
  std::vector<std::string> sentences;
  for (const auto& [pair, there] : ways) {
    // Only relative to the referee, which talks to everybody.
    auto back = ways.find({pair.second, pair.first});
    if (back == ways.end() || !pair.first.starts_with("referee:")) continue;
    sentences.push_back(skew_text(pair.first, pair.second, there, back->second));
  }
  for (const auto& [agent, span] : spans) {
    auto wall = wall_us(*span.last) - wall_us(*span.first);
    auto mono = monotonic_us(*span.last) - monotonic_us(*span.first);
    auto drift = wall - mono;
    if (drift > kNotableDriftUs || -drift > kNotableDriftUs) {
      sentences.push_back("the wall clock of " + agent +
                          " was set during the match: it advanced by " +
                          duration_text(wall < 0 ? -wall : wall) + ", the monotonic clock by " +
                          duration_text(mono));
    }
  }
  return sentences;
}

}  // namespace league::tools::auditor
