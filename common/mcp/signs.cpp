#include "common/mcp/signs.h"

#include <algorithm>
#include <cstdint>

#include "common/core/base64.h"
#include "common/core/text.h"
#include "common/rpc/http_headers.h"
#include "common/rpc/json_text.h"
#include "common/rpc/message.h"
#include "common/schema/json_fields.h"

namespace league::mcp {
namespace {

using nlohmann::json;
using schema::field_at;

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  return std::ranges::all_of(text, [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
}

ModernFault invalid_params(std::string why) {
  return {static_cast<int>(rpc::StandardCode::kInvalidParams), "Invalid params: " + std::move(why)};
}

ModernFault mismatch(std::string why) {
  return {kHeaderMismatch, "Header mismatch: " + std::move(why)};
}

/// The header must be there and mean `wanted`.
std::optional<ModernFault> check_header(const rpc::HeaderMap& headers, std::string_view name,
                                        std::string_view wanted, std::string_view in_body) {
  auto value = rpc::find_header(headers, name);
  std::string label(name);
  if (!value) {
    return mismatch("the header " + label + " is missing; it must repeat " + std::string(in_body));
  }
  auto text = decode_header_value(*value);
  if (!text)
    return mismatch("the header " + label +
                    " is marked as base64, but its value is not valid base64");
  if (*text == wanted) return std::nullopt;
  return mismatch("the header " + label + " does not match " + std::string(in_body));
}

std::optional<ModernFault> check_version(const RequestSigns& signs) {
  const auto* version = signs.meta_version->get_ptr<const std::string*>();
  if (version == nullptr) {
    return invalid_params("params._meta." + std::string(kVersionKey) + " must be a string");
  }
  if (signs.headers != nullptr) {
    auto fault = check_header(*signs.headers, kVersionHeader, *version,
                              "params._meta." + std::string(kVersionKey));
    if (fault) return fault;
  }
  if (*version == kModernRevision) return std::nullopt;
  return ModernFault{kUnsupportedVersion, "Unsupported protocol version",
                     json{{"supported", json::array({kModernRevision})},
                          {"requested", core::excerpt(*version, core::kMostEchoed)}}};
}

std::string header_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : rpc::to_json_text(value);
}

std::optional<ModernFault> check_arguments(
    const rpc::HeaderMap& headers, const json& params,
    const std::vector<std::pair<std::string, std::string>>& repeated) {
  if (repeated.empty()) return std::nullopt;
  const json& arguments = field_at(params, "arguments");
  for (const auto& [argument, suffix] : repeated) {
    std::string name = std::string(kParameterHeaderPrefix) + suffix;
    const json& value = field_at(arguments, argument);
    if (value.is_null()) {
      if (!rpc::find_header(headers, name)) continue;
      return mismatch("the header " + name + " was sent, but the argument " + argument +
                      " was not");
    }
    auto fault = check_header(headers, name, header_text(value), "the argument " + argument);
    if (fault) return fault;
  }
  return std::nullopt;
}

}  // namespace

bool is_modern_version(std::string_view version) {
  version = core::trimmed(version);
  return is_date(version) && version >= kModernRevision;
}

bool RequestSigns::is_modern() const {
  return meta_version != nullptr || (version_header && is_modern_version(*version_header));
}

RequestSigns read_signs(const rpc::MessageContext& context) {
  RequestSigns signs;
  const auto* http = context.transport.as_http();
  if (http == nullptr || !http->headers) return signs;
  signs.headers = http->headers.get();
  signs.version_header = rpc::find_header(*signs.headers, kVersionHeader);
  signs.session_header = rpc::find_header(*signs.headers, rpc::kSessionHeader);
  if (signs.version_header) signs.version_header = core::trimmed(*signs.version_header);
  return signs;
}

RequestSigns read_signs(const json& document, const rpc::MessageContext& context) {
  RequestSigns signs = read_signs(context);
  signs.method = schema::text_at(document, "method");
  const json& meta = field_at(field_at(document, "params"), "_meta");
  if (!meta.is_object()) return signs;
  signs.meta = &meta;
  if (auto version = meta.find(kVersionKey); version != meta.end()) signs.meta_version = &*version;
  return signs;
}

std::optional<std::string> decode_header_value(std::string_view value) {
  constexpr std::string_view kStart = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  value = core::trimmed(value);
  bool is_encoded = value.size() >= kStart.size() + kEnd.size() && value.starts_with(kStart) &&
                    value.ends_with(kEnd);
  if (!is_encoded) return std::string(value);
  value.remove_prefix(kStart.size());
  value.remove_suffix(kEnd.size());
  return core::decode_base64(value);
}

std::optional<ModernFault> check_modern(
    const RequestSigns& signs, const json& document, bool is_request,
    const std::function<std::vector<std::pair<std::string, std::string>>(std::string_view)>&
        headers_of) {
  if (signs.meta_version == nullptr) {
    if (!is_request) return std::nullopt;
    return invalid_params("params._meta." + std::string(kVersionKey) + " is missing; revision " +
                          std::string(kModernRevision) + " wants it in every request");
  }
  if (auto fault = check_version(signs)) return fault;
  if (!is_request) return std::nullopt;
  if (!field_at(*signs.meta, kClientCapabilitiesKey).is_object()) {
    return invalid_params("params._meta." + std::string(kClientCapabilitiesKey) +
                          " must be an object; it may be empty");
  }
  if (signs.headers == nullptr) return std::nullopt;
  if (auto fault = check_header(*signs.headers, kMethodHeader, signs.method, "method"))
    return fault;
  const json& params = document.at("params");
  const std::string_view member = named_member(signs.method);
  const auto* name = field_at(params, member).get_ptr<const std::string*>();
  if (member.empty() || name == nullptr) return std::nullopt;
  auto fault = check_header(*signs.headers, kNameHeader, *name, "the name or uri in params");
  if (fault || signs.method != "tools/call") return fault;
  return check_arguments(*signs.headers, params, headers_of(*name));
}

}  // namespace league::mcp
