#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace league::schema {

/// The longest string that a pattern may see: std::regex recurses once per character and overflows
/// the stack on long ones (30,000 characters end the process).
inline constexpr std::size_t kMaxPatternLength = 256;
/// Deeper documents are refused, because validation recurses too.
inline constexpr std::size_t kMaxDocumentDepth = 64;

/// What a document broke before it was even validated.
struct LengthViolation {
  std::string pointer;
  std::string property;
  bool too_deep = false;  ///< otherwise a string is too long
};

/// Keeps dangerous documents away from the validator. Immutable and thread-safe.
class LengthCheck {
 public:
  /// Learns from `schema` the names of the properties whose strings a pattern sees. A pattern that
  /// no property name governs (in `additionalProperties`, behind `$ref`) makes it guard every
  /// string.
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
