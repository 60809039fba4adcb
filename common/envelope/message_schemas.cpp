#include "common/envelope/message_schemas.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "common/core/timestamp.h"
#include "common/envelope/embedded_schemas.h"
#include "common/envelope/schema_fault.h"
#include "common/envelope/sender.h"
#include "common/schema/json_gate.h"
#include "common/schema/schema_validator.h"

namespace league::envelope {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

constexpr std::size_t kMessageCount = 18;
/// Every field of a message that holds an instant; the pattern of the schema lets dates through
/// that do not exist.
constexpr auto kTimeFields =
    std::to_array<const char*>({"timestamp", "arrival_timestamp", "deadline"});

std::string file_name(std::string_view stem) { return std::string(stem) + ".schema.json"; }

core::Result<std::string> schema_text(const std::optional<std::filesystem::path>& directory,
                                      const std::string& name) {
  if (!directory) return std::string(builtin_schema(name.substr(0, name.find('.'))));
  std::ifstream file(*directory / name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (file) return text.str();
  return Error{ErrorCode::kInternalError,
               (*directory / name).string() +
                   ": cannot be read; the directory must hold a schema for every message type",
               ""};
}

core::Result<schema::CompiledSchema> load_schema(
    const std::optional<std::filesystem::path>& directory, MessageType type) {
  std::string name = file_name(file_stem(type));
  auto text = schema_text(directory, name);
  if (!text) return text.error();
  auto document = schema::parse_json(*text);
  if (!document)
    return Error{ErrorCode::kInternalError, name + ": " + document.error().message, ""};
  return schema::CompiledSchema::compile(*document,
                                         directory ? (*directory / name).string() : name);
}

/// The Error for a field whose text passed the schema but not `check`.
Error at_field(MessageType type, Error error, const char* name) {
  error.message = std::string(wire_name(type)) + ": " + error.message;
  error.field = std::string("/") + name;
  return error;
}

}  // namespace

class MessageSchemas::Impl {
 public:
  std::vector<schema::CompiledSchema> schemas;  ///< by type
};

MessageSchemas::MessageSchemas(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

core::Result<MessageSchemas> MessageSchemas::load(
    const std::optional<std::filesystem::path>& directory) {
  auto impl = std::make_shared<Impl>();
  impl->schemas.reserve(kMessageCount);
  for (const auto& row : all_messages()) {
    auto compiled = load_schema(directory, row.type);
    if (!compiled) return compiled.error();
    impl->schemas.push_back(std::move(*compiled));
  }
  return MessageSchemas(std::move(impl));
}

core::Result<void> MessageSchemas::validate(MessageType type, const json& message) const {
  if (!message.is_object())
    return Error{ErrorCode::kMalformedMessage, "a league message is a JSON object", ""};
  const auto& compiled = impl_->schemas[static_cast<std::size_t>(type) - 1];
  auto violations = compiled.violations(message);
  if (!violations.empty()) return to_error(type, message, violations);

  for (const char* name : kTimeFields) {
    auto field = message.find(name);
    if (field == message.end() || !field->is_string()) continue;
    auto parsed = core::UtcTimestamp::parse(field->get_ref<const std::string&>());
    if (!parsed) return at_field(type, parsed.error(), name);
  }
  auto sender = message.find("sender");
  if (sender != message.end() && sender->is_string()) {
    auto parsed = Sender::parse(sender->get_ref<const std::string&>());
    if (!parsed) return at_field(type, parsed.error(), "sender");
  }
  return {};
}

core::Result<MessageType> MessageSchemas::type_of(const json& message) {
  constexpr std::size_t kShownLength = 40;
  if (!message.is_object())
    return Error{ErrorCode::kMalformedMessage, "a league message is a JSON object", ""};
  auto field = message.find("message_type");
  if (field == message.end() || field->is_null()) {
    return Error{ErrorCode::kMissingRequiredField,
                 "message_type is missing; for example \"GAME_JOIN_ACK\"", "/message_type"};
  }
  if (!field->is_string())
    return Error{ErrorCode::kInvalidFieldType, "message_type must be a string", "/message_type"};
  const auto& name = field->get_ref<const std::string&>();
  if (auto type = message_type_from_wire(name)) return *type;
  std::string shown =
      json(name.substr(0, kShownLength)).dump(-1, ' ', true, json::error_handler_t::replace);
  return Error{ErrorCode::kUnknownMessageType,
               "message_type " + shown +
                   " is none of the 18 of league.v2, which are written in upper case, such as "
                   "\"GAME_JOIN_ACK\"",
               "/message_type"};
}

std::string_view builtin_schema(std::string_view name) {
  std::string wanted = file_name(name);
  auto files = embedded_schemas();
  auto found = std::ranges::find(files, wanted, &EmbeddedFile::name);
  return found == files.end() ? std::string_view() : found->text;
}

std::string file_stem(MessageType type) {
  std::string stem(wire_name(type));
  std::ranges::transform(stem, stem.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return stem;
}

}  // namespace league::envelope
