#pragma once

#include <string>
#include <string_view>

#include "tools/audit/export/export_source.h"

namespace league::tools::auditor {

/// A mark in each exported page of `league`, by which it is recognised.
[[nodiscard]] std::string page_mark(std::string_view league);

/// The beginning of a page. Texts of HTML are escaped already.
struct PageHead {
  std::string_view league;
  std::string title_html;
  std::string beside_html = {};  ///< beside the title
  std::string headline_html;  ///< below the title
  bool is_alone = false;  ///< The page has its style in itself, since it is handed out alone.
  std::string_view root = "../";  ///< the way to the site's `index.html`
};

/// Everything before the first section. Pages look like the live page, whose style they share.
[[nodiscard]] std::string page_begin(const PageHead& head);
inline constexpr std::string_view kPageEnd = "</main></body></html>\n";

/// A section with a heading; `classes` beside `card`, such as `wide`.
[[nodiscard]] std::string card(std::string_view classes, std::string_view heading,
                               const std::string& html);

/// Id (a link, if `href` is not empty) and name of a player in a row; `more_html` follows them.
[[nodiscard]] std::string agent_row(const std::string& id, std::string_view name,
                                    const std::string& href, const std::string& more_html = {});

/// The page of one match: result, life cycle, transcript.
[[nodiscard]] std::string match_page(const ExportedLeague& league,
                                     const referee::files::MatchRecord& record);

}  // namespace league::tools::auditor
