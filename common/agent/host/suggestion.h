#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace league::agent::host {

/// The one of `names` that was probably meant by `word`: at most two letters wrong, missing or too
/// many.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& names);

}  // namespace league::agent::host
