#include "common/rpc/json_object.h"

#include "common/rpc/json_text.h"

namespace league::rpc {

JsonObject::JsonObject(std::string& out, std::string_view separator)
    : out_(out), separator_(separator) {
  out_ += '{';
}

void JsonObject::name(std::string_view key) {
  if (!is_empty_) out_ += separator_;
  is_empty_ = false;
  out_.append("\"").append(key).append("\":");
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
  name(key);
  out_ += json;
  return *this;
}

JsonObject& JsonObject::text(std::string_view key, std::string_view value) {
  name(key);
  append_json_string(out_, value);
  return *this;
}

JsonObject& JsonObject::optional_text(std::string_view key, std::string_view value) {
  return value.empty() ? null(key) : text(key, value);
}

JsonObject& JsonObject::time(std::string_view key, const std::optional<core::UtcTimestamp>& value) {
  if (!value) return null(key);
  name(key);
  out_ += '"';
  value->append_log(out_);
  out_ += '"';
  return *this;
}

}  // namespace league::rpc
