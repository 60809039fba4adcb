#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/schema/schema_validator.h"

namespace league::schema {

/// One step of a JSON pointer: `/` and the key or index with `~` and `/` escaped.
[[nodiscard]] std::string pointer_step(std::string_view key);

/// One finding of the validator: its place, split into steps, and its own text.
struct ValidatorError {
  std::vector<std::string> path;
  std::string description;
};

/// For each finding, says which rule of `schema` is broken and how to follow it; the most useful
/// first, without findings that only repeat an inner fault (`an item failed`).
[[nodiscard]] std::vector<Violation> explain(const nlohmann::json& schema,
                                             const std::vector<ValidatorError>& findings);

/// A violation of `keyword` at `path`, with rule text and example from the schema.
[[nodiscard]] Violation describe_violation(const nlohmann::json& schema,
                                           const std::vector<std::string>& path,
                                           std::string_view keyword);

}  // namespace league::schema
