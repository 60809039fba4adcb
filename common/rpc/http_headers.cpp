#include "common/rpc/http_headers.h"

namespace league::rpc {

std::optional<std::string_view> find_header(const HeaderMap& headers, std::string_view name) {
  auto found = headers.find(name);
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

}  // namespace league::rpc
