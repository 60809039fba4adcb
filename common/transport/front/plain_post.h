#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/rpc/http_headers.h"
#include "common/transport/front/httplib_server.h"

namespace league::transport::front {

/// Whether the request is a plain POST to `path`, which needs nothing of httplib.
[[nodiscard]] bool is_plain_post(const RawRequest& request, std::string_view path);

/// Whether httplib adds a field of this name to each request, so that one of the peer's does not
/// count.
[[nodiscard]] bool is_added_by_httplib(std::string_view name);

/// Its header fields, without those that httplib would add in their place.
[[nodiscard]] std::shared_ptr<rpc::HeaderMap> headers_of(const RawRequest& request);

/// The parts of an answer that differ.
struct PlainAnswer {
  int status = 200;
  rpc::HeaderMap fields;  ///< beside Date, Keep-Alive and Content-Length
  std::string_view body;
};

/// Appends a field as httplib does: not one that contains a line end.
void add_field(rpc::HeaderMap& fields, std::string_view name, std::string_view value);

/// Appends the answer to `out`, with the fields in httplib's order. `keep_alive` is the value of
/// that field.
void write_answer(std::string& out, PlainAnswer answer, std::string_view keep_alive);

}  // namespace league::transport::front
