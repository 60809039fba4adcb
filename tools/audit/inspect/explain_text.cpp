#include "tools/audit/inspect/explain_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "common/schema/fields.h"

namespace league::tools::auditor {
namespace {

constexpr std::size_t kLane = 28;  // columns from one party to the next
constexpr std::size_t kTimesColumns = 36;  // columns of the times

std::size_t lane_of(const Explanation& explanation, const std::string& party) {
  auto found = std::ranges::find(explanation.parties, party);
  return static_cast<std::size_t>(found - explanation.parties.begin());
}

/// `|--- TYPE -->|`, and `|` for the parties that it does not concern.
std::string arrow(const Explanation& explanation, const ExplainedStep& step) {
  std::string row(kLane * (explanation.parties.size() - 1) + 1, ' ');
  for (std::size_t i = 0; i < explanation.parties.size(); ++i) row[i * kLane] = '|';
  std::size_t from = lane_of(explanation, step.from) * kLane;
  std::size_t to = lane_of(explanation, step.to) * kLane;
  std::size_t left = std::min(from, to);
  std::size_t right = std::max(from, to);
  if (left == right) return row;
  char line = step.is_failure ? '.' : step.only_in.empty() ? '-' : '~';
  for (std::size_t i = left + 1; i < right; ++i) row[i] = line;
  if (step.is_failure) {
    row[(left + right) / 2] = 'X';
  } else {
    row[from < to ? right - 1 : left + 1] = from < to ? '>' : '<';
  }
  std::string type = printable(step.type, kLane - 4);
  row.replace(left + (right - left - type.size() + 1) / 2, type.size(), type);
  return row;
}

/// `17:14:35.275112 +12.345 ms 402 us`: wall clock, monotonic clock, transit time.
std::string times(const ExplainedStep& step) {
  std::string mono = "+" + duration_text(step.mono_us);
  std::string way = step.way_us ? duration_text(*step.way_us) : "";
  return padded(time_of_day(step.time), 17) + padded(mono, 10) + padded(way, 9);
}

std::string heading(const Explanation& explanation) {
  std::string row = padded("wall clock", 17) + padded("monotonic", 10) + padded("transit", 9);
  for (const auto& party : explanation.parties) row += padded(printable(party, kLane - 3), kLane);
  return row;
}

void print_step(const Explanation& explanation, const ExplainedStep& step, const Paint& paint,
                std::ostream& out) {
  std::string row = arrow(explanation, step);
  std::string took = step.took_us ? "  after " + duration_text(*step.took_us) : "";
  out << paint.dim(times(step)) << (step.verdict.empty() ? row : paint.red(row)) << took;
  if (!step.is_failure && !step.what.empty()) out << "  " << printable(step.what, 60);
  if (!step.way.empty()) out << paint.dim("  [" + printable(step.way, 80) + "]");
  out << '\n';
  const std::string indent(kTimesColumns, ' ');
  if (!step.verdict.empty())
    out << indent << paint.red(step.verdict + " " + printable(step.fault, 300)) << '\n';
  if (!step.only_in.empty())
    out << indent << paint.yellow("only in the log of " + printable(step.only_in, 70)) << '\n';
  std::string overlooked;
  for (const auto& name : step.leniencies)
    overlooked += (overlooked.empty() ? "leniency: " : ", ") + printable(name, 60);
  if (!overlooked.empty()) out << indent << paint.yellow(overlooked) << '\n';
}

void print_sections(const Explanation& explanation, const Paint& paint, std::ostream& out) {
  for (const auto& [name, sentences] : sections_of(explanation)) {
    out << '\n' << paint.bold(name) << '\n';
    for (const auto& sentence : *sentences) out << "  * " << printable(sentence, 600) << '\n';
  }
}

}  // namespace

void print_explanation(const Explanation& explanation, const Paint& paint, std::ostream& out) {
  if (explanation.steps.empty()) {
    out << paint.bold("match " + printable(explanation.match, 40)) << ": no messages\n";
    return print_sections(explanation, paint, out);
  }
  out << paint.bold("conversation " + printable(explanation.conversation, 100));
  if (!explanation.match.empty()) out << ", match " << printable(explanation.match, 40);
  out << ", " << explanation.steps.size() << " messages";
  out << ", " << explanation.steps.front().time.to_log().substr(0, 10) << " UTC";
  out << "\n\n" << paint.dim(heading(explanation)) << '\n';
  for (const auto& step : explanation.steps) print_step(explanation, step, paint, out);
  print_sections(explanation, paint, out);
  out << '\n'
      << paint.dim(
             "transit: from the sender's wall clock to the receiver's; monotonic: since the first "
             "record of the agent whose clock it is; ~~~ one side only; ..X.. no answer")
      << '\n';
}

void describe(schema::Fields& a, ExplainedStep& step) {
  a.required("time", step.time.to_log());
  a.defaulted("mono_us", step.mono_us, "clock", step.clock, "from", step.from, "to", step.to,
              "type", step.type, "way", step.way, "leniencies", step.leniencies);
  a.optional("way_us", step.way_us);
  a.optional("took_us", step.took_us);
  a.filled("verdict", step.verdict);
  a.filled("fault", step.fault);
  a.filled("only_in", step.only_in);
  a.defaulted("raw", step.raw, "records", step.places);
}

void describe(schema::Fields& a, Explanation& of) {
  a.defaulted("conversation_id", of.conversation, "match_id", of.match, "parties", of.parties,
              "outcome", of.outcome, "fairness", of.fairness, "sealed", of.sealed, "causes",
              of.causes, "retries", of.retries, "leniencies", of.leniencies, "one_sided",
              of.one_sided, "clocks", of.clocks, "messages", of.steps);
}

nlohmann::ordered_json json_of_explanation(const Explanation& explanation) {
  return nlohmann::ordered_json::parse(schema::to_text(explanation));
}

}  // namespace league::tools::auditor
