#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/audit/log/log_reader.h"
#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {

/// Writes text in colour for a terminal, plain otherwise. Immutable.
class Paint {
 public:
  explicit Paint(bool colour) : colour_(colour) {}
  [[nodiscard]] std::string red(std::string_view text) const { return in("31", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return in("33", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return in("32", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return in("2", text); }
  [[nodiscard]] std::string bold(std::string_view text) const { return in("1", text); }

 private:
  [[nodiscard]] std::string in(std::string_view code, std::string_view text) const;
  bool colour_;
};

/// `text` with blanks up to `width` characters.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);
/// `12:34:56.123456` of an instant.
[[nodiscard]] std::string time_of_day(core::UtcTimestamp time);
/// `412 us`, `3.2 ms`, `2.00 s`.
[[nodiscard]] std::string duration_text(std::int64_t microseconds);

/// A short summary of a body, such as `parity_choice=even` or `status=REJECTED reason=...`;
/// otherwise its beginning.
[[nodiscard]] std::string summarise(const audit::log::LogEntry& entry);

/// What a leniency means and how to do it right; empty for a name that is not known.
[[nodiscard]] std::string_view explain_leniency(std::string_view name);

/// The league message inside the body of a record, wherever it is (protocol §9). If a JSON-RPC
/// error contains no message, its `data` with `error_name` and `reason`; null if there is nothing
/// of the kind.
[[nodiscard]] nlohmann::json message_of(const audit::log::LogEntry& entry);

/// How the message was transported, in terms for its author: `choose_parity`, `handle_message,
/// params.message`, `tools/call choose_parity, params.arguments` of a request; `result`,
/// `result.content[0].text`, `bare body, HTTP 422`, `error -32601` of an answer. Empty if there is
/// no body.
[[nodiscard]] std::string way_of(const audit::log::LogEntry& entry);

}  // namespace league::tools::auditor
