#include "common/transport/front/plain_post.h"

#include <algorithm>
#include <array>

#include "common/transport/http/http_refusal.h"

namespace league::transport::front {

bool is_plain_post(const RawRequest& request, std::string_view path) {
  return request.head != nullptr && request.head->is_plain_post && !request.close_after &&
         request.bytes.substr(request.head->target, request.head->target_size) == path;
}

bool is_added_by_httplib(std::string_view name) {
  constexpr auto kAdded =
      std::to_array<std::string_view>({"REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR", "LOCAL_PORT"});
  return std::ranges::find(kAdded, name) != kAdded.end();
}

std::shared_ptr<rpc::HeaderMap> headers_of(const RawRequest& request) {
  auto headers = std::make_shared<rpc::HeaderMap>();
  for (const ScannedHead::Field& field : request.head->fields) {
    const auto name = request.bytes.substr(field.name, field.name_size);
    if (is_added_by_httplib(name)) continue;
    headers->emplace(name, request.bytes.substr(field.value, field.value_size));
  }
  return headers;
}

void add_field(rpc::HeaderMap& fields, std::string_view name, std::string_view value) {
  constexpr std::string_view kLineEnds = "\r\n";
  if (name.find_first_of(kLineEnds) != name.npos || value.find_first_of(kLineEnds) != value.npos)
    return;
  fields.emplace(name, value);
}

void write_answer(std::string& out, PlainAnswer answer, std::string_view keep_alive) {
  rpc::HeaderMap& fields = answer.fields;
  fields.emplace("Date", http::date_now());
  fields.emplace("Keep-Alive", keep_alive);
  fields.emplace("Content-Length", std::to_string(answer.body.size()));
  out += answer.status == 200 ? "HTTP/1.1 200 OK" : http::status_line(answer.status);
  out += "\r\n";
  for (const auto& [name, value] : fields)
    out.append(name).append(": ").append(value).append("\r\n");
  out.append("\r\n").append(answer.body);
}

}  // namespace league::transport::front
