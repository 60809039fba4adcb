#include "tools/league/audit_explain.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <vector>

#include "common/audit/conversation.h"
#include "tools/league/audit_body.h"
#include "tools/league/audit_text.h"

namespace league::tools {
namespace {

using audit::Exchange;
using audit::LogEntry;
using nlohmann::json;
using nlohmann::ordered_json;

std::int64_t micros(const LogEntry& entry) {
  return entry.time.instant().time_since_epoch().count();
}

/// What the exchanges of one conversation show, in sentences.
class Explanation {
 public:
  explicit Explanation(const std::vector<Exchange>& exchanges) {
    for (const Exchange& exchange : exchanges) take(exchange);
    for (const auto& [call, times] : calls_) {
      if (times > 1) say(call + " was sent " + std::to_string(times) + " times");
    }
    for (const auto& [name, times] : leniencies_)
      say("leniency " + name + " (" + std::to_string(times) + ")");
    tell_skews();
  }

  [[nodiscard]] const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  void say(std::string sentence) { sentences_.push_back(std::move(sentence)); }

  void take(const Exchange& exchange) {
    const LogEntry& entry = exchange.main();
    if (entry.kind == "request") ++calls_[entry.message_type + " to " + entry.to()];
    for (const auto& name : entry.leniencies) ++leniencies_[name];
    if (!entry.verdict.empty()) {
      const std::string& culprit = entry.from();
      say(culprit + " is at fault: " + entry.verdict + " " + entry.fault);
    }
    take_sides(exchange);
    if (entry.kind == "request") take_result(entry);
  }

  /// Only where both have logs it means something that one of them lacks a message.
  void take_sides(const Exchange& exchange) {
    const LogEntry& entry = exchange.main();
    if (exchange.sent && exchange.received) {
      auto delay = micros(*exchange.received) - micros(*exchange.sent);
      auto& least = delays_[{exchange.sent->agent, exchange.received->agent}];
      least = std::min(least.value_or(std::numeric_limits<std::int64_t>::max()), delay);
    } else if (entry.kind != "failure" && entry.message_type != "") {
      say(entry.message_type + " from " + entry.from() + " to " + entry.to() +
          " is only in the log of " + entry.agent);
    }
  }

  void take_result(const LogEntry& entry) {
    if (entry.message_type != "GAME_OVER" || !told_.insert("over").second) return;
    json message = message_of(entry);
    if (!message.is_object() || !message.contains("game_result")) return;
    const json& result = message["game_result"];
    std::string winner = result.value("winner_player_id", json()).is_string()
                             ? result["winner_player_id"].get<std::string>()
                             : "nobody";
    say("result " + result.value("status", "?") + ", winner " + winner + ": " +
        result.value("reason", ""));
  }

  /// Of two machines: if the shortest ways there and back differ, their clocks do, by half of it.
  void tell_skews() {
    for (const auto& [way, there] : delays_) {
      auto back = delays_.find({way.second, way.first});
      if (way.first > way.second || back == delays_.end()) continue;
      auto skew = (*there - *back->second) / 2;
      say("the clock of " + way.second + " is " + duration_text(skew < 0 ? -skew : skew) +
          (skew < 0 ? " behind" : " ahead of") + " that of " + way.first +
          " (as far as can be seen)");
    }
  }

  std::vector<std::string> sentences_;
  std::map<std::string, int> calls_;
  std::map<std::string, int> leniencies_;
  std::map<std::pair<std::string, std::string>, std::optional<std::int64_t>> delays_;
  std::set<std::string> told_;
};

std::vector<std::string> conversations_of(const std::vector<LogEntry>& entries) {
  std::set<std::string> found;
  for (const auto& entry : entries) found.insert(entry.conversation_id);
  return {found.begin(), found.end()};
}

}  // namespace

int audit_explain(const std::filesystem::path& directory, const std::string& what,
                  AuditOutput options, std::ostream& out, std::ostream& err) {
  auto search = audit::search_logs(logs_of(directory), [&](const LogEntry& entry) {
    return !entry.conversation_id.empty() &&
           (entry.conversation_id == what || entry.match_id == what);
  });
  if (search.files == 0) {
    err << directory.string() << " holds no conversation logs\n";
    return 2;
  }
  if (search.entries.empty()) {
    err << "there is no match or conversation " << what << " in " << directory.string() << '\n';
    return 1;
  }
  auto all = ordered_json::array();
  for (const std::string& conversation : conversations_of(search.entries)) {
    std::vector<LogEntry> entries;
    std::ranges::copy_if(search.entries, std::back_inserter(entries),
                         [&](const auto& entry) { return entry.conversation_id == conversation; });
    Explanation explanation(audit::merge_records(std::move(entries)));
    if (options.json) {
      all.push_back({{"conversation_id", conversation}, {"explanation", explanation.sentences()}});
      continue;
    }
    audit_show(directory, conversation, options, out, err);
    for (const std::string& sentence : explanation.sentences())
      out << "  * " << printable(sentence, 300) << '\n';
  }
  if (options.json) {
    out << ordered_json{{"conversations", std::move(all)}}.dump(-1, ' ', false,
                                                                json::error_handler_t::replace)
        << '\n';
  }
  return 0;
}

}  // namespace league::tools
