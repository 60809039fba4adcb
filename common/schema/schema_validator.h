#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"

namespace league::schema {

/// One way in which a document breaks its schema.
struct Violation {
  std::string pointer;  ///< JSON pointer of the offending value; of the absent one for `required`
  std::string keyword;  ///< the schema's rule: `required`, `type`, `enum`, `pattern`, `maxLength`,
                        ///< `minimum`, …
  std::string
      property;  ///< the last named property on the way: `version` for `/player_meta/version`
  std::string text;  ///< the rule with its value, for people: `must be one of "even", "odd"`.
                     ///< Quotes no document.
  bool is_required = false;  ///< the schema requires the property
  std::string example;  ///< a right value as JSON, from the schema's `examples`, `const` or `enum`;
                        ///< perhaps empty
};

/// A compiled draft-07 schema. Immutable; validate() may be called from any number of threads at
/// once. Copies share.
class CompiledSchema {
 public:
  /// Compiles `document` and every pattern in it. Fails with kInternalError and a text that starts
  /// with `name` if it is no draft-07 schema (`$schema` must say so), refers to another document,
  /// uses `format`, or has a bad pattern.
  [[nodiscard]] static core::Result<CompiledSchema> compile(const nlohmann::json& document,
                                                            std::string_view name);

  /// Whether the document follows the schema, without an explanation.
  [[nodiscard]] bool is_valid(const nlohmann::json& document) const;
  /// The most useful violation, or nothing for a valid document. A string longer than 256 bytes is
  /// refused before any pattern could see it.
  [[nodiscard]] std::optional<Violation> validate(const nlohmann::json& document) const;
  /// All violations that were found, the most useful first.
  [[nodiscard]] std::vector<Violation> violations(const nlohmann::json& document) const;

 private:
  class Impl;
  explicit CompiledSchema(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace league::schema
