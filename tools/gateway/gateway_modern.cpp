#include "tools/gateway/gateway_modern.h"

#include <algorithm>
#include <array>
#include <string>

#include "common/mcp/protocol.h"
#include "common/mcp/revision.h"
#include "common/schema/json_fields.h"

namespace league::tools::gateway {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 9> kMethods{
    "tools/list",     "tools/call",          "prompts/list",
    "prompts/get",    "resources/list",      "resources/templates/list",
    "resources/read", "completion/complete", kListenMethod};

int status_of(int code) {
  if (code == static_cast<int>(rpc::StandardCode::kMethodNotFound)) return 404;
  const bool is_of_request = code == mcp::kHeaderMismatch ||
                             code == mcp::kMissingClientCapability ||
                             code == mcp::kUnsupportedVersion;
  return is_of_request ? 400 : 200;
}

bool may_be_kept(std::string_view method) {
  return method.ends_with("/list") || method == "resources/read" || method == "server/discover";
}

}  // namespace

ClientEra era_of(const json& document, const rpc::MessageContext& context) {
  ClientEra era;
  if (!document.is_object()) return era;
  auto signs = mcp::read_signs(document, context);
  era.is_modern = signs.is_modern();
  if (!era.is_modern || signs.method.empty()) return era;
  era.fault = mcp::check_modern(signs, document, document.contains("id"), [](std::string_view) {
    return std::vector<std::pair<std::string, std::string>>();
  });
  return era;
}

bool is_modern_method(std::string_view method) {
  return std::ranges::find(kMethods, method) != kMethods.end();
}

json discovered(json description) {
  json result = {{"supportedVersions", json::array({mcp::kModernRevision})},
                 {"capabilities", json::object()}};
  for (const char* name : {"tools", "prompts", "resources", "completions"}) {
    const json& found = schema::field_at(schema::field_at(description, "capabilities"), name);
    if (found.is_object()) result["capabilities"][name] = found;
  }
  if (description.contains("instructions")) result["instructions"] = description["instructions"];
  return result;
}

void complete_modern(std::string_view method, const json& server_info, GatewayAnswer& answer) {
  if (answer.response.error) {
    // A backend without HTTP sends no status; the revision gives these errors one.
    if (answer.http_status == 200) answer.http_status = status_of(answer.response.error->code);
    return;
  }
  json& result = answer.response.result;
  if (!result.is_object()) return;
  result.emplace("resultType", "complete");
  json& meta = result["_meta"];
  if (!meta.is_object()) meta = json::object();
  meta.emplace(mcp::kServerInfoKey, server_info);
  if (!may_be_kept(method)) return;
  // Without a value from the backend, the list must not be cached.
  result.emplace("ttlMs", 0);
  result.emplace("cacheScope", "private");
}

}  // namespace league::tools::gateway
