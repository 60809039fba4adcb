#include "common/transport/http/http_refusal.h"

#include <boost/beast/http/status.hpp>
#include <ctime>

#include "common/rpc/json_text.h"

namespace league::transport::http {

namespace {

int json_rpc_code(int status) {
  if (status == 400) return -32700;
  return status >= 500 && status != 501 && status != 505 ? -32603 : -32600;
}

}  // namespace

const std::string& date_now() {
  thread_local std::time_t known = -1;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now == known) return text;
  known = now;
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char buffer[40];
  text.assign(buffer, std::strftime(buffer, sizeof(buffer), "%a, %d %b %Y %H:%M:%S GMT", &parts));
  return text;
}

std::string refusal_body(const HttpRefusal& refusal) {
  std::string text;
  rpc::append_json_string(text, refusal.text);
  return R"({"jsonrpc":"2.0","error":{"code":)" + std::to_string(json_rpc_code(refusal.status)) +
         R"(,"message":)" + text + R"(},"id":null})";
}

std::string refusal_text(int status) {
  switch (status) {
    case 400:
      return "malformed request: method, target, a header or the body's framing";
    case 413:
      return "the body is too large";
    case 414:
      return "the request target is too long";
    default:
      return "the request cannot be served";
  }
}

std::string status_line(int status) {
  const auto reason =
      boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason.data(), reason.size());
}

std::string refusal_response(const HttpRefusal& refusal) {
  std::string body = refusal_body(refusal);
  std::string out = status_line(refusal.status);
  out += "\r\nDate: " + date_now();
  out += "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ";
  out += std::to_string(body.size()) + "\r\n\r\n" + body;
  return out;
}

}  // namespace league::transport::http
