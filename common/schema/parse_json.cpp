#include "common/schema/parse_json.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/core/text.h"
#include "common/schema/violation.h"

namespace league::schema {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr std::size_t kShownKeyLength = 32;

/// nlohmann's reason without its prefix and without the part that quotes the input. The reasons
/// that are no syntax errors, such as a number that is too large, quote it elsewhere.
std::string syntax_reason(std::string_view what) {
  constexpr std::size_t kLongestReason = 160;
  if (what.find("number overflow") != what.npos) return "a number is too large";
  auto start = what.find("syntax error");
  if (start == what.npos) return "it cannot be read";
  what.remove_prefix(start);
  return core::shown(what.substr(0, what.find("; last read")), kLongestReason);
}

/// Builds the document while it is parsed; an event handler returns false to stop at a fault.
class LimitedBuilder final : public nlohmann::json_sax<json> {
 public:
  explicit LimitedBuilder(const JsonLimits& limits) : limits_(limits) {
    open_.reserve(limits.max_depth);
  }

  bool null() override { return place(nullptr); }
  bool boolean(bool value) override { return place(value); }
  bool number_integer(number_integer_t value) override { return place(value); }
  bool number_unsigned(number_unsigned_t value) override { return place(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return place(value);
  }
  bool string(string_t& value) override { return place(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }

  bool start_object(std::size_t /*elements*/) override { return open(json::value_t::object); }
  bool start_array(std::size_t /*elements*/) override { return open(json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (name.size() > limits_.max_key_length) {
      return refuse(ErrorCode::kFieldTooLong,
                    "a key has " + std::to_string(name.size()) + " characters; at most " +
                        std::to_string(limits_.max_key_length) + " are allowed");
    }
    Frame& frame = open_.back();
    auto [it, is_new] = frame.container->get_ref<json::object_t&>().try_emplace(std::move(name));
    frame.key = &it->first;
    slot_ = &it->second;
    if (is_new) return true;
    return refuse(ErrorCode::kDuplicateKey,
                  "the key \"" + core::shown(it->first, kShownKeyLength) +
                      "\" appears twice in one object; which value counts would depend on "
                      "the reader, so send each key once");
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const json::exception& fault) override {
    fault_ = Error{ErrorCode::kMalformedMessage,
                   "the body is not JSON: byte " + std::to_string(position) + ", " +
                       syntax_reason(fault.what()),
                   ""};
    return false;
  }

  json document;
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }

 private:
  struct Frame {
    json* container;
    const std::string* key;  ///< of the member that is being read; null in an array
  };

  template <typename Value>
  bool place(Value&& value) {
    *target() = std::forward<Value>(value);
    return true;
  }

  /// Where the next value goes.
  json* target() {
    if (open_.empty()) return &document;
    Frame& frame = open_.back();
    if (!frame.container->is_array()) return slot_;
    return &frame.container->get_ref<json::array_t&>().emplace_back();
  }

  bool open(json::value_t type) {
    if (open_.size() == limits_.max_depth) {
      return refuse(ErrorCode::kFieldTooLong, "objects and arrays are nested more than " +
                                                  std::to_string(limits_.max_depth) + " deep");
    }
    json* container = target();
    *container = json(type);
    open_.push_back({container, nullptr});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  bool refuse(ErrorCode code, std::string text) {
    fault_ = Error{code, std::move(text), pointer()};
    return false;
  }

  [[nodiscard]] std::string pointer() const {
    std::string text;
    for (const Frame& frame : open_) {
      if (frame.container->is_array()) {
        std::size_t elements = frame.container->size();
        text += pointer_step(std::to_string(elements == 0 ? 0 : elements - 1));
      } else if (frame.key != nullptr) {
        text += pointer_step(core::shown(*frame.key, kShownKeyLength));
      }
    }
    return text;
  }

  const JsonLimits& limits_;
  std::vector<Frame> open_;
  json* slot_ = nullptr;
  std::optional<Error> fault_;
};

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

/// Parses a document that follows every rule of parse_json, several times as fast as nlohmann's own
/// reader. Returns nothing for any other document, and for a few valid but rare ones (integers
/// beyond 64 bits); the caller then uses the slow reader. The result equals that of nlohmann's
/// reader. Keeps a buffer per thread.
std::optional<json> quick_parse(std::string_view bytes, const JsonLimits& limits) {
  if (bytes.empty()) return std::nullopt;  // simdjson would copy from a null pointer
  if (bytes.size() > kKeptCapacity) {
    simdjson::dom::parser parser;
    return parse_with(parser, bytes, limits);
  }
  thread_local simdjson::dom::parser parser;
  return parse_with(parser, bytes, limits);
}

}  // namespace

core::Result<json> parse_json(std::string_view bytes, const JsonLimits& limits) {
  if (auto document = quick_parse(bytes, limits)) return std::move(*document);
  // nlohmann's reader treats a zero byte as the end and would ignore what follows.
  if (auto zero = bytes.find('\0'); zero != std::string_view::npos) {
    return Error{ErrorCode::kMalformedMessage,
                 "the body is not JSON: byte " + std::to_string(zero + 1) + " is a zero", ""};
  }
  LimitedBuilder builder(limits);
  try {
    bool complete = json::sax_parse(bytes.begin(), bytes.end(), &builder);
    if (complete) return std::move(builder.document);
  } catch (const std::exception&) {
    return Error{ErrorCode::kMalformedMessage, "the body is not JSON", ""};
  }
  if (builder.fault()) return *builder.fault();
  return Error{ErrorCode::kMalformedMessage, "the body is not JSON", ""};
}

bool is_utf8(std::string_view text) {
  return text.empty() || simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace league::schema
