#include "common/schema/parse_json.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/core/text.h"
#include "common/schema/json_tree.h"
#include "common/schema/violation.h"

namespace league::schema {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

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

}  // namespace

core::Result<json> parse_json(std::string_view bytes, const JsonLimits& limits) {
  if (auto tree = JsonTree::parse(bytes, limits)) return tree->root().to_json();
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
