#include "common/schema/json_tree.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace league::schema {
namespace {

using nlohmann::json;
using simdjson::dom::element;
using simdjson::dom::element_type;

/// A parser keeps about 14 bytes per byte of its longest document, a tree 48 per value, and each
/// thread keeps both; so what has held a longer document than this is freed at once.
constexpr std::size_t kKeptCapacity = 64 * 1024;
constexpr std::size_t kKeptValues = 16 * 1024;

}  // namespace

bool JsonNode::is_whole() const {
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  if (!is_number()) return false;
  if (value_->type != JsonType::kFloat) return true;
  return std::abs(value_->real) <= kLargestExact && std::trunc(value_->real) == value_->real;
}

double JsonNode::number() const {
  if (is(JsonType::kInteger)) return static_cast<double>(value_->integer);
  if (is(JsonType::kUnsigned)) return static_cast<double>(value_->whole);
  return is(JsonType::kFloat) ? value_->real : 0;
}

std::optional<std::int64_t> JsonNode::integer() const {
  if (is(JsonType::kInteger)) return value_->integer;
  if (is(JsonType::kUnsigned) && std::in_range<std::int64_t>(value_->whole))
    return static_cast<std::int64_t>(value_->whole);
  return std::nullopt;
}

JsonNode JsonNode::find(std::string_view name) const {
  if (!is(JsonType::kObject)) return {};
  for (JsonNode member : *this) {
    if (member.name() == name) return member;
  }
  return {};
}

json JsonNode::to_json() const {
  if (value_ == nullptr) return nullptr;
  switch (value_->type) {
    case JsonType::kNull:
      return nullptr;
    case JsonType::kBoolean:
      return value_->truth;
    case JsonType::kInteger:
      return value_->integer;
    case JsonType::kUnsigned:
      return value_->whole;
    case JsonType::kFloat:
      return value_->real;
    case JsonType::kString:
      return std::string(value_->text);
    case JsonType::kArray: {
      json out(json::value_t::array);
      auto& items = out.get_ref<json::array_t&>();
      items.reserve(size());
      for (JsonNode item : *this) items.push_back(item.to_json());
      return out;
    }
    case JsonType::kObject: {
      json out(json::value_t::object);
      auto& members = out.get_ref<json::object_t&>();
      // Most senders write their keys sorted; then the hint avoids all comparisons.
      for (JsonNode member : *this)
        members.try_emplace(members.end(), std::string(member.name()), member.to_json());
      return out;
    }
  }
  return nullptr;
}

struct JsonTree::Store {
  simdjson::dom::parser parser;
  std::vector<JsonNode::Value> values;

  /// One that the thread has used before, with its buffers.
  static std::unique_ptr<Store> take() {
    auto store = std::exchange(spare(), nullptr);
    return store ? std::move(store) : std::make_unique<Store>();
  }
  static void give_back(std::unique_ptr<Store> store) {
    if (store == nullptr || store->parser.capacity() > kKeptCapacity ||
        store->values.capacity() > kKeptValues)
      return;
    store->values.clear();
    spare() = std::move(store);
  }

 private:
  static std::unique_ptr<Store>& spare() {
    thread_local std::unique_ptr<Store> kept;
    return kept;
  }
};

/// Appends values to the array. Recursion is bounded by `max_depth`, and simdjson's own 1024; of a
/// document that was read without limits, what lies deeper is null.
class JsonTree::Copier {
  static constexpr std::size_t kDeepest = 1024;

 public:
  explicit Copier(std::vector<JsonNode::Value>& out) : out_(out) {}

  /// False at a broken rule.
  bool copy(const element& from, std::string_view name, std::size_t depth,
            const JsonLimits& limits) {
    const std::size_t at = start(name);
    auto& value = out_.back();
    switch (from.type()) {
      case element_type::OBJECT: {
        if (depth >= limits.max_depth) return false;
        const simdjson::dom::object members = from.get_object().value_unsafe();
        for (auto [key, member] : members) {
          if (key.size() > limits.max_key_length || !copy(member, key, depth + 1, limits))
            return false;
          ++out_[at].count;
        }
        finish(at, JsonType::kObject);
        return has_no_key_twice(at);
      }
      case element_type::ARRAY: {
        if (depth >= limits.max_depth) return false;
        const simdjson::dom::array items = from.get_array().value_unsafe();
        for (const element item : items) {
          if (!copy(item, {}, depth + 1, limits)) return false;
          ++out_[at].count;
        }
        finish(at, JsonType::kArray);
        return true;
      }
      case element_type::STRING:
        value.text = from.get_string().value_unsafe();
        value.type = JsonType::kString;
        return true;
      case element_type::INT64:
        set(value, from.get_int64().value_unsafe());
        return true;
      case element_type::UINT64:
        set(value, from.get_uint64().value_unsafe());
        return true;
      case element_type::DOUBLE:
        set(value, from.get_double().value_unsafe());
        return true;
      case element_type::BOOL:
        set(value, from.get_bool().value_unsafe());
        return true;
      case element_type::NULL_VALUE:
        return true;
    }
    return false;
  }

  void copy(const json& from, std::string_view name, std::size_t depth = 0) {
    const std::size_t at = start(name);
    auto& value = out_.back();
    if (depth > kDeepest) return;
    switch (from.type()) {
      case json::value_t::object:
        for (const auto& [key, member] : from.get_ref<const json::object_t&>())
          copy(member, key, depth + 1);
        out_[at].count = static_cast<std::uint32_t>(from.size());
        return finish(at, JsonType::kObject);
      case json::value_t::array:
        for (const json& item : from.get_ref<const json::array_t&>()) copy(item, {}, depth + 1);
        out_[at].count = static_cast<std::uint32_t>(from.size());
        return finish(at, JsonType::kArray);
      case json::value_t::string:
        value.text = from.get_ref<const std::string&>();
        value.type = JsonType::kString;
        return;
      case json::value_t::number_integer:
        return set(value, from.get<std::int64_t>());
      case json::value_t::number_unsigned:
        return set(value, from.get<std::uint64_t>());
      case json::value_t::number_float:
        return set(value, from.get<double>());
      case json::value_t::boolean:
        return set(value, from.get<bool>());
      case json::value_t::null:
      case json::value_t::binary:
      case json::value_t::discarded:
        return;
    }
  }

 private:
  std::size_t start(std::string_view name) {
    out_.emplace_back().name = name;
    return out_.size() - 1;
  }
  void finish(std::size_t at, JsonType type) {
    out_[at].type = type;
    out_[at].size = static_cast<std::uint32_t>(out_.size() - at);
  }
  static void set(JsonNode::Value& value, std::int64_t number) {
    // As nlohmann: every number without a sign is unsigned.
    if (number >= 0) return set(value, static_cast<std::uint64_t>(number));
    value.integer = number;
    value.type = JsonType::kInteger;
  }
  static void set(JsonNode::Value& value, std::uint64_t number) {
    value.whole = number;
    value.type = JsonType::kUnsigned;
  }
  static void set(JsonNode::Value& value, double number) {
    value.real = number;
    value.type = JsonType::kFloat;
  }
  static void set(JsonNode::Value& value, bool truth) {
    value.truth = truth;
    value.type = JsonType::kBoolean;
  }

  [[nodiscard]] bool has_no_key_twice(std::size_t at) {
    constexpr std::size_t kFew = 16;  // up to here, comparing each with each is quicker
    names_.clear();
    for (JsonNode member : JsonNode(&out_[at])) names_.push_back(member.name());
    if (names_.size() > kFew) {
      std::ranges::sort(names_);
      return std::ranges::adjacent_find(names_) == names_.end();
    }
    for (auto name = names_.begin(); name != names_.end(); ++name) {
      if (std::find(names_.begin(), name, *name) != name) return false;
    }
    return true;
  }

  std::vector<JsonNode::Value>& out_;
  std::vector<std::string_view> names_;
};

std::optional<JsonTree> JsonTree::parse(std::string_view bytes, const JsonLimits& limits) {
  if (bytes.empty()) return std::nullopt;  // simdjson would copy from a null pointer
  JsonTree tree(Store::take());
  element root;
  if (tree.store_->parser.parse(bytes.data(), bytes.size()).get(root) != simdjson::SUCCESS)
    return std::nullopt;
  if (!Copier(tree.store_->values).copy(root, {}, 0, limits)) return std::nullopt;
  return tree;
}

JsonTree::JsonTree(std::unique_ptr<Store> store) : store_(std::move(store)) {}

JsonTree::JsonTree(const json& document) : store_(Store::take()) {
  Copier(store_->values).copy(document, {});
}

JsonTree::JsonTree(JsonTree&&) noexcept = default;

JsonTree::~JsonTree() { Store::give_back(std::move(store_)); }

JsonNode JsonTree::root() const { return JsonNode(store_->values.data()); }

}  // namespace league::schema
