#include "tools/audit/inspect/audit_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "common/rpc/dialect_search.h"
#include "tools/audit/facts/record.h"
#include "tools/audit/inspect/audit_text.h"

namespace league::tools::auditor {
namespace {

using audit::log::LogEntry;
using audit::log::LoggedMessage;
using nlohmann::json;

constexpr std::size_t kSlowest = 5;

/// Whether the player sent this, or should have sent it; before registration it has another name.
bool is_from_player(const LogEntry& entry, const std::string& sender) {
  return entry.from() == sender || (entry.agent != sender && !entry.outbound);
}

/// `text` with each number replaced by `#`: texts that differ only in numbers (a duration, a port,
/// a match) count as the same.
std::string without_numbers(const std::string& text) {
  std::string out;
  for (char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit || out.empty() || out.back() != '#') out += is_digit ? '#' : c;
  }
  return out;
}

void note_fault(const LogEntry& entry, const std::map<std::string, std::string>& last_call,
                const std::string& teller, AgentReport& report) {
  std::string type = entry.message_type;
  auto call = last_call.find(entry.conversation_id);
  if (type.empty() && call != last_call.end()) type = call->second;
  report.faults.push_back({entry.time, entry.match_id, entry.conversation_id, type, entry.verdict,
                           entry.fault, teller});
}

void note_leniencies(const LogEntry& entry, const std::string& teller, AgentReport& report) {
  for (const std::string& name : entry.leniencies) {
    if (teller.empty()) {
      ++report.leniencies[name];
    } else {
      ++report.told_leniencies[{teller, name}];
    }
  }
}

/// Whether the refusal belongs to the caller's search for the player's dialect, which is nobody's
/// fault.
bool is_search(const LogEntry& entry) {
  return !entry.verdict.empty() && rpc::is_search_for_dialect(entry.fault);
}

void note_loss(const LogEntry& entry, AgentReport& report) {
  if (entry.message_type != "GAME_OVER" || !report.is_player()) return;
  const json message = message_of(entry);
  const json& result = field_at(message, "game_result");
  if (text_at(result, "status") != "TECHNICAL_LOSS" ||
      text_at(result, "winner_player_id") == report.id())
    return;
  const json& reason = field_at(result.contains("reason") ? result : message, "reason");
  auto known = [&](const TechnicalLoss& loss) {
    return loss.conversation_id == entry.conversation_id;
  };
  if (std::any_of(report.losses.begin(), report.losses.end(), known))
    return;  // GAME_OVER was sent again
  report.losses.push_back({entry.time, entry.match_id, entry.conversation_id,
                           reason.is_string() ? reason.get<std::string>() : "no reason given"});
}

void note_answer(const LogEntry& entry, AgentReport& report) {
  if (entry.kind == "request") {
    ++report.requests;
    return;
  }
  if (entry.kind == "reply") ++report.answers;
  if (!entry.elapsed_us) return;
  report.slowest.push_back({*entry.elapsed_us, entry.message_type, entry.match_id});
  std::stable_sort(report.slowest.begin(), report.slowest.end(),
                   [](const auto& a, const auto& b) { return a.elapsed_us > b.elapsed_us; });
  if (report.slowest.size() > kSlowest) report.slowest.pop_back();
}

std::string type_or_kind(const LogEntry& entry) {
  if (entry.kind == "failure") return "(no answer)";
  return printable(entry.message_type.empty() ? "(" + entry.kind + ")" : entry.message_type, 40);
}

std::string brought(const LogEntry& entry) {
  const std::string way = way_of(entry);
  return way.empty() ? way : "  [" + printable(way, 80) + "]";
}

void print_messages(const std::string& sender, const std::vector<LoggedMessage>& exchanges,
                    const Paint& paint, std::ostream& out) {
  std::size_t type_width = 4;
  std::size_t other_width = 4;
  auto other = [&](const LogEntry& entry) {
    return printable(entry.agent == sender ? entry.peer : entry.agent, 40);
  };
  for (const LoggedMessage& exchange : exchanges) {
    type_width = std::max(type_width, type_or_kind(exchange.main()).size());
    other_width = std::max(other_width, other(exchange.main()).size());
  }
  for (const LoggedMessage& exchange : exchanges) {
    const LogEntry& entry = exchange.main();
    bool from_player = is_from_player(entry, sender);
    std::string type = padded(type_or_kind(entry), type_width);
    std::string took = from_player && entry.kind != "request" && entry.elapsed_us
                           ? duration_text(*entry.elapsed_us)
                           : "";
    out << paint.dim(time_of_day(exchange.time())) << "  "
        << (from_player ? "sent to   " : "got from  ") << padded(other(entry), other_width) << "  "
        << padded(printable(entry.match_id, 20), 7) << "  "
        << (entry.verdict.empty() || is_search(entry) ? type : paint.red(type)) << "  "
        << padded(took, 8) << "  " << summarise(entry) << paint.dim(brought(entry)) << '\n';
    if (entry.verdict.empty() || is_search(entry)) continue;
    out << std::string(17, ' ') << paint.red(entry.verdict + "  " + printable(entry.fault, 400))
        << '\n';
  }
}

std::string times_text(std::uint64_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

std::string told_by(const std::string& teller) {
  return teller.empty() ? teller : " (according to " + printable(teller, 40) + ")";
}

/// Prints one line for each reason, with all matches that were lost for that reason.
void print_losses(const AgentReport& report, const Paint& paint, std::ostream& out) {
  std::vector<const TechnicalLoss*> firsts;
  std::map<std::string, std::vector<const TechnicalLoss*>> by_reason;
  for (const TechnicalLoss& loss : report.losses) {
    auto& same = by_reason[without_numbers(loss.reason)];
    if (same.empty()) firsts.push_back(&loss);
    same.push_back(&loss);
  }
  for (const TechnicalLoss* first : firsts) {
    const auto& same = by_reason[without_numbers(first->reason)];
    out << paint.red("technical loss") << "  " << times_text(same.size()) << ", in";
    for (const TechnicalLoss* loss : same)
      out << (loss == first ? " " : ", ") << printable(loss->match_id, 20);
    out << ": " << printable(first->reason, 400);
    if (!first->conversation_id.empty())
      out << "  (league audit show DIR " << printable(first->conversation_id, 100) << ")";
    out << '\n';
  }
}

void print_wrong(const AgentReport& report, const Paint& paint, std::ostream& out) {
  if (report.faults.empty() && report.losses.empty()) out << paint.green("no faults") << '\n';
  for (const auto& [fault, count] : distinct_faults(report)) {
    out << paint.red("fault " + fault.code) << "  " << times_text(count) << ", first "
        << time_of_day(fault.time) << (fault.match_id.empty() ? "" : " in ")
        << printable(fault.match_id, 20) << "  ";
    // Most texts already begin with the message type.
    if (!fault.text.starts_with(fault.message_type))
      out << printable(fault.message_type, 40) << ": ";
    out << printable(fault.text, 400) << told_by(fault.according_to) << '\n';
  }
  print_losses(report, paint, out);
  for (const StateEntry& entry : report.states) {
    out << paint.yellow("state") << "  " << time_of_day(entry.time) << "  " << entry.state << "  "
        << printable(entry.reason, 40) << (entry.detail.empty() ? "" : ": ")
        << printable(entry.detail, 400) << '\n';
  }
  if (report.searches > 0) {
    out << paint.dim("note") << "  " << report.searches
        << " answers only showed how the player wants to be called: each caller tries the styles "
           "of docs/protocol.md until one is known\n";
  }
  for (const auto& [name, count] : report.leniencies) {
    out << paint.yellow("leniency") << "  " << padded(name, 25) << "  " << times_text(count) << "  "
        << explain_leniency(name) << '\n';
  }
  for (const auto& [key, count] : report.told_leniencies) {
    out << paint.yellow("leniency") << "  " << padded(key.second, 25) << "  " << times_text(count)
        << "  " << explain_leniency(key.second) << told_by(key.first) << '\n';
  }
  if (report.hearsay > 0) {
    out << paint.dim("note") << "  " << report.hearsay
        << " messages in this player's name are left out, because their sender showed no valid "
           "token: league audit find --hearsay shows them\n";
  }
}

}  // namespace

AgentReport report_on(const std::string& sender, const std::vector<LoggedMessage>& exchanges) {
  AgentReport report;
  report.sender = sender;
  std::map<std::string, std::string> last_call;
  for (const LoggedMessage& exchange : exchanges) {
    const LogEntry& entry = exchange.main();
    if (is_from_player(entry, sender)) {
      if (is_search(entry)) {
        ++report.searches;
        continue;
      }
      const std::string teller = according_to(entry, sender);
      if (!entry.verdict.empty()) note_fault(entry, last_call, teller, report);
      note_leniencies(entry, teller, report);
      note_answer(entry, report);
    } else {
      if (entry.kind == "request") ++report.calls;
      if (entry.kind == "request") last_call[entry.conversation_id] = entry.message_type;
      note_loss(entry, report);
    }
  }
  return report;
}

std::vector<DistinctFault> distinct_faults(const AgentReport& report) {
  std::vector<DistinctFault> distinct;
  std::map<std::string, std::size_t> known;
  for (const PlayerFault& fault : report.faults) {
    auto [place, is_new] =
        known.try_emplace(fault.according_to + " " + fault.code + " " + fault.message_type + " " +
                              without_numbers(fault.text),
                          distinct.size());
    if (is_new) distinct.push_back({fault, 0});
    ++distinct[place->second].count;
  }
  return distinct;
}

void print_report(const AgentReport& report, const std::vector<LoggedMessage>& exchanges,
                  const Paint& paint, std::ostream& out) {
  out << paint.bold((report.is_player() ? "player " : "referee ") + report.id()) << "\n\n";
  print_messages(report.sender, exchanges, paint, out);
  out << '\n';
  print_wrong(report, paint, out);
  out << '\n'
      << "calls received: " << report.calls << ", answered: " << report.answers
      << "; requests of its own: " << report.requests << "; faults: " << report.faults.size()
      << "; technical losses: " << report.losses.size() << '\n';
  for (const TimedAnswer& answer : report.slowest) {
    out << (&answer == &report.slowest.front() ? "slowest  " : "         ")
        << padded(duration_text(answer.elapsed_us), 8) << "  "
        << printable(answer.message_type.empty() ? "(reply)" : answer.message_type, 40) << "  "
        << printable(answer.match_id, 20) << '\n';
  }
}

namespace {

json messages_json(const std::vector<LoggedMessage>& exchanges) {
  json messages = json::array();
  for (const LoggedMessage& exchange : exchanges) {
    const LogEntry& entry = exchange.main();
    messages.push_back({{"time", exchange.time().to_log()},
                        {"from", entry.from()},
                        {"to", entry.to()},
                        {"kind", entry.kind},
                        {"message_type", entry.message_type},
                        {"match_id", entry.match_id},
                        {"way", way_of(entry)},
                        {"verdict", entry.verdict},
                        {"raw", entry.raw}});
  }
  return messages;
}

json leniencies_json(const AgentReport& report) {
  json leniencies = json::array();
  auto add = [&](const std::string& name, std::uint64_t count, const std::string& teller) {
    leniencies.push_back({{"name", name},
                          {"count", count},
                          {"text", explain_leniency(name)},
                          {"according_to", teller}});
  };
  for (const auto& [name, count] : report.leniencies) add(name, count, "");
  for (const auto& [key, count] : report.told_leniencies) add(key.second, count, key.first);
  return leniencies;
}

}  // namespace

void describe(schema::Fields& a, PlayerFault& fault) {
  a.required("time", fault.time.to_log());
  a.defaulted("match_id", fault.match_id, "conversation_id", fault.conversation_id, "message_type",
              fault.message_type, "code", fault.code, "text", fault.text, "according_to",
              fault.according_to);
}

void describe(schema::Fields& a, DistinctFault& fault) {
  const PlayerFault& first = fault.first;
  a.required("first_time", first.time.to_log());
  a.defaulted("count", fault.count, "first_match_id", first.match_id, "message_type",
              first.message_type, "code", first.code, "text", first.text, "according_to",
              first.according_to);
}

void describe(schema::Fields& a, TechnicalLoss& loss) {
  a.required("time", loss.time.to_log());
  a.defaulted("match_id", loss.match_id, "conversation_id", loss.conversation_id, "reason",
              loss.reason);
}

void describe(schema::Fields& a, StateEntry& entry) {
  a.required("time", entry.time.to_log());
  a.defaulted("state", entry.state, "reason", entry.reason, "detail", entry.detail);
}

void describe(schema::Fields& a, TimedAnswer& answer) {
  a.defaulted("elapsed_us", answer.elapsed_us, "message_type", answer.message_type, "match_id",
              answer.match_id);
}

json to_json(const AgentReport& report, const std::vector<LoggedMessage>& exchanges) {
  return schema::object_to_json([&](schema::Fields& a) {
    a.required(report.is_player() ? "player_id" : "referee_id", report.id());
    a.defaulted("calls", report.calls, "answers", report.answers, "requests", report.requests,
                "faults", report.faults, "distinct_faults", distinct_faults(report),
                "technical_losses", report.losses, "states", report.states, "messages",
                messages_json(exchanges), "slowest", report.slowest, "leniencies",
                leniencies_json(report), "searches_for_dialect", report.searches, "hearsay",
                report.hearsay);
  });
}

}  // namespace league::tools::auditor
