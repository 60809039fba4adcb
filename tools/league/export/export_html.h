#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/league/export/export_output.h"
#include "tools/league/export/export_source.h"

namespace league::tools {

/// `text` for the content of an element or a quoted attribute; control characters and what is no
/// UTF-8 become U+FFFD.
[[nodiscard]] std::string html_text(std::string_view text);

/// `index.html` (standings, cross table, rounds) and one page for each match below `out`: nothing
/// is loaded from elsewhere, nothing runs. `league` outlives the result.
[[nodiscard]] std::vector<OutputFile> html_files(const ExportedLeague& league,
                                                 const std::filesystem::path& out);

}  // namespace league::tools
