#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

std::vector<std::string> names_of(const Rule& rule) {
  std::istringstream words{std::string(rule.names)};
  return {std::istream_iterator<std::string>(words), {}};
}

/// The rows of docs/audit.md for rules that find faults or miss evidence, or for incidents.
std::string printed(bool of_incidents) {
  std::string text;
  for (const Rule& rule : all_rules()) {
    if ((rule.kind == RuleKind::kIncident) != of_incidents) continue;
    std::string names;
    for (const std::string& name : names_of(rule))
      names += (names.empty() ? "`" : ", `") + name + "`";
    if (rule.kind == RuleKind::kMissing) names += " (missing)";
    text += "| " + names + " | " + std::string(rule.text) + " |";
    if (!of_incidents) text += rule.verifiers == Verifiers::kBoth ? " 2 |" : " |";
    text += "\n";
  }
  return text;
}

TEST(RuleTable, TheDocumentShowsIt) {
  std::string page;
  const char* path = LEAGUE_SOURCE_DIR "/docs/audit.md";
  std::getline(std::ifstream(path), page, '\0');
  std::string expected = page;
  for (const bool of_incidents : {false, true}) {
    const std::string head = of_incidents ? "| rule | what happened |\n|---|---|\n"
                                          : "also in `verify_log.py` |\n|---|---|---|\n";
    const auto begin = expected.find(head);
    ASSERT_NE(begin, std::string::npos) << head;
    const auto end = expected.find("\n\n", begin) + 1;
    expected.replace(begin, end - begin, head + printed(of_incidents));
  }
  if (std::getenv("LEAGUE_WRITE_DOCS") != nullptr) std::ofstream(path) << expected;
  EXPECT_EQ(page, expected) << "LEAGUE_WRITE_DOCS=1 audit_tool_test writes " << path;
}

TEST(RuleTable, ANameHasOneClass) {
  std::set<std::pair<RuleKind, std::string>> known;
  for (const Rule& rule : all_rules()) {
    for (const std::string& name : names_of(rule)) {
      EXPECT_TRUE(known.insert({rule.kind, name}).second) << name;
      EXPECT_EQ(class_of_rule(name), rule.about) << name;
    }
  }
}

}  // namespace
}  // namespace league::tools::auditor
