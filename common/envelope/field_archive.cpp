#include "common/envelope/field_archive.h"

#include <limits>

namespace league::envelope {

using core::ErrorCode;
using schema::JsonNode;
using schema::JsonType;

void FieldReader::from_json(JsonNode in, std::string& value, const FieldPath& at) {
  if (!in.is(JsonType::kString)) return fail(ErrorCode::kInvalidFieldType, at, "must be a string");
  value = in.text();
}

void FieldReader::from_json(JsonNode in, bool& value, const FieldPath& at) {
  if (!in.is(JsonType::kBoolean))
    return fail(ErrorCode::kInvalidFieldType, at, "must be true or false");
  value = in.truth();
}

void FieldReader::from_json(JsonNode in, int& value, const FieldPath& at) {
  constexpr double kMost = std::numeric_limits<int>::max();
  if (!in.is_number()) return fail(ErrorCode::kInvalidFieldType, at, "must be an integer");
  // JSON Schema counts 3.0 as an integer, so it may arrive here as a floating-point number.
  const double number = in.number();
  if (!(number >= -kMost && number <= kMost))
    return fail(ErrorCode::kInvalidFieldValue, at, "is too large");
  value = static_cast<int>(number);
  if (static_cast<double>(value) != number)
    fail(ErrorCode::kInvalidFieldType, at, "must be an integer");
}

void FieldReader::from_json(JsonNode in, RawJson& value, const FieldPath& at) {
  if (!in.is(JsonType::kObject)) return fail(ErrorCode::kInvalidFieldType, at, "must be an object");
  value.text = in.to_json().dump();
}

void FieldReader::from_json(JsonNode in, core::AuthToken& value, const FieldPath& at) {
  std::string secret;
  from_json(in, secret, at);
  value = core::AuthToken(std::move(secret));
}

void FieldReader::from_json(JsonNode in, core::UtcTimestamp& value, const FieldPath& at) {
  std::string text;
  from_json(in, text, at);
  if (fault_) return;
  auto parsed = core::UtcTimestamp::parse(text);
  if (parsed) {
    value = *parsed;
  } else {
    fault_ = parsed.error();
    fault_->field = at.text();
  }
}

void FieldReader::from_json(JsonNode in, ErrorCode& value, const FieldPath& at) {
  std::string text;
  from_json(in, text, at);
  if (fault_) return;
  if (auto code = core::parse_error_code(text)) {
    value = *code;
  } else {
    fail(ErrorCode::kInvalidFieldValue, at, "is not an error code of the protocol");
  }
}

void FieldReader::from_json(JsonNode in, std::map<std::string, std::string>& values,
                            const FieldPath& at) {
  if (!in.is(JsonType::kObject)) return fail(ErrorCode::kInvalidFieldType, at, "must be an object");
  for (JsonNode member : in) {
    values[std::string(member.name())] =
        member.is(JsonType::kString)
            ? std::string(member.text())
            : member.to_json().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

}  // namespace league::envelope
