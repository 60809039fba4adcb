#include "common/transport/http/cors_rules.h"

#include <algorithm>
#include <array>

#include "common/core/text.h"
#include "common/transport/link/media_type.h"

namespace league::transport::http {
namespace {

constexpr std::string_view kEveryOrigin = "*";
/// The header fields that a page may read: its session, and why it was refused.
constexpr const char* kExposed = "Mcp-Session-Id, WWW-Authenticate, Allow";
/// Header fields that MCP clients send (Streamable HTTP), in lower case.
constexpr std::array<std::string_view, 8> kAllowedFields{
    "accept",     "authorization", "content-type",         "last-event-id",
    "mcp-method", "mcp-name",      "mcp-protocol-version", "mcp-session-id"};
/// Prefix of fields for tool arguments; only the caller knows the rest of the name.
constexpr std::string_view kArgumentPrefix = "mcp-param-";
constexpr std::size_t kMostArguments = 64;
/// For how many seconds a browser may cache the answer to a preflight.
constexpr const char* kMaxAge = "600";

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

/// The names in a comma-separated list, in lower case.
std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  std::string name;
  for (char c : core::lower_case(std::string(list)) + ",") {
    if (c == ',') {
      if (is_name(name)) names.push_back(name);
      name.clear();
    } else if (c != ' ' && c != '\t') {
      name += c;
    }
  }
  return names;
}

bool is_host(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
           c == '[' || c == ']' || c == ':';
  });
}

}  // namespace

CorsRules::CorsRules(std::vector<std::string> origins) : origins_(std::move(origins)) {
  allows_every_origin_ =
      std::find(origins_.begin(), origins_.end(), kEveryOrigin) != origins_.end();
}

bool CorsRules::allows(std::string_view origin) const {
  if (origin.empty() || origin == "null") return false;
  return allows_every_origin_ ||
         std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

std::string_view CorsRules::allowed_origin(const rpc::HeaderMap& headers) const {
  const std::string_view origin = link::only_value(headers, "Origin");
  return allows(origin) ? origin : std::string_view();
}

CorsRules::Fields CorsRules::answer_fields(const rpc::HeaderMap& headers) const {
  Fields fields;
  if (origins_.empty()) return fields;
  if (!allows_every_origin_) fields.emplace_back("Vary", "Origin");
  const std::string_view origin = allowed_origin(headers);
  if (origin.empty()) return fields;
  fields.emplace_back("Access-Control-Allow-Origin",
                      std::string(allows_every_origin_ ? kEveryOrigin : origin));
  fields.emplace_back("Access-Control-Expose-Headers", kExposed);
  return fields;
}

bool CorsRules::is_preflight(std::string_view method, const rpc::HeaderMap& headers) const {
  return method == "OPTIONS" && !allowed_origin(headers).empty() &&
         !link::only_value(headers, "Access-Control-Request-Method").empty();
}

CorsRules::Fields CorsRules::preflight_fields(const rpc::HeaderMap& headers,
                                              std::string_view methods) {
  std::string allowed;
  for (std::string_view name : kAllowedFields)
    allowed.append(allowed.empty() ? "" : ", ").append(name);
  std::size_t arguments = 0;
  for (const auto& name : names_in(link::only_value(headers, "Access-Control-Request-Headers"))) {
    if (name.starts_with(kArgumentPrefix) && ++arguments <= kMostArguments)
      allowed.append(", ").append(name);
  }
  Fields fields{{"Access-Control-Allow-Methods", std::string(methods)},
                {"Access-Control-Allow-Headers", std::move(allowed)},
                {"Access-Control-Max-Age", kMaxAge}};
  // A page from the internet may call this machine only if this is allowed explicitly.
  if (link::only_value(headers, "Access-Control-Request-Private-Network") == "true")
    fields.emplace_back("Access-Control-Allow-Private-Network", "true");
  return fields;
}

core::Result<std::string> parse_origin(std::string_view text) {
  const core::Error wrong{
      core::ErrorCode::kInvalidFieldValue,
      "\"" + std::string(text.substr(0, 100)) +
          "\" is not an origin: give scheme, host and port as browsers send them, "
          "such as https://example.org or http://localhost:3000, without a "
          "path, or * for every page",
      {}};
  if (text == kEveryOrigin) return std::string(text);
  std::string origin = core::lower_case(std::string(text));
  auto scheme_end = origin.find("://");
  if (scheme_end == std::string::npos) return wrong;
  const std::string scheme = origin.substr(0, scheme_end);
  const std::string host = origin.substr(scheme_end + 3);
  bool is_scheme =
      !scheme.empty() && scheme.front() >= 'a' && scheme.front() <= 'z' &&
      std::all_of(scheme.begin(), scheme.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
      });
  if (!is_scheme || !is_host(host) || origin.size() > 300) return wrong;
  for (std::string_view own : {"http:80", "https:443"}) {
    std::string_view own_scheme = own.substr(0, own.find(':'));
    std::string_view own_port = own.substr(own.find(':'));
    if (scheme == own_scheme && origin.ends_with(own_port))
      origin.resize(origin.size() - own_port.size());
  }
  return origin;
}

std::string head_lines(const CorsRules::Fields& fields) {
  std::string lines;
  for (const auto& [name, value] : fields)
    lines.append(name).append(": ").append(value).append("\r\n");
  return lines;
}

}  // namespace league::transport::http
