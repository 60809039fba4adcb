#pragma once

#include <httplib.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "common/transport/front/httplib_server.h"
#include "common/transport/front/plain_post.h"

namespace league::transport::front {

/// A request in memory from which httplib reads, and the response that it writes.
class MemoryStream final : public httplib::Stream {
 public:
  MemoryStream(const RawRequest& request, std::string& out) : request_(request), out_(out) {}

  [[nodiscard]] bool is_readable() const override { return position_ < request_.bytes.size(); }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override {
    std::size_t count = std::min(size, request_.bytes.size() - position_);
    if (count == 1) {  // httplib reads the head like this
      *to = request_.bytes[position_++];
      return 1;
    }
    std::memcpy(to, request_.bytes.data() + position_, count);
    position_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    out_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = request_.remote->ip;
    port = request_.remote->port;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  [[nodiscard]] socket_t socket() const override { return INVALID_SOCKET; }

 private:
  const RawRequest& request_;
  std::string& out_;
  std::size_t position_ = 0;
};

/// The request's headers, except those that httplib adds.
inline std::shared_ptr<rpc::HeaderMap> copy_headers(const httplib::Request& request) {
  auto headers = std::make_shared<rpc::HeaderMap>();
  for (const auto& [name, value] : request.headers) {
    if (!is_added_by_httplib(name)) headers->emplace_hint(headers->end(), name, value);
  }
  return headers;
}

/// httplib matches paths as regular expressions, so special characters are escaped.
inline std::string escaped_path(const std::string& path) {
  std::string out;
  for (char c : path) {
    if (std::strchr(R"(\^$.|?*+()[]{})", c) != nullptr) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace league::transport::front
