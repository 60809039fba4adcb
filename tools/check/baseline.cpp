#include "tools/check/report.h"

#include <algorithm>
#include <fstream>

namespace league::tools::check {

core::Result<std::set<std::string>> read_baseline(const std::string& file) {
  std::set<std::string> known;
  if (file.empty()) return known;
  std::ifstream in(file);
  if (!in)
    return core::Error{core::ErrorCode::kInvalidFieldValue, "cannot read the baseline " + file, {}};
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find('#'));
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    std::erase_if(line, is_blank);
    if (!line.empty()) known.insert(line);
  }
  return known;
}

void apply_baseline(const std::set<std::string>& known, Report& report) {
  for (const std::string& id : known) {
    const auto found = std::ranges::find_if(
        report.findings, [&id](const Finding& finding) { return finding.info.id == id; });
    if (found == report.findings.end()) {
      report.stale.push_back(id);
      continue;
    }
    const Outcome outcome = found->verdict.outcome;
    if (outcome == Outcome::kFailed || outcome == Outcome::kFlaky) found->is_known = true;
    if (outcome == Outcome::kPassed) report.stale.push_back(id);
  }
}

}  // namespace league::tools::check
