#include "tools/audit/rules/rules.h"

#include <algorithm>
#include <optional>

#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

constexpr int kMostReplays = 3;
constexpr std::string_view kTimedOut = "E001";

std::int64_t whole_number_at(const json& value, const char* key) {
  auto found = value.find(key);
  return found != value.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

bool is_marked_void(const json& clock) {
  auto mark = clock.find("void");
  return mark != clock.end() && mark->is_boolean() && mark->get<bool>();
}

/// Whether a time-out is void by the rule: a delay of more than 50 ms and more than 5 % of the
/// limit.
bool is_void_by_rule(const json& clock) {
  const std::int64_t delay =
      std::max({whole_number_at(clock, "scheduling_delay_us"), whole_number_at(clock, "canary_us"),
                whole_number_at(clock, "seat_delay_us")});
  // Divided instead of multiplied: the limit can be any number.
  return delay > 50'000 && (delay - 1) / 50 >= whole_number_at(clock, "limit_ms");
}

/// The failures that cost `player` the match: those of its last call, in the last play.
std::vector<const json*> fatal_failures(const json& failures, const std::string& player) {
  std::vector<const json*> fatal;
  for (auto it = failures.rbegin(); it != failures.rend(); ++it) {
    if (!it->is_object() || text_at(*it, "player_id") != player) continue;
    if (!fatal.empty() &&
        (text_at(*it, "call") != text_at(*fatal.back(), "call") ||
         whole_number_at(*it, "attempt") > whole_number_at(*fatal.back(), "attempt")))
      break;
    // An attempt can have invalid answers and then one time-out as its end, so an earlier time-out
    // with the same number is from an earlier play.
    if (!fatal.empty() &&
        whole_number_at(*it, "attempt") == whole_number_at(*fatal.back(), "attempt") &&
        text_at(*it, "error_code") == kTimedOut)
      break;
    fatal.push_back(&*it);
  }
  return fatal;
}

class ClockCheck {
 public:
  ClockCheck(const AcceptedReport& report, Findings& findings)
      : report_(report), findings_(findings) {}

  void run() {
    auto details = report_.result.find("details");
    if (details == report_.result.end() || !details->is_object()) return;
    std::int64_t replays = whole_number_at(*details, "replays");
    if (replays > kMostReplays)
      fault("clock.replays", "played again " + std::to_string(replays) + " times; 3 are allowed");
    auto failures = details->find("failures");
    if (failures == details->end() || !failures->is_array()) return;
    for (const json& failure : *failures) check_arithmetic(failure);
    auto score = report_.result.find("score");
    if (score == report_.result.end() || !score->is_object()) return;
    const std::string& termination = text_at(*details, "termination");
    if (!termination.starts_with("TIMEOUT_") && termination != "BOTH_FAILED") return;
    const ReadReport read = read_report(report_);
    for (const auto& [player, points] : score->items()) {
      if (read.has_lost(player)) check_loss(*failures, player, replays);
    }
  }

 private:
  void fault(const char* rule, const std::string& text) {
    findings_.fault(report_.place, rule, report_.match_id + ": " + text);
  }

  void check_arithmetic(const json& failure) {
    auto clock = failure.is_object() ? failure.find("clock") : failure.end();
    if (!failure.is_object() || clock == failure.end() || !clock->is_object()) return;
    if (is_marked_void(*clock) != is_void_by_rule(*clock)) {
      fault("clock.arithmetic", "a time-out of " + text_at(failure, "player_id") + " is marked " +
                                    (is_marked_void(*clock) ? "void" : "valid") +
                                    ", but its numbers say otherwise");
    }
  }

  void check_loss(const json& failures, const std::string& player, std::int64_t replays) {
    auto fatal = fatal_failures(failures, player);
    if (fatal.empty() || text_at(*fatal.front(), "error_code") != kTimedOut)
      return;  // not a time-out
    for (const json* failure : fatal) {
      if (text_at(*failure, "error_code") != kTimedOut) continue;
      auto clock = failure->find("clock");
      if (clock == failure->end() || !clock->is_object()) {
        fault("clock.unproven",
              player + " lost by a time-out, without proof that the referee was on time");
      } else if (is_marked_void(*clock) && replays < kMostReplays) {
        fault("clock.void_loss",
              player + " lost by a time-out, though the referee itself was late");
      }
    }
  }

  const AcceptedReport& report_;
  Findings& findings_;
};

}  // namespace

void check_clock(const AcceptedReport& report, Findings& findings) {
  if (report.result.is_object()) ClockCheck(report, findings).run();
}

}  // namespace league::tools::auditor
