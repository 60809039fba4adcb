#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"

namespace league::core {

/// One record of a CSV text.
struct CsvRecord {
  int line = 1;  ///< the line on which it begins
  std::vector<std::string> fields;  ///< without surrounding white space, unless quoted
};

/// The records of a CSV text (RFC 4180), and the separator of its fields.
struct CsvText {
  char separator = ',';
  std::vector<CsvRecord> records;
};

/// Reads the CSV files that spreadsheets write: quoted fields may contain separators, line ends and
/// (doubled) quotes, lines end with LF or CRLF, and the separator is whichever of `,`, `;` and the
/// tab occurs most often in the first line, unless that line is `sep=;`. Also text in UTF-16 with a
/// byte order mark, and text whose lines end with CR. Byte order marks and empty records are
/// skipped. Errors begin with `line N: `.
[[nodiscard]] Result<CsvText> parse_csv(std::string_view text);

/// One record with its line end; fields are quoted where they need it.
[[nodiscard]] std::string csv_line(std::span<const std::string> fields, char separator = ',');

}  // namespace league::core
