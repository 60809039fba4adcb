#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

// Changes of a correct message, as data.
namespace league::tools::check {

/// What `$NAME` stands for in the descriptions of changes and of fields.
using Names = std::map<std::string, nlohmann::json, std::less<>>;

/// What a text of a description means: `$NAME` is a value of `names`, `$c*100` is a hundred times
/// the letter c, `$nested*50` is 1 in fifty arrays. Anything else means itself.
[[nodiscard]] nlohmann::json described(const nlohmann::json& value, const Names& names);

/// Makes `changes` to `message`. Their keys are JSON pointers without the first slash, which may
/// end with a `$NAME`. The value
/// `$gone` removes the field, others are set as `described`; the key `x#` adds as many fields x0,
/// x1, ... as its value says.
void change(nlohmann::json& message, const nlohmann::json& changes, const Names& names);

/// The value at `path` of `message`, a JSON pointer without the first slash; null if there is none.
[[nodiscard]] const nlohmann::json& value_at(const nlohmann::json& message,
                                             const std::string& path);

}  // namespace league::tools::check
