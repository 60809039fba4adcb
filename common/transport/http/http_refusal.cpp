#include "common/transport/http/http_refusal.h"

#include <boost/beast/http/status.hpp>

#include "common/rpc/json_text.h"

namespace league::transport::http {

namespace {

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
  const auto reason =
      boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(refusal.status));
  out.append(reason.data(), reason.size());
  out += "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ";
  out += std::to_string(body.size()) + "\r\n\r\n" + body;
  return out;
}

}  // namespace league::transport::http
