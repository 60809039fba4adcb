// Hostile endpoints and lists of allowed ones: nothing throws, no error repeats much of the input,
// and the canonical text of an endpoint is the same endpoint.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/transport/link/endpoint.h"
#include "common/transport/link/endpoint_policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr std::size_t kLongestText = 1000;
  auto endpoint = league::transport::link::parse_endpoint(input);
  if (!endpoint) {
    if (endpoint.error().message.empty() || endpoint.error().message.size() > kLongestText)
      std::abort();
  } else {
    auto again = league::transport::link::parse_endpoint(endpoint->url());
    if (!again || !(*again == *endpoint)) std::abort();
  }
  auto policy = league::transport::link::EndpointPolicy::parse(std::string(input));
  if (!policy && policy.error().message.empty()) std::abort();
  return 0;
}
