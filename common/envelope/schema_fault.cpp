#include "common/envelope/schema_fault.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/core/text.h"

namespace league::envelope {
namespace {

using core::ErrorCode;
using nlohmann::json;
using schema::Violation;

/// A pointer contains keys from the message and appears twice in the error.
constexpr std::size_t kShownOfPointer = 90;

const json* value_at(const json& message, const std::string& pointer) {
  try {
    json::json_pointer at(pointer);
    return message.contains(at) ? &message.at(at) : nullptr;
  } catch (const json::exception&) {
    return nullptr;
  }
}

bool is_secret(std::string_view property) {
  constexpr auto kSecrets =
      std::to_array<std::string_view>({"token", "credential", "nonce", "seed", "key", "secret"});
  return std::ranges::any_of(kSecrets, [&](std::string_view word) {
    return property.find(word) != std::string_view::npos;
  });
}

/// The received value, short enough for a log; secrets are not shown.
std::string shown(const json& value, std::string_view property) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (is_secret(property)) return "a value that is not shown";
  std::string text;
  if (value.is_string()) {
    text = json(core::excerpt(value.get_ref<const std::string&>()))
               .dump(-1, ' ', true, json::error_handler_t::replace);
  } else {
    text = core::excerpt(value.dump());
  }
  return text;
}

bool is_time(std::string_view property) {
  return property.ends_with("timestamp") || property == "deadline" || property == "next_retry_at";
}

bool has_other_protocol(const Violation& violation) {
  return violation.pointer == "/protocol" &&
         (violation.keyword == "pattern" || violation.keyword == "maxLength");
}

/// Error codes that depend on the field; nothing for other fields.
std::optional<ErrorCode> code_by_field(const Violation& violation, const json* value) {
  if (value == nullptr) return std::nullopt;
  if (has_other_protocol(violation)) return ErrorCode::kProtocolVersionMismatch;
  if (violation.pointer == "/parity_choice") return ErrorCode::kInvalidParityChoice;
  if (violation.pointer == "/choice_nonce") return ErrorCode::kCommitmentMismatch;
  if (!value->is_string()) return std::nullopt;
  if (violation.pointer == "/sender") return ErrorCode::kInvalidSender;
  if (violation.pointer == "/query_type") return ErrorCode::kUnknownQuery;
  if (is_time(violation.property)) return ErrorCode::kInvalidTimestamp;
  if (violation.pointer == "/message_type") {
    bool is_known = message_type_from_wire(value->get_ref<const std::string&>()).has_value();
    return is_known ? ErrorCode::kUnexpectedMessage : ErrorCode::kUnknownMessageType;
  }
  return std::nullopt;
}

ErrorCode code_of(const Violation& violation, const json* value) {
  if (auto code = code_by_field(violation, value)) return *code;
  bool is_absent = value == nullptr || (value->is_null() && violation.is_required);
  if (violation.keyword == "required" || is_absent) return ErrorCode::kMissingRequiredField;
  if (violation.keyword == "type") return ErrorCode::kInvalidFieldType;
  constexpr auto kLengths =
      std::to_array<std::string_view>({"maxLength", "maxItems", "maxProperties", "maxDepth"});
  if (std::ranges::find(kLengths, violation.keyword) != kLengths.end())
    return ErrorCode::kFieldTooLong;
  return ErrorCode::kInvalidFieldValue;
}

}  // namespace

core::Error to_error(MessageType type, const json& message,
                     const std::vector<Violation>& violations) {
  // A peer with another protocol version is told that first, since it cannot follow our other
  // rules.
  auto chosen = std::ranges::find_if(violations, has_other_protocol);
  const Violation& violation = chosen != violations.end() ? *chosen : violations.front();
  const json* value = value_at(message, violation.pointer);
  ErrorCode code = code_of(violation, value);

  std::string text(wire_name(type));
  text += ": " + (violation.pointer.empty()
                      ? std::string("the message")
                      : core::excerpt(violation.pointer.substr(1), kShownOfPointer));
  if (code == ErrorCode::kMissingRequiredField) {
    text += value == nullptr ? " is missing" : " is null";
  } else {
    if (value != nullptr) text += " is " + shown(*value, violation.property) + " but";
    text += " " + violation.text;
  }
  if (!violation.example.empty()) text += "; for example " + violation.example;
  return core::Error{code, std::move(text), core::excerpt(violation.pointer, kShownOfPointer)};
}

}  // namespace league::envelope
