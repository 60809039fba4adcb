#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/audit/export/export_figures.h"
#include "tools/audit/export/export_output.h"
#include "tools/audit/export/export_source.h"

namespace league::tools::auditor {

/// `text` for the content of an element or a quoted attribute; control characters and invalid UTF-8
/// become U+FFFD.
[[nodiscard]] std::string html_text(std::string_view text);

/// A page that `render` makes; it may replace an existing page of the same league.
[[nodiscard]] OutputFile html_file(const std::filesystem::path& path, const std::string& league,
                                   std::function<std::string()> render);

/// A site: `index.html` (standings, plots, cross table, rounds, the operator's acts), a page for
/// each match and one for each player below `out`. The pages load nothing from elsewhere and run no
/// scripts. `league` and `players` outlive the result.
[[nodiscard]] std::vector<OutputFile> html_files(const ExportedLeague& league,
                                                 const std::vector<PlayerFigures>& players,
                                                 const std::filesystem::path& out);

}  // namespace league::tools::auditor
