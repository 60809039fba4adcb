#pragma once

#include <string>
#include <string_view>

#include "tools/audit/export/export_source.h"

namespace league::tools::auditor {

/// A mark in each exported page of `league`, by which it is recognised.
[[nodiscard]] std::string page_mark(std::string_view league);

/// Everything before the first paragraph; `title_html` is escaped already.
[[nodiscard]] std::string page_begin(std::string_view league, const std::string& title_html);
inline constexpr std::string_view kPageEnd = "</body></html>\n";

/// The page of one match: result, life cycle, transcript.
[[nodiscard]] std::string match_page(const ExportedLeague& league,
                                     const referee::files::MatchRecord& record);

}  // namespace league::tools::auditor
