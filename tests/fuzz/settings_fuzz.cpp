// Hostile limits: reading never throws, and settings that were read are the same after they
// were written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/agent/runtime/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto document = nlohmann::json::parse(data, data + size, nullptr, false);
  auto settings = league::agent::runtime::parse_settings(document);
  if (!settings) {
    if (settings.error().message.empty()) std::abort();
    return 0;
  }
  auto written = league::agent::runtime::to_json(*settings);
  auto again = league::agent::runtime::parse_settings(written);
  if (!again || league::agent::runtime::to_json(*again) != written) std::abort();
  return 0;
}
