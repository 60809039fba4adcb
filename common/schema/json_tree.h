#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/schema/parse_json.h"

namespace league::schema {

enum class JsonType : std::uint8_t {
  kNull,
  kBoolean,
  kInteger,  ///< below zero
  kUnsigned,
  kFloat,  ///< written with a fraction or an exponent
  kString,
  kArray,
  kObject,
};

/// One value of a JsonTree and everything inside it; valid as long as the tree. As cheap as a
/// pointer. A default node is no value: it has no type that is asked for, and no members.
class JsonNode {
 public:
  JsonNode() = default;

  [[nodiscard]] explicit operator bool() const { return value_ != nullptr; }
  [[nodiscard]] bool is(JsonType type) const { return value_ != nullptr && value_->type == type; }
  [[nodiscard]] bool is_number() const {
    return value_ != nullptr && value_->type >= JsonType::kInteger &&
           value_->type <= JsonType::kFloat;
  }
  /// Whether JSON Schema counts it as an integer: `1.0` is one.
  [[nodiscard]] bool is_whole() const;

  /// Empty for what is no string.
  [[nodiscard]] std::string_view text() const {
    return is(JsonType::kString) ? value_->text : std::string_view();
  }
  /// False for what is no boolean.
  [[nodiscard]] bool truth() const { return is(JsonType::kBoolean) && value_->truth; }
  /// Zero for what is no number.
  [[nodiscard]] double number() const;
  /// The number, where it is an integer of 64 bits that was written without fraction and exponent.
  [[nodiscard]] std::optional<std::int64_t> integer() const;

  /// Members of an object or elements of an array; 0 for everything else.
  [[nodiscard]] std::size_t size() const { return value_ != nullptr ? value_->count : 0; }
  /// The member of that name; no value if there is none, or this is no object.
  [[nodiscard]] JsonNode find(std::string_view name) const;
  /// The name of this member; empty for what is none.
  [[nodiscard]] std::string_view name() const {
    return value_ != nullptr ? value_->name : std::string_view();
  }

  /// Goes over members or elements in the order of the text: `for (JsonNode child : node)`.
  class Children;
  [[nodiscard]] Children begin() const;
  [[nodiscard]] Children end() const;

  /// A copy that outlives the tree; null for no value.
  [[nodiscard]] nlohmann::json to_json() const;

 private:
  friend class JsonTree;
  /// The values of a document stand in one array, each before its children.
  struct Value {
    JsonType type = JsonType::kNull;
    std::uint32_t size = 1;  ///< of values in the array: this one and all inside it
    std::uint32_t count = 0;  ///< of children
    std::string_view name = {};
    union {
      std::string_view text = {};
      bool truth;
      std::int64_t integer;
      std::uint64_t whole;
      double real;
    };
  };
  explicit JsonNode(const Value* value) : value_(value) {}

  const Value* value_ = nullptr;
};

class JsonNode::Children {
 public:
  explicit Children(const Value* at) : at_(at) {}
  JsonNode operator*() const { return JsonNode(at_); }
  Children& operator++() {
    at_ += at_->size;
    return *this;
  }
  bool operator==(const Children&) const = default;

 private:
  const Value* at_;
};

inline JsonNode::Children JsonNode::begin() const {
  return Children(value_ != nullptr ? value_ + 1 : nullptr);
}
inline JsonNode::Children JsonNode::end() const {
  return Children(value_ != nullptr ? value_ + value_->size : nullptr);
}

/// A JSON document as it was parsed, for readers that take from it what they need: no node is
/// allocated for itself and no text is copied. Not thread-safe; it may move between threads.
class JsonTree {
 public:
  /// Parses a document that follows every rule of parse_json. Nothing for any other document, and
  /// for a few valid but rare ones (integers beyond 64 bits): parse_json reads those, or says what
  /// is wrong. `bytes` may go at once.
  [[nodiscard]] static std::optional<JsonTree> parse(std::string_view bytes,
                                                     const JsonLimits& limits = {});
  /// The same tree of a document that has been read; `document` outlives it. What is nested more
  /// than 1024 deep is null.
  explicit JsonTree(const nlohmann::json& document);

  JsonTree(JsonTree&&) noexcept;
  JsonTree& operator=(JsonTree&&) = delete;
  JsonTree(const JsonTree&) = delete;
  JsonTree& operator=(const JsonTree&) = delete;
  ~JsonTree();

  [[nodiscard]] JsonNode root() const;

 private:
  class Copier;
  struct Store;
  explicit JsonTree(std::unique_ptr<Store> store);

  std::unique_ptr<Store> store_;
};

}  // namespace league::schema
