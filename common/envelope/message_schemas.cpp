#include "common/envelope/message_schemas.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "common/core/text.h"
#include "common/core/timestamp.h"
#include "common/envelope/codec.h"
#include "common/envelope/described_field.h"
#include "common/envelope/leniency.h"
#include "common/envelope/schema_text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"
#include "common/schema/schema_validator.h"

namespace league::envelope {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using schema::Violation;

/// All time fields except the envelope's timestamp; the schema's pattern also accepts dates that do
/// not exist.
constexpr auto kOtherTimes = std::to_array<const char*>({"arrival_timestamp", "deadline"});

core::Result<std::string> file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (file) return text.str();
  return Error{
      ErrorCode::kInternalError,
      path.string() + ": cannot be read; the directory must hold a schema for every message type",
      ""};
}

core::Result<json> load_document(const std::optional<std::filesystem::path>& directory,
                                 MessageType type) {
  const std::string name = file_stem(type) + ".schema.json";
  auto text = directory ? file_text(*directory / name) : schema_text(type);
  if (!text) return text.error();
  auto document = schema::parse_json(*text);
  if (document) return document;
  return Error{ErrorCode::kInternalError, name + ": " + document.error().message, ""};
}

/// The error for the first of the other time fields that is invalid.
std::optional<Error> wrong_time(const json& message) {
  for (const char* name : kOtherTimes) {
    const auto* text = schema::field_at(message, name).get_ptr<const std::string*>();
    if (text == nullptr) continue;
    auto parsed = core::UtcTimestamp::parse(*text);
    if (parsed) continue;
    Error error = parsed.error();
    error.field = std::string("/") + name;
    return error;
  }
  return std::nullopt;
}

/// The Error for a field whose text passed the schema but is wrong.
Error of_message(MessageType type, Error error) {
  error.message = std::string(wire_name(type)) + ": " + error.message;
  return error;
}

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

/// The Error that explains the most useful of the `violations` (at least one) of `message` to the
/// bot's author.
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

}  // namespace

class MessageSchemas::Impl {
 public:
  std::vector<schema::CompiledSchema> schemas;  ///< by type
  bool is_own = false;  ///< an operator's, which may demand more than the descriptions
};

MessageSchemas::MessageSchemas(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

core::Result<MessageSchemas> MessageSchemas::load(
    const std::optional<std::filesystem::path>& directory) {
  auto impl = std::make_shared<Impl>();
  impl->schemas.reserve(all_messages().size());
  impl->is_own = directory.has_value();
  for (const auto& row : all_messages()) {
    const std::string name = file_stem(row.type) + ".schema.json";
    const std::string shown = directory ? (*directory / name).string() : name;
    auto document = load_document(directory, row.type);
    if (!document) return document.error();
    auto compiled = schema::CompiledSchema::compile(*document, shown);
    if (!compiled) return compiled.error();
    impl->schemas.push_back(std::move(*compiled));
  }
  return MessageSchemas(std::move(impl));
}

core::Result<Envelope> MessageSchemas::validate(MessageType type, const json& message) const {
  auto envelope = decode_envelope(message);
  if (!message.is_object()) return envelope;
  auto fault = wrong_time(message);
  if (!fault && !envelope) fault = envelope.error();
  if (auto checked = check(type, message, fault); !checked) return checked.error();
  return envelope;
}

core::Result<void> MessageSchemas::check(MessageType type, const json& message,
                                         const std::optional<Error>& fault) const {
  if (!message.is_object())
    return fault ? core::Result<void>(*fault) : decode_envelope(message).error();
  auto index = static_cast<std::size_t>(type) - 1;
  auto violations = impl_->schemas[index].violations(message);
  if (!violations.empty()) return to_error(type, message, violations);
  if (fault) return of_message(type, *fault);
  return {};
}

bool MessageSchemas::is_exact(MessageType type, schema::JsonNode message) const {
  return !impl_->is_own && is_as_described(type, message) && is_in_own_form(type, message);
}

core::Result<MessageType> MessageSchemas::type_of(const json& message) {
  if (!message.is_object())
    return Error{ErrorCode::kMalformedMessage, "a league message is a JSON object", ""};
  const json& field = schema::field_at(message, "message_type");
  if (field.is_null()) {
    return Error{ErrorCode::kMissingRequiredField,
                 "message_type is missing; for example \"GAME_JOIN_ACK\"", "/message_type"};
  }
  if (!field.is_string())
    return Error{ErrorCode::kInvalidFieldType, "message_type must be a string", "/message_type"};
  const auto& name = field.get_ref<const std::string&>();
  if (auto type = message_type_from_wire(name)) return *type;
  std::string shown =
      json(name.substr(0, core::kShownLength)).dump(-1, ' ', true, json::error_handler_t::replace);
  return Error{ErrorCode::kUnknownMessageType,
               "message_type " + shown +
                   " is not a message of league.v2; their names are in upper case, such as "
                   "\"GAME_JOIN_ACK\"",
               "/message_type"};
}

std::string file_stem(MessageType type) { return core::lower_case(wire_name(type)); }

}  // namespace league::envelope
