#include "common/agent/dialects/received_text.h"

#include <nlohmann/json.hpp>

#include "common/audit/record/masking.h"
#include "common/core/text.h"

namespace league::agent {

core::Error with_received(core::Error why, const nlohmann::json& received) {
  constexpr std::size_t kLongest = 300;
  const auto text = received.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  why.message += "; received: " + core::shown(audit::mask_secrets(text), kLongest);
  return why;
}

}  // namespace league::agent
