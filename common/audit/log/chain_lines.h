#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/audit/record/log_chain.h"

/// What the lines of a chained log say besides records, and whether they may say it. Everything is
/// pure. Source: docs/audit.md.
namespace league::audit::log {

/// Nothing if `object` has no such key, or something other than a whole number from 0.
[[nodiscard]] std::optional<std::uint64_t> number_of(const nlohmann::json& object, const char* key);
/// Whether `key` of `object` is absent, or true or false.
[[nodiscard]] bool has_flag(const nlohmann::json& object, const char* key);
/// Whether each key of a header that we know has the type of docs/audit.md.
[[nodiscard]] bool has_right_types(const nlohmann::json& header);

/// A note, taken apart.
struct NoteLine {
  std::string name;
  std::string content;  ///< a JSON object
  /// Of `seal_delayed`: from and to, in nanoseconds.
  std::optional<std::pair<std::int64_t, std::int64_t>> delay;
};
/// Nothing if a key of the note `line` is missing or has the wrong type.
[[nodiscard]] std::optional<NoteLine> read_note(std::string_view line);

/// Whether `key`, in hexadecimal, has signed `seal`. Upper-case digits would be another way to
/// write the same signature: there is only one.
[[nodiscard]] bool is_signed(const record::Seal& seal, const std::string& key);
/// The first half of a hash in hexadecimal.
[[nodiscard]] std::uint64_t half_of(std::string_view hash);

}  // namespace league::audit::log
