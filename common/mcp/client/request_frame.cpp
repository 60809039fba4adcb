#include "common/mcp/client/request_frame.h"

#include <algorithm>

#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/parse_json.h"

namespace league::mcp {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

constexpr schema::JsonLimits kOwnLimits{.max_depth = 64, .max_key_length = 1024};

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      group <<= 8U;
      if (k < count) group |= static_cast<unsigned char>(bytes[i + k]);
    }
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= count ? kLetters[(group >> (18 - 6 * k)) & 63U] : '=';
  }
  return out;
}

/// The value of `Mcp-Name`; empty if the method has none.
std::string target_name(std::string_view method, const json& params) {
  const char* key = nullptr;
  if (method == "tools/call" || method == "prompts/get") key = "name";
  if (method == "resources/read") key = "uri";
  if (key == nullptr) return {};
  auto it = params.find(key);
  return it != params.end() && it->is_string() ? it->get<std::string>() : std::string();
}

json id_json(const rpc::Id& id) {
  json value;
  rpc::to_json(value, id);
  return value;
}

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
  auto parsed = schema::parse_json(params, kOwnLimits);
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
  return is_plain ? std::string(text) : "=?base64?" + base64(text) + "?=";
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
  if (wants_progress) (*document)["_meta"]["progressToken"] = id_json(id);
  if (negotiated.is_modern) {
    add_modern_meta(*document, negotiated, client, is_relayed);
    frame.headers.emplace_back("Mcp-Method", std::string(method));
    if (auto name = target_name(method, *document); !name.empty())
      frame.headers.emplace_back("Mcp-Name", header_value(name));
  }
  frame.bytes = rpc::encode_request(id, method, rpc::to_json_text(*document));
  return frame;
}

}  // namespace league::mcp
