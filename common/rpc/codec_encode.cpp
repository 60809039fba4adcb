#include <nlohmann/json.hpp>

#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"

namespace league::rpc {
namespace {

constexpr std::string_view kStart = R"({"jsonrpc":"2.0")";

void append_member(std::string& out, std::string_view name, std::string_view bytes) {
  out += ",\"";
  out += name;
  out += "\":";
  out += bytes;
}

std::string start_call(const Id* id, std::string_view method, std::size_t params_size) {
  std::string out;
  out.reserve(96 + method.size() + params_size);
  out += kStart;
  if (id != nullptr) {
    out += ",\"id\":";
    id->append_to(out);
  }
  out += ",\"method\":";
  append_json_string(out, method);
  return out;
}

std::string encode_call(const Id* id, std::string_view method, std::string_view params_bytes) {
  std::string out = start_call(id, method, params_bytes.size());
  if (!params_bytes.empty()) append_member(out, "params", params_bytes);
  out += '}';
  return out;
}

std::string start_answer(const Id& id, std::size_t body_size) {
  std::string out;
  out.reserve(96 + body_size);
  out += kStart;
  out += ",\"id\":";
  id.append_to(out);
  return out;
}

std::string dump_or_empty(const nlohmann::json& value) {
  std::string out;
  if (!value.is_null()) append_json(out, value);
  return out;
}

}  // namespace

std::string encode_request(const Id& id, std::string_view method, std::string_view params_bytes) {
  return encode_call(&id, method, params_bytes);
}

std::string encode_notification(std::string_view method, std::string_view params_bytes) {
  return encode_call(nullptr, method, params_bytes);
}

std::string encode_result(const Id& id, std::string_view result_bytes) {
  std::string out = start_answer(id, result_bytes.size());
  bool is_null = result_bytes.empty() || result_bytes == "null";
  append_member(out, "result", is_null ? std::string_view("{}") : result_bytes);
  out += '}';
  return out;
}

std::string encode_error(const Id& id, int code, std::string_view message,
                         std::string_view data_bytes) {
  std::string out = start_answer(id, message.size() + data_bytes.size());
  out += ",\"error\":{\"code\":";
  out += std::to_string(code);
  out += ",\"message\":";
  append_json_string(out, message);
  if (!data_bytes.empty()) append_member(out, "data", data_bytes);
  out += "}}";
  return out;
}

std::string encode_error(const Id& id, StandardCode code, std::string_view data_bytes) {
  return encode_error(id, static_cast<int>(code), standard_message(code), data_bytes);
}

std::string encode(const Message& message) {
  if (const auto* request = std::get_if<Request>(&message)) {
    return encode_request(request->id, request->method, dump_or_empty(request->params));
  }
  if (const auto* notification = std::get_if<Notification>(&message)) {
    return encode_notification(notification->method, dump_or_empty(notification->params));
  }
  const auto& response = std::get<Response>(message);
  if (!response.error) return encode_result(response.id, dump_or_empty(response.result));
  return encode_error(response.id, response.error->code, response.error->message,
                      dump_or_empty(response.error->data));
}

std::string encode_batch(std::span<const std::string> encoded) {
  std::string out;
  for (const std::string& one : encoded) {
    out += out.empty() ? '[' : ',';
    out += one;
  }
  if (!out.empty()) out += ']';
  return out;
}

}  // namespace league::rpc
