#include "common/mcp/client/param_headers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "common/core/text.h"
#include "common/mcp/client/request_frame.h"
#include "common/mcp/protocol.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

constexpr const char* kMark = "x-mcp-header";
/// The maximum number of tools of one server that are remembered.
constexpr std::size_t kMostTools = 10'000;
/// Larger integers are not represented exactly by every JSON parser (2^53 - 1).
constexpr std::int64_t kLargestInteger = 9'007'199'254'740'991;

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return core::is_alphanumeric(c) || kOthers.find(c) != std::string_view::npos;
  });
}

/// Walks through a schema and collects the `x-mcp-header` marks.
class MarkReader {
 public:
  /// Returns the first broken rule, if any.
  std::optional<std::string> read(const json& schema, bool is_reachable) {
    if (schema.is_array()) {
      for (const auto& one : schema) {
        if (auto fault = read(one, false)) return fault;
      }
    }
    if (!schema.is_object()) return std::nullopt;
    if (schema.contains(kMark)) {
      if (auto fault = take(schema, is_reachable)) return fault;
    }
    for (const auto& [key, below] : schema.items()) {
      // These keywords contain values, not schemas.
      if (key == "default" || key == "const" || key == "enum" || key == "examples") continue;
      if (key == "properties" && below.is_object()) {
        if (auto fault = read_properties(below, is_reachable)) return fault;
      } else if (is_map_of_schemas(key) && below.is_object()) {
        for (const auto& one : below) {
          if (auto fault = read(one, false)) return fault;
        }
      } else if (auto fault = read(below, false)) {
        return fault;
      }
    }
    return std::nullopt;
  }

  std::vector<ParamHeader> found;

 private:
  /// Keywords whose keys are property names: a key that looks like the mark is not one there.
  static bool is_map_of_schemas(const std::string& key) {
    constexpr std::array<std::string_view, 4> kMaps{"patternProperties", "dependentSchemas",
                                                    "$defs", "definitions"};
    return std::ranges::find(kMaps, key) != kMaps.end();
  }

  std::optional<std::string> read_properties(const json& properties, bool is_reachable) {
    for (const auto& [name, below] : properties.items()) {
      path_.push_back(name);
      auto fault = read(below, is_reachable);
      path_.pop_back();
      if (fault) return fault;
    }
    return std::nullopt;
  }

  std::optional<std::string> take(const json& schema, bool is_reachable) {
    const json& mark = schema[kMark];
    if (!is_reachable || path_.empty()) return "it is not on a property that a call always has";
    if (!mark.is_string() || !is_token(mark.get_ref<const std::string&>()))
      return "its value is not a valid header name";
    auto type = schema.find("type");
    bool is_primitive =
        type != schema.end() && (*type == "string" || *type == "integer" || *type == "boolean");
    if (!is_primitive) return "its property is not a string, integer or boolean";
    if (!names_.insert(core::lower_case(mark.get<std::string>())).second)
      return "two properties have the same name of a header field";
    found.push_back({path_, mark.get<std::string>()});
    return std::nullopt;
  }

  std::vector<std::string> path_;
  std::set<std::string> names_;
};

/// A value in the form of the header field; nothing if it cannot be one.
std::optional<std::string> field_value(const json& value) {
  if (value.is_string()) return header_value(value.get_ref<const std::string&>());
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(kLargestInteger))
    return std::nullopt;
  if (!value.is_number_integer() || value.get<std::int64_t>() < -kLargestInteger)
    return std::nullopt;
  return value.dump();
}

}  // namespace

core::Result<std::vector<ParamHeader>> read_param_headers(const json& input_schema) {
  MarkReader reader;
  if (auto fault = reader.read(input_schema, true))
    return Error{ErrorCode::kInvalidReply, std::string(kMark) + ": " + *fault, "/inputSchema"};
  return std::move(reader.found);
}

void ParamHeaders::learn(json& list_result) {
  auto tools = list_result.find("tools");
  if (tools == list_result.end() || !tools->is_array()) return;
  json kept = json::array();
  for (auto& tool : *tools) {
    const auto* name = schema::field_at(tool, "name").get_ptr<const std::string*>();
    auto schema = tool.find("inputSchema");
    if (name == nullptr || schema == tool.end()) {
      kept.push_back(std::move(tool));
      continue;
    }
    auto marks = read_param_headers(*schema);
    tools_.erase(*name);
    if (!marks) continue;
    if (!marks->empty() && tools_.size() < kMostTools) tools_[*name] = std::move(*marks);
    kept.push_back(std::move(tool));
  }
  *tools = std::move(kept);
}

Headers ParamHeaders::of_call(std::string_view params) const {
  Headers headers;
  if (tools_.empty()) return headers;
  auto call = schema::parse_json(params, schema::kMcpLimits);
  if (!call) return headers;
  auto tool = tools_.find(schema::text_at(*call, "name"));
  if (tool == tools_.end()) return headers;
  for (const auto& [path, field] : tool->second) {
    const json* value = &schema::field_at(*call, "arguments");
    for (const auto& step : path) value = &schema::field_at(*value, step);
    if (auto text = field_value(*value))
      headers.emplace_back(std::string(kParameterHeaderPrefix) + field, std::move(*text));
  }
  return headers;
}

}  // namespace league::mcp::client
