#include "common/mcp/client/request_frame.h"

#include <algorithm>

#include "common/core/base64.h"
#include "common/mcp/protocol.h"
#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

void add_modern_meta(json& params, const Negotiated& negotiated, const ClientIdentity& client,
                     bool is_relayed) {
  json& meta = params["_meta"];
  meta[std::string(kVersionKey)] = negotiated.revision;
  if (is_relayed && meta.contains(std::string(kClientCapabilitiesKey))) return;
  meta[std::string(kClientCapabilitiesKey)] = client.capabilities;
  meta[std::string(kClientInfoKey)] = {{"name", client.name}, {"version", client.version}};
}

core::Result<json> read_params(std::string_view params) {
  if (params.empty()) return json::object();
  auto parsed = schema::parse_json(params, schema::kMcpLimits);
  if (!parsed) return parsed.error();
  if (!parsed->is_object())
    return Error{ErrorCode::kMalformedMessage, "the parameters must be a JSON object", "/params"};
  if (auto meta = parsed->find("_meta"); meta != parsed->end() && !meta->is_object())
    return Error{ErrorCode::kMalformedMessage, "_meta must be an object", "/params/_meta"};
  return parsed;
}

}  // namespace

std::string header_value(std::string_view text) {
  bool is_plain = !text.empty() && text.front() != ' ' && text.back() != ' ' &&
                  !text.starts_with("=?base64?") &&
                  std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127; });
  if (is_plain) return std::string(text);
  std::string out = "=?base64?";
  core::append_base64(text, out);
  return out + "?=";
}

Headers session_headers(const Negotiated& negotiated) {
  Headers headers;
  if (!negotiated.session_id.empty()) headers.emplace_back("Mcp-Session-Id", negotiated.session_id);
  // The header came with 2025-06-18; revisions are dates, so they compare as texts.
  if (negotiated.revision >= "2025-06-18")
    headers.emplace_back("MCP-Protocol-Version", negotiated.revision);
  return headers;
}

core::Result<RequestFrame> frame_request(const Negotiated& negotiated, const ClientIdentity& client,
                                         const rpc::Id& id, std::string_view method,
                                         std::string_view params, bool wants_progress,
                                         bool is_relayed) {
  RequestFrame frame;
  frame.headers = session_headers(negotiated);
  if (!negotiated.is_modern && !wants_progress) {
    frame.bytes = rpc::encode_request(id, method, params);
    return frame;
  }
  auto document = read_params(params);
  if (!document) return document.error();
  if (wants_progress) (*document)["_meta"]["progressToken"] = id;
  if (negotiated.is_modern) {
    add_modern_meta(*document, negotiated, client, is_relayed);
    frame.headers.emplace_back("Mcp-Method", std::string(method));
    const std::string_view member = named_member(method);
    const std::string& name = schema::text_at(*document, member);
    if (!member.empty() && !name.empty())
      frame.headers.emplace_back("Mcp-Name", header_value(name));
  }
  frame.bytes = rpc::encode_request(id, method, rpc::to_json_text(*document));
  return frame;
}

}  // namespace league::mcp::client
