#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"

namespace league::core {

/// One record of a CSV text.
struct CsvRecord {
  int line = 1;  ///< on which it begins
  std::vector<std::string> fields;  ///< without white space at their ends, unless it was quoted
};

/// The records of a CSV text (RFC 4180) and how its fields are separated.
struct CsvText {
  char separator = ',';
  std::vector<CsvRecord> records;
};

/// Reads what spreadsheets write: fields in quotes may hold separators, line ends and quotes (as
/// two), lines end with LF or CRLF, and the separator is whichever of `,`, `;` and the tab the
/// first line has most of. A byte order mark and records without any content are passed over.
/// Errors begin with `line N: `.
[[nodiscard]] Result<CsvText> parse_csv(std::string_view text);

/// One record with its line end; fields are quoted where they need it.
[[nodiscard]] std::string csv_line(std::span<const std::string> fields, char separator = ',');

}  // namespace league::core
