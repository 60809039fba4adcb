#include "common/schema/fields.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "common/schema/json_string.h"

namespace league::schema {
namespace {

using core::ErrorCode;
using nlohmann::json;

/// Appends JSON to a text, without building a tree, which would cost as much as all other work on a
/// message.
class TextSink final : public FieldSink {
 public:
  explicit TextSink(std::string& out) : out_(out) {}
  void null() override { separated() += "null"; }
  void flag(bool value) override { separated() += value ? "true" : "false"; }
  void integer(std::int64_t value) override { core::append_number(separated(), value); }
  void real(double value) override { separated() += nlohmann::json(value).dump(); }
  void text(std::string_view value) override { append_json_string(separated(), value); }
  void json(std::string_view value) override { separated() += value; }
  void begin(bool is_object) override {
    separated() += is_object ? '{' : '[';
    is_first_ = true;
  }
  void name(std::string_view name) override {
    append_json_string(separated(), name);
    out_ += ':';
    is_first_ = true;
  }
  void end(bool is_object) override {
    out_ += is_object ? '}' : ']';
    is_first_ = false;
  }

 private:
  std::string& separated() {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    return out_;
  }

  std::string& out_;
  bool is_first_ = true;
};

class TreeSink final : public FieldSink {
 public:
  explicit TreeSink(nlohmann::json& out) : place_(&out) {}
  void null() override { put(nullptr); }
  void flag(bool value) override { put(value); }
  void integer(std::int64_t value) override {
    // What is not negative is unsigned, as in a tree that was parsed.
    value < 0 ? put(value) : put(static_cast<std::uint64_t>(value));
  }
  void real(double value) override { put(value); }
  void text(std::string_view value) override { put(value); }
  void json(std::string_view value) override { put(nlohmann::json::parse(value)); }
  void begin(bool is_object) override {
    nlohmann::json& made = put(is_object ? nlohmann::json::object() : nlohmann::json::array());
    open_.push_back(&made);
  }
  void name(std::string_view name) override { place_ = &(*open_.back())[std::string(name)]; }
  void end(bool /*is_object*/) override { open_.pop_back(); }

 private:
  nlohmann::json& put(nlohmann::json value) {
    if (!open_.empty() && open_.back()->is_array())
      return open_.back()->emplace_back(std::move(value));
    return *place_ = std::move(value);
  }

  nlohmann::json* place_;
  std::vector<nlohmann::json*> open_;  ///< a container does not move before what is in it is ended
};

JsonNode find(JsonNode in, std::string_view name) {
  const JsonNode found = in.find(name);
  return found.is(JsonType::kNull) ? JsonNode() : found;
}

}  // namespace

std::string FieldPath::text() const {
  if (parent_ == nullptr) return "";
  return parent_->text() + "/" + (name_ ? std::string(*name_) : std::to_string(index_));
}

bool Reading::fail(ErrorCode code, const FieldPath& at, std::string_view rule) {
  if (fault || is_loose) return false;
  std::string pointer = at.text();
  fault = core::Error{code, pointer + " " + std::string(rule), pointer};
  return false;
}

bool Fields::has(std::string_view name) const { return static_cast<bool>(find(in_, name)); }

void Fields::version(std::string_view name, int version) {
  int found = version;
  required(name, found);
  if (found != version) fail(ErrorCode::kInvalidFieldValue, name, "is of another version");
}

void Fields::count(std::string_view name, int& value) {
  constexpr int kMost = 1'000'000'000;
  required(name, value);
  if (reads() && (value < 0 || value > kMost))
    fail(ErrorCode::kInvalidFieldValue, name, "must be an integer from 0 to 1000000000");
}

void Fields::run(const Need& need, void* value, const FieldType& type, const Rule& rule) {
  if (sink_ != nullptr) {
    if (need.may_be_absent && !type.is_there(value)) return;
    sink_->name(need.name);
    type.write(*sink_, value);
  } else if (listed_ != nullptr) {
    DescribedField field = type.list(rule);
    field.name = need.name;
    field.is_required = need.is_required || rule.is_always_there;
    const bool is_nullable = field.may_be_null && !need.may_be_absent;
    field.may_be_null = is_nullable || need.may_be_null || rule.may_be_null;
    listed_->push_back(std::move(field));
  } else if (!reading_->fault) {
    const FieldPath at(*place_, need.name);
    if (const JsonNode found = find(in_, need.name)) {
      type.read(*reading_, found, value, at);
    } else if (need.is_required) {
      reading_->fail(ErrorCode::kMissingRequiredField, at, "is required");
    }
  }
}

bool read_struct(Reading& reading, JsonNode in, void* value, const FieldPath& at,
                 Describe describe) {
  if (!is_object(reading, in, at)) return false;
  Fields fields(reading, in, at);
  describe(fields, value);
  return !reading.fault;
}

void write_struct(FieldSink& out, const void* value, Describe describe) {
  out.begin(true);
  Fields fields(out);
  describe(fields, const_cast<void*>(value));  // a description that writes changes nothing
  out.end(true);
}

bool is_list(Reading& reading, JsonNode in, const FieldPath& at) {
  return in.is(JsonType::kArray) ||
         reading.fail(ErrorCode::kInvalidFieldType, at, "must be an array");
}

bool is_object(Reading& reading, JsonNode in, const FieldPath& at) {
  return in.is(JsonType::kObject) ||
         reading.fail(ErrorCode::kInvalidFieldType, at, "must be an object");
}

std::optional<std::string_view> read_text(Reading& reading, JsonNode in, const FieldPath& at) {
  if (in.is(JsonType::kString)) return in.text();
  reading.fail(ErrorCode::kInvalidFieldType, at, "must be a string");
  return std::nullopt;
}

std::optional<std::int64_t> read_integer(Reading& reading, JsonNode in, const FieldPath& at,
                                         std::int64_t least, std::int64_t most) {
  const auto refused = [&](ErrorCode code, std::string_view rule) {
    reading.fail(code, at, rule);
    return std::nullopt;
  };
  if (!in.is_number()) return refused(ErrorCode::kInvalidFieldType, "must be an integer");
  auto exact = in.integer();
  if (!exact) {
    // JSON Schema counts 3.0 as an integer, so it may arrive here as a floating-point number.
    constexpr double kMost = 9.2e18;
    const double number = in.number();
    if (!(number >= -kMost && number <= kMost))
      return refused(ErrorCode::kInvalidFieldValue, "is out of range");
    exact = static_cast<std::int64_t>(number);
    if (*exact >= least && *exact <= most && static_cast<double>(*exact) != number)
      return refused(ErrorCode::kInvalidFieldType, "must be an integer");
  }
  if (*exact < least || *exact > most)
    return refused(ErrorCode::kInvalidFieldValue, "is out of range");
  return exact;
}

bool no_such_name(Reading& reading, const FieldPath& at) {
  return reading.fail(ErrorCode::kInvalidFieldValue, at, "has none of the allowed values");
}

DescribedField list_container(std::string_view type, const FieldType& element, const Rule& rule) {
  DescribedField field{.type = type, .rule = rule};
  field.element.push_back(element.list(rule.element != nullptr ? *rule.element : Rule{}));
  return field;
}

DescribedField list_struct(const Rule& rule, void* example, Describe describe) {
  DescribedField field{.type = "object", .rule = rule};
  Fields fields(field.fields);
  describe(fields, example);
  return field;
}

bool read_value(Reading& reading, JsonNode in, std::string& value, const FieldPath& at) {
  const auto text = read_text(reading, in, at);
  if (text) value = *text;
  return text.has_value();
}

bool read_value(Reading& /*reading*/, JsonNode /*in*/, std::string_view& /*value*/,
                const FieldPath& /*at*/) {
  return false;
}

bool read_value(Reading& reading, JsonNode in, bool& value, const FieldPath& at) {
  if (!in.is(JsonType::kBoolean))
    return reading.fail(ErrorCode::kInvalidFieldType, at, "must be true or false");
  value = in.truth();
  return true;
}

bool read_value(Reading& reading, JsonNode in, double& value, const FieldPath& at) {
  if (!in.is_number()) return reading.fail(ErrorCode::kInvalidFieldType, at, "must be a number");
  value = in.number();
  return true;
}

bool read_value(Reading& reading, JsonNode in, core::AuthToken& value, const FieldPath& at) {
  const auto text = read_text(reading, in, at);
  if (text) value = core::AuthToken(std::string(*text));
  return text.has_value();
}

bool read_value(Reading& reading, JsonNode in, core::UtcTimestamp& value, const FieldPath& at) {
  const auto text = read_text(reading, in, at);
  if (!text) return false;
  auto parsed = core::UtcTimestamp::parse(*text);
  if (parsed) {
    value = *parsed;
  } else if (!reading.is_loose) {
    reading.fault = parsed.error();
    reading.fault->field = at.text();
  }
  return static_cast<bool>(parsed);
}

bool read_value(Reading& reading, JsonNode in, ErrorCode& value, const FieldPath& at) {
  const auto text = read_text(reading, in, at);
  if (!text) return false;
  const auto code = core::parse_error_code(*text);
  if (!code)
    return reading.fail(ErrorCode::kInvalidFieldValue, at, "is not an error code of the protocol");
  value = *code;
  return true;
}

bool read_value(Reading& /*reading*/, JsonNode in, json& value, const FieldPath& /*at*/) {
  value = in.to_json();
  return true;
}

bool read_value(Reading& reading, JsonNode in, std::map<std::string, std::string>& value,
                const FieldPath& at) {
  if (!is_object(reading, in, at)) return false;
  for (const JsonNode member : in) {
    value[std::string(member.name())] =
        member.is(JsonType::kString)
            ? std::string(member.text())
            : member.to_json().dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return true;
}

void write_value(FieldSink& out, const std::string& value) { out.text(value); }
void write_value(FieldSink& out, const std::string_view& value) { out.text(value); }
void write_value(FieldSink& out, const bool& value) { out.flag(value); }
void write_value(FieldSink& out, const double& value) { out.real(value); }
void write_value(FieldSink& out, const core::AuthToken& value) { out.text(value.reveal()); }
void write_value(FieldSink& out, const core::UtcTimestamp& value) { out.text(value.to_wire()); }
void write_value(FieldSink& out, const ErrorCode& value) { out.text(core::wire_code(value)); }
void write_value(FieldSink& out, const json& value) {
  out.json(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

core::Result<void> read_into(JsonNode in, const FieldType& type, void* value) {
  Reading reading;
  type.read(reading, in, value, FieldPath());
  if (reading.fault) return std::move(*reading.fault);
  return {};
}

void read_loosely_into(JsonNode in, const FieldType& type, void* value) {
  Reading reading{.is_loose = true};
  type.read(reading, in, value, FieldPath());
}

json to_json(const FieldType& type, const void* value) {
  json out;
  TreeSink sink(out);
  type.write(sink, value);
  return out;
}

std::string to_text(const FieldType& type, const void* value) {
  std::string out;
  TextSink sink(out);
  type.write(sink, value);
  return out;
}

core::Result<void> read_object(JsonNode in, const std::function<void(Fields&)>& fields) {
  Reading reading;
  const FieldPath root;
  if (is_object(reading, in, root)) {
    Fields a(reading, in, root);
    fields(a);
  }
  if (reading.fault) return std::move(*reading.fault);
  return {};
}

json object_to_json(const std::function<void(Fields&)>& fields) {
  json out;
  TreeSink sink(out);
  sink.begin(true);
  Fields a(sink);
  fields(a);
  return out;
}

std::string object_to_text(const std::function<void(Fields&)>& fields) {
  std::string out;
  TextSink sink(out);
  sink.begin(true);
  Fields a(sink);
  fields(a);
  sink.end(true);
  return out;
}

}  // namespace league::schema
