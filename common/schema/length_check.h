#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace league::schema {

/// The maximum length of a string that is matched against a pattern: std::regex recurses once per
/// character and overflows the stack on long strings (30,000 characters crash the process).
inline constexpr std::size_t kMaxPatternLength = 256;
/// Deeper documents are refused, because validation recurses too.
inline constexpr std::size_t kMaxDocumentDepth = 64;

/// A limit that a document exceeded before it was validated.
struct LengthViolation {
  std::string pointer;
  std::string property;
  bool too_deep = false;  ///< otherwise a string is too long
};

/// Keeps documents that would overflow the stack away from the validator. Immutable and
/// thread-safe.
class LengthCheck {
 public:
  /// Collects from `schema` the names of the properties that have a pattern. If a pattern belongs
  /// to no named property (in `additionalProperties`, behind `$ref`), every string is checked.
  explicit LengthCheck(const nlohmann::json& schema);

  [[nodiscard]] std::optional<LengthViolation> check(const nlohmann::json& document) const;

 private:
  void learn(const nlohmann::json& schema, const std::string* property);
  [[nodiscard]] bool guards(std::string_view property) const;

  std::set<std::string, std::less<>> properties_;
  bool guards_all_ = false;
  bool guards_keys_ = false;
};

}  // namespace league::schema
