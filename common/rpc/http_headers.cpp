#include "common/rpc/http_headers.h"

#include <array>

namespace league::rpc {

std::optional<std::string_view> find_header(const HeaderMap& headers, std::string_view name) {
  auto found = headers.find(name);
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

bool is_relayed(const HeaderMap& headers) {
  constexpr std::array<std::string_view, 4> kOfProxies = {"Forwarded", "X-Forwarded-For",
                                                          "X-Real-IP", "Via"};
  return std::any_of(kOfProxies.begin(), kOfProxies.end(),
                     [&](std::string_view name) { return find_header(headers, name).has_value(); });
}

}  // namespace league::rpc
