#include "common/schema/quick_parse.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace league::schema {
namespace {

using nlohmann::json;
using simdjson::dom::element;
using simdjson::dom::element_type;

/// A parser keeps about 14 bytes per byte of its longest document, and each thread keeps a parser;
/// so a parser that has read a longer document than this is freed at once.
constexpr std::size_t kKeptCapacity = 64 * 1024;

/// Copies simdjson's tape into nlohmann's document. Each function returns false at a broken rule.
class Copier {
 public:
  explicit Copier(const JsonLimits& limits) : limits_(limits) {}

  /// Recursion is bounded by `max_depth`, and simdjson's own 1024.
  bool copy(const element& from, json& to, std::size_t depth) {
    switch (from.type()) {
      case element_type::OBJECT:
        return depth < limits_.max_depth && copy_object(from, to, depth);
      case element_type::ARRAY:
        return depth < limits_.max_depth && copy_array(from, to, depth);
      case element_type::STRING:
        to = std::string(std::string_view(from.get_string().value_unsafe()));
        return true;
      case element_type::INT64: {
        std::int64_t number = from.get_int64().value_unsafe();
        // nlohmann calls every number without a sign unsigned.
        if (number < 0) {
          to = number;
        } else {
          to = static_cast<std::uint64_t>(number);
        }
        return true;
      }
      case element_type::UINT64:
        to = from.get_uint64().value_unsafe();
        return true;
      case element_type::DOUBLE:
        to = from.get_double().value_unsafe();
        return true;
      case element_type::BOOL:
        to = from.get_bool().value_unsafe();
        return true;
      case element_type::NULL_VALUE:
        to = nullptr;
        return true;
    }
    return false;
  }

 private:
  bool copy_object(const element& from, json& to, std::size_t depth) {
    to = json(json::value_t::object);
    auto& members = to.get_ref<json::object_t&>();
    const simdjson::dom::object fields = from.get_object().value_unsafe();
    for (auto [name, value] : fields) {
      if (name.size() > limits_.max_key_length) return false;
      std::size_t before = members.size();
      // Most senders write their keys sorted; then the hint avoids all comparisons.
      auto member = members.try_emplace(members.end(), std::string(name));
      if (members.size() == before || !copy(value, member->second, depth + 1)) return false;
    }
    return true;
  }

  bool copy_array(const element& from, json& to, std::size_t depth) {
    to = json(json::value_t::array);
    auto& items = to.get_ref<json::array_t&>();
    const simdjson::dom::array values = from.get_array().value_unsafe();
    items.reserve(values.size());
    for (element value : values) {
      if (!copy(value, items.emplace_back(), depth + 1)) return false;
    }
    return true;
  }

  const JsonLimits& limits_;
};

std::optional<json> parse_with(simdjson::dom::parser& parser, std::string_view bytes,
                               const JsonLimits& limits) {
  element root;
  if (parser.parse(bytes.data(), bytes.size()).get(root) != simdjson::SUCCESS) return std::nullopt;
  std::optional<json> document(std::in_place);
  if (!Copier(limits).copy(root, *document, 0)) return std::nullopt;
  return document;
}

}  // namespace

std::optional<json> quick_parse(std::string_view bytes, const JsonLimits& limits) {
  if (bytes.empty()) return std::nullopt;  // simdjson would copy from a null pointer
  if (bytes.size() > kKeptCapacity) {
    simdjson::dom::parser parser;
    return parse_with(parser, bytes, limits);
  }
  thread_local simdjson::dom::parser parser;
  return parse_with(parser, bytes, limits);
}

}  // namespace league::schema
