#include "common/transport/http/http_refusal.h"

#include "common/rpc/json_text.h"

namespace league::transport {

namespace {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Refused";
  }
}

int json_rpc_code(int status) {
  if (status == 400) return -32700;
  return status >= 500 && status != 501 && status != 505 ? -32603 : -32600;
}

}  // namespace

std::string refusal_body(const HttpRefusal& refusal) {
  std::string text;
  rpc::append_json_string(text, refusal.text);
  return R"({"jsonrpc":"2.0","error":{"code":)" + std::to_string(json_rpc_code(refusal.status)) +
         R"(,"message":)" + text + R"(},"id":null})";
}

std::string refusal_response(const HttpRefusal& refusal) {
  std::string body = refusal_body(refusal);
  std::string out = "HTTP/1.1 " + std::to_string(refusal.status) + " ";
  out += reason_phrase(refusal.status);
  out += "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ";
  out += std::to_string(body.size()) + "\r\n\r\n" + body;
  return out;
}

}  // namespace league::transport
