#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"
#include "common/core/text.h"
#include "tools/league/up/league_progress.h"

namespace league::tools {

/// The number of terminal columns of UTF-8 text: wide characters two, combining ones none.
[[nodiscard]] std::size_t display_width(std::string_view text);
using core::safe_text;
/// Prints `error: …` on stderr, each line made safe for a terminal, and returns the exit code.
int fail(std::string_view message, int exit_code = 2);
int fail(const core::Error& error, int exit_code = 2);
/// Prints a value on stdout, on one line for machines.
void print_json(const nlohmann::json& value);
void print_json(const nlohmann::ordered_json& value);
/// Exactly `width` columns: cut with `~` at the end, or filled with blanks. `text` must be safe.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

/// The lines of a standings table with a heading, at most `width` columns wide and with at most
/// `limit` rows; a last line says how many more there are.
[[nodiscard]] std::vector<std::string> table_lines(const std::vector<TableRow>& rows,
                                                   std::size_t width, std::size_t limit,
                                                   std::size_t total);

/// `[######......]` of `width` columns.
[[nodiscard]] std::string progress_bar(int done, int total, std::size_t width);
/// `0.42`, `12.3`, `1512`: three significant digits, or all digits before the point.
[[nodiscard]] std::string short_number(double value);

}  // namespace league::tools
