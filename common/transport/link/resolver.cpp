#include "common/transport/link/resolver.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>

namespace league::transport::link {

core::Result<std::vector<std::string>> resolve(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int fault = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (fault != 0) {
    return core::Error{core::ErrorCode::kConnectionError,
                       "the host " + host + " cannot be resolved: " + ::gai_strerror(fault),
                       {}};
  }
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) != 0) {
      continue;
    }
    std::string address(text.data());
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) {
      addresses.push_back(std::move(address));
    }
  }
  if (addresses.empty()) {
    return core::Error{
        core::ErrorCode::kConnectionError, "the host " + host + " has no address", {}};
  }
  return addresses;
}

}  // namespace league::transport::link
