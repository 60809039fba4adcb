#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/audit/inspect/audit_text.h"
#include "tools/audit/inspect/explanation.h"

namespace league::tools::auditor {

/// A sequence diagram for a terminal: a column per party, an arrow per message, below it what was
/// wrong with it; then the sentences.
void print_explanation(const Explanation& explanation, const Paint& paint, std::ostream& out);

/// The explanations as one self-contained HTML page without scripts. All text from peers is
/// escaped.
[[nodiscard]] std::string html_of(const std::vector<Explanation>& explanations,
                                  const std::string& title);

/// The explanation as JSON, for machines.
[[nodiscard]] nlohmann::ordered_json json_of_explanation(const Explanation& explanation);

}  // namespace league::tools::auditor
