#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/schema/fields.h"
#include "common/schema/json_fields.h"

/// Reading what anybody can have written: values of any form, files, and texts for a terminal.
namespace league::tools::auditor {

using schema::field_at;
using schema::number_at;
using schema::text_at;

/// The list at `key` of `value`; an empty one if there is none, or `value` is no object.
[[nodiscard]] const nlohmann::json& list_at(const nlohmann::json& value, std::string_view key);
/// The instant that `text` says, in microseconds; nothing if it says none.
[[nodiscard]] std::optional<std::int64_t> instant_in(std::string_view text);
/// An instant that need not be there, as microseconds. Only for reading.
void instant(schema::Fields& a, std::string_view name, std::optional<std::int64_t>& value_us);
/// `P01` of `player:P01`.
[[nodiscard]] std::string id_of(const std::string& agent);

/// At most `limit` bytes of text from a peer; control characters become `?`, so that it cannot
/// manipulate the reader's terminal.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit);
/// The bytes of a file; empty if it cannot be read.
[[nodiscard]] std::string bytes_of(const std::filesystem::path& file);
/// `DIR/logs` if there is one, else DIR.
[[nodiscard]] std::filesystem::path logs_of(const std::filesystem::path& directory);

}  // namespace league::tools::auditor
