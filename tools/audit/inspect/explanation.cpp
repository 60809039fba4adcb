#include "tools/audit/inspect/explanation.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/audit/facts/reading.h"
#include "tools/audit/facts/record.h"
#include "tools/audit/inspect/audit_text.h"

namespace league::tools::auditor {
namespace {

using audit::log::LogEntry;
using audit::log::LoggedMessage;
using nlohmann::json;

int rank_of(const std::string& party) {
  if (party == "league_manager") return 0;
  return party.starts_with("referee:") ? 1 : 2;
}

std::vector<std::string> parties_of(const std::vector<LoggedMessage>& exchanges) {
  std::set<std::string> all;
  for (const LoggedMessage& exchange : exchanges) {
    all.insert(exchange.main().from());
    all.insert(exchange.main().to());
  }
  std::vector<std::string> parties(all.begin(), all.end());
  std::ranges::stable_sort(parties, {}, rank_of);
  return parties;
}

std::string shown_type(const LoggedMessage& exchange) {
  const LogEntry& entry = exchange.main();
  if (entry.kind == "failure") return "(no answer)";
  if (!entry.message_type.empty()) return entry.message_type;
  return exchange.sent && !exchange.sent->message_type.empty() ? exchange.sent->message_type
                                                               : "(" + entry.kind + ")";
}

/// Takes the verdict on a message: the receiver's, if it has one, otherwise the sender's.
void take_judgement(const LoggedMessage& exchange, ExplainedStep& step) {
  for (const auto* side : {&exchange.received, &exchange.sent}) {
    if (!*side) continue;
    const LogEntry& entry = **side;
    if (step.verdict.empty()) {
      step.verdict = entry.verdict;
      step.fault = entry.fault;
    }
    for (const auto& name : entry.leniencies) {
      if (std::ranges::find(step.leniencies, name) == step.leniencies.end())
        step.leniencies.push_back(name);
    }
    step.places.push_back(entry.file + ":" + std::to_string(entry.line));
  }
}

class StepMaker {
 public:
  StepMaker(const std::vector<LoggedMessage>& exchanges, const LogEnds& log_ends)
      : log_ends_(log_ends) {
    for (const LoggedMessage& exchange : exchanges) {
      for (const auto* side : {&exchange.sent, &exchange.received}) {
        if (!*side) continue;
        auto& origin = origins_.try_emplace((*side)->agent, (*side)->mono_ns).first->second;
        origin = std::min(origin, (*side)->mono_ns);
      }
    }
  }

  ExplainedStep make(const LoggedMessage& exchange) {
    const LogEntry& entry = exchange.main();
    const LogEntry& first = exchange.sent ? *exchange.sent : *exchange.received;
    ExplainedStep step;
    step.time = first.time;
    step.clock = first.agent;
    step.mono_us = (first.mono_ns - origins_[first.agent]) / 1000;
    if (exchange.sent && exchange.received)
      step.way_us = (exchange.received->time.instant() - exchange.sent->time.instant()).count();
    step.from = entry.from();
    step.to = entry.to();
    step.type = shown_type(exchange);
    step.what = summarise(entry);
    step.way = way_of(entry);
    if (entry.kind != "request") step.took_us = entry.elapsed_us;
    step.http_status = entry.http_status;
    step.is_failure = entry.kind == "failure";
    step.raw = entry.raw;
    take_judgement(exchange, step);
    bool both = exchange.sent && exchange.received;
    const std::string& other = entry.outbound ? step.to : step.from;
    if (!both && !step.is_failure && log_ends_.contains(other)) step.only_in = entry.agent;
    return step;
  }

 private:
  const LogEnds& log_ends_;
  std::map<std::string, std::int64_t> origins_;
};

std::string choices_text(const json& choices) {
  std::string text;
  if (!choices.is_object()) return text;
  for (const auto& [player, choice] : choices.items()) {
    if (!text.empty()) text += ", ";
    text += player + " chose " + (choice.is_string() ? choice.get<std::string>() : "nothing");
  }
  return text;
}

/// The result in words, from GAME_OVER, otherwise from the report.
std::vector<std::string> outcome_of(const std::vector<LoggedMessage>& exchanges) {
  for (const char* type : {"GAME_OVER", "MATCH_RESULT_REPORT"}) {
    for (const LoggedMessage& exchange : exchanges) {
      const LogEntry& entry = exchange.main();
      if (entry.message_type != type || entry.kind != "request") continue;
      const json message = message_of(entry);
      if (!message.is_object()) continue;
      const json& game = field_at(message, "game_result");
      const json& report = field_at(message, "result");
      const json& details = field_at(report, "details");
      const json& facts = game.empty() ? details : game;
      std::string winner = text_at(game, "winner_player_id") + text_at(report, "winner");
      std::string text = winner.empty() ? "nobody wins" : winner + " wins";
      // What one agent says, not what happened: the records of the others may contradict it.
      const std::string says = "according to " + entry.from() + ", ";
      text = says + text_at(game, "status") + text_at(details, "termination") + ": " + text;
      if (std::string reason = text_at(game, "reason"); !reason.empty()) text += ". " + reason;
      std::vector<std::string> sentences{text};
      if (const json& number = field_at(facts, "drawn_number"); number.is_number_integer()) {
        sentences.push_back(says + choices_text(field_at(facts, "choices")) + "; the number was " +
                            number.dump());
      }
      return sentences;
    }
  }
  return {"no result: neither GAME_OVER nor a report is in these logs"};
}

/// Who needed a leniency, and whose word that is.
std::string speaker_of(const LogEntry& entry) {
  if (HearsayFilter().is_hearsay(entry)) return "somebody in the name of " + entry.from();
  const std::string teller = according_to(entry, entry.from());
  return teller.empty() ? entry.from() : entry.from() + " according to " + teller;
}

void count_repeats(const std::vector<LoggedMessage>& exchanges, Explanation& explanation) {
  std::map<std::string, int> calls;
  std::map<std::pair<std::string, std::string>, int> leniencies;
  for (const LoggedMessage& exchange : exchanges) {
    const LogEntry& entry = exchange.main();
    if (entry.kind == "request" && entry.message_type != "GAME_ERROR" &&
        !entry.message_type.empty())
      ++calls[entry.from() + " sent " + entry.message_type + " to " + entry.to()];
    for (const auto& name : entry.leniencies) ++leniencies[{speaker_of(entry), name}];
  }
  for (const auto& [call, times] : calls) {
    if (times > 1) explanation.retries.push_back(call + " " + std::to_string(times) + " times");
  }
  for (const auto& [key, times] : leniencies) {
    explanation.leniencies.push_back(
        key.first + ", " + key.second +
        (times > 1 ? ", " + std::to_string(times) + " times: " : ": ") +
        std::string(explain_leniency(key.second)));
  }
}

/// Messages that only one side has, summarised by the agent whose log lacks them.
std::vector<std::string> missing_messages(const std::vector<ExplainedStep>& steps,
                                          const LogEnds& log_ends,
                                          const std::vector<std::string>& parties) {
  struct Missing {
    std::map<std::string, int> types;
    core::UtcTimestamp first;
    bool late_replies = true;
  };
  std::map<std::pair<std::string, std::string>, Missing> missing;
  for (const ExplainedStep& step : steps) {
    if (step.only_in.empty()) continue;
    const std::string& other = step.only_in == step.from ? step.to : step.from;
    auto [found, is_new] = missing.try_emplace({step.only_in, other});
    if (is_new) found->second.first = step.time;
    ++found->second.types[step.type];
    if (!step.took_us || step.only_in != step.from) found->second.late_replies = false;
  }
  std::vector<std::string> sentences;
  for (const auto& [sides, what] : missing) {
    std::string text = "only " + sides.first + " has a record of";
    for (const auto& [type, times] : what.types) {
      text += (&type == &what.types.begin()->first ? " " : ", ") + type;
      if (times > 1) text += " (" + std::to_string(times) + ")";
    }
    core::UtcTimestamp end = log_ends.at(sides.second);
    if (end < what.first) {
      text += ": the log of " + sides.second + " ends before, at " + time_of_day(end) +
              ", as after a crash";
    } else if (what.late_replies) {
      text += ": answers that " + sides.second +
              " did not read, because it had given up waiting or the connection was lost";
    } else {
      text += ", though " + sides.second + " kept a log then";
    }
    sentences.push_back(std::move(text));
  }
  for (const std::string& party : parties) {
    if (!log_ends.contains(party))
      sentences.push_back(party + " keeps no log here: for what it did there is only one witness");
  }
  return sentences;
}

}  // namespace

Explanation explain(const std::string& conversation, const std::vector<LoggedMessage>& exchanges,
                    const LogEnds& log_ends) {
  Explanation explanation;
  explanation.conversation = conversation;
  for (const LoggedMessage& exchange : exchanges) {
    if (explanation.match.empty()) explanation.match = exchange.main().match_id;
  }
  explanation.parties = parties_of(exchanges);
  StepMaker maker(exchanges, log_ends);
  for (const LoggedMessage& exchange : exchanges) explanation.steps.push_back(maker.make(exchange));
  if (!explanation.match.empty()) explanation.outcome = outcome_of(exchanges);
  explanation.causes = explain_failures(exchanges, log_ends);
  count_repeats(exchanges, explanation);
  explanation.one_sided = missing_messages(explanation.steps, log_ends, explanation.parties);
  explanation.clocks = explain_clocks(exchanges);
  return explanation;
}

std::vector<std::pair<std::string, const std::vector<std::string>*>> sections_of(
    const Explanation& explanation) {
  std::vector<std::pair<std::string, const std::vector<std::string>*>> all{
      {"result", &explanation.outcome},
      {"what the sealed logs say about it", &explanation.sealed},
      {"what went wrong, and whose fault it was", &explanation.causes},
      {"repeated calls", &explanation.retries},
      {"leniencies (accepted deviations)", &explanation.leniencies},
      {"seen by one side only", &explanation.one_sided},
      {"clocks", &explanation.clocks}};
  std::erase_if(all, [](const auto& section) { return section.second->empty(); });
  return all;
}

}  // namespace league::tools::auditor
