#include "tools/audit/inspect/audit_commands.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <tuple>
#include <vector>

#include "common/audit/log/log_reader.h"
#include "common/rpc/json_text.h"
#include "tools/audit/evidence/audit_text.h"
#include "tools/audit/evidence/json_fields.h"

namespace league::tools::auditor {
namespace {

using audit::log::LogEntry;
using nlohmann::ordered_json;

struct LogContent {
  std::string name;
  std::string agent;
  std::vector<LogEntry> entries;
};

struct LogDifference {
  std::optional<std::size_t> first_line;  ///< of two copies: the first line that differs
  std::vector<LogEntry> only_a;
  std::vector<LogEntry> only_b;
  std::vector<std::pair<LogEntry, LogEntry>> differ;
  std::size_t equal = 0;
  [[nodiscard]] bool is_none() const {
    return !first_line && only_a.empty() && only_b.empty() && differ.empty();
  }
};

core::Result<LogContent> read_content(const std::filesystem::path& file, const std::string& match) {
  LogContent content{.name = file.string(), .agent = {}, .entries = {}};
  auto read = audit::log::read_log(file, [&](LogEntry entry) {
    content.agent = entry.agent;
    if (match.empty() || entry.match_id == match) content.entries.push_back(std::move(entry));
  });
  if (!read) return read.error();
  return content;
}

const std::string& body_key(const LogEntry& entry) {
  return entry.raw_sha256.empty() ? entry.raw : entry.raw_sha256;
}

/// Removes pairs of entries with equal keys from both lists and returns them. Among several with
/// the same key, the first ones are paired first.
template <typename Key>
std::vector<std::pair<LogEntry, LogEntry>> take_pairs(std::vector<LogEntry>& a,
                                                      std::vector<LogEntry>& b, Key key) {
  std::multimap<decltype(key(a.front())), std::size_t> waiting;
  for (std::size_t i = 0; i < b.size(); ++i) waiting.emplace(key(b[i]), i);
  std::vector<std::pair<LogEntry, LogEntry>> pairs;
  std::vector<bool> used(b.size());
  std::vector<LogEntry> rest_a;
  for (LogEntry& entry : a) {
    auto found = waiting.find(key(entry));
    if (found == waiting.end()) {
      rest_a.push_back(std::move(entry));
      continue;
    }
    used[found->second] = true;
    pairs.emplace_back(std::move(entry), b[found->second]);
    waiting.erase(found);
  }
  std::vector<LogEntry> rest_b;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!used[i]) rest_b.push_back(std::move(b[i]));
  }
  a = std::move(rest_a);
  b = std::move(rest_b);
  return pairs;
}

/// The number of the first line in which the files differ; nothing if they are equal.
std::optional<std::size_t> first_difference(const std::string& a, const std::string& b) {
  std::ifstream one(a, std::ios::binary);
  std::ifstream other(b, std::ios::binary);
  std::string line_a;
  std::string line_b;
  for (std::size_t number = 1;; ++number) {
    bool more_a = static_cast<bool>(std::getline(one, line_a));
    bool more_b = static_cast<bool>(std::getline(other, line_b));
    if (!more_a && !more_b) return std::nullopt;
    if (more_a != more_b || line_a != line_b) return number;
  }
}

/// Compares two copies of one log, in which records with the same number must be equal.
LogDifference compare_copies(LogContent a, LogContent b, bool whole) {
  LogDifference difference;
  if (whole) difference.first_line = first_difference(a.name, b.name);
  auto same = [](const LogEntry& entry) {
    return std::tuple(entry.seq, entry.outbound, entry.kind, body_key(entry));
  };
  difference.equal = take_pairs(a.entries, b.entries, same).size();
  difference.differ =
      take_pairs(a.entries, b.entries, [](const LogEntry& entry) { return entry.seq; });
  difference.only_a = std::move(a.entries);
  difference.only_b = std::move(b.entries);
  return difference;
}

void keep_conversations_with(const std::string& peer, std::vector<LogEntry>& entries) {
  std::erase_if(entries, [&](const LogEntry& entry) {
    return entry.peer != peer || entry.kind == "failure" || body_key(entry).empty();
  });
}

/// Compares the logs of two agents: each must have received what the other one sent, byte by byte.
LogDifference compare_sides(LogContent a, LogContent b) {
  keep_conversations_with(b.agent, a.entries);
  keep_conversations_with(a.agent, b.entries);
  LogDifference difference;
  auto same = [&a](const LogEntry& entry) {
    return std::tuple(entry.from() == a.agent, entry.kind, body_key(entry));
  };
  difference.equal = take_pairs(a.entries, b.entries, same).size();
  difference.differ = take_pairs(a.entries, b.entries, [&a](const LogEntry& entry) {
    return std::tuple(entry.from() == a.agent, entry.kind, entry.conversation_id,
                      entry.message_type);
  });
  difference.only_a = std::move(a.entries);
  difference.only_b = std::move(b.entries);
  return difference;
}

std::string described(const LogEntry& entry) {
  const std::string& type = entry.message_type.empty() ? entry.kind : entry.message_type;
  return entry.file + ":" + std::to_string(entry.line) + "  " + time_of_day(entry.time) + "  " +
         printable(entry.from(), 40) + " -> " + printable(entry.to(), 40) + "  " +
         printable(type, 40) + "  " + printable(entry.conversation_id, 60);
}

void print_difference(const LogDifference& difference, const Paint& paint, std::ostream& out) {
  if (difference.first_line)
    out << paint.bold("the files differ from line " + std::to_string(*difference.first_line))
        << '\n';
  for (const auto& entry : difference.only_a)
    out << paint.red("only in the first   ") << described(entry) << '\n';
  for (const auto& entry : difference.only_b)
    out << paint.red("only in the second  ") << described(entry) << '\n';
  for (const auto& [a, b] : difference.differ) {
    out << paint.red("other bytes         ") << described(a) << "  " << a.raw_sha256.substr(0, 16)
        << "...\n"
        << "                    " << described(b) << "  " << b.raw_sha256.substr(0, 16) << "...\n";
  }
  out << difference.equal << " messages are in both; " << difference.only_a.size()
      << " only in the first, " << difference.only_b.size() << " only in the second, "
      << difference.differ.size() << " with other bytes\n";
}

ordered_json json_with_hash(const LogEntry& entry) {
  auto row = json_of_record(entry);
  row["seq"] = entry.seq;
  row["raw_sha256"] = entry.raw_sha256;
  return row;
}

ordered_json json_of_records(const std::vector<LogEntry>& entries) {
  auto list = ordered_json::array();
  for (const auto& entry : entries) list.push_back(json_with_hash(entry));
  return list;
}

ordered_json json_of_difference(const LogDifference& difference) {
  auto differ = ordered_json::array();
  for (const auto& [a, b] : difference.differ)
    differ.push_back({{"first", json_with_hash(a)}, {"second", json_with_hash(b)}});
  ordered_json all = {{"equal", difference.equal},
                      {"only_first", json_of_records(difference.only_a)},
                      {"only_second", json_of_records(difference.only_b)},
                      {"differ", std::move(differ)}};
  all["first_different_line"] =
      difference.first_line ? ordered_json(*difference.first_line) : ordered_json();
  return all;
}

}  // namespace

int audit_diff(const std::filesystem::path& first, const std::filesystem::path& second,
               const DiffOptions& options, std::ostream& out, std::ostream& err) {
  auto a = read_content(first, options.match);
  auto b = read_content(second, options.match);
  for (const auto* read : {&a, &b}) {
    if (*read) continue;
    err << read->error().message << '\n';
    return 2;
  }
  LogDifference difference =
      a->agent == b->agent ? compare_copies(std::move(*a), std::move(*b), options.match.empty())
                           : compare_sides(std::move(*a), std::move(*b));
  if (options.output.json) {
    out << rpc::ordered_json_text(json_of_difference(difference)) << '\n';
  } else {
    print_difference(difference, Paint(options.output.colour), out);
  }
  return difference.is_none() ? 0 : 1;
}

}  // namespace league::tools::auditor
