// Hostile messages of a replicated league's managers: the id of a message, a line feed, its
// payload; or a heartbeat. Reading never throws, and what was read is the same after it was written
// and read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bus/standby/stream_format.h"
#include "common/core/crypto.h"

namespace {

namespace stream = league::league_manager::stream;

void check_message(std::string_view input) {
  const auto end = std::min(input.find('\n'), input.size());
  league::transport::bus::BusMessage sent;
  sent.headers = {{"Nats-Msg-Id", std::string(input.substr(0, end))}};
  sent.payload = input.substr(std::min(end + 1, input.size()));
  const auto message = stream::read_message(sent);
  if (!message) {
    if (message.error().message.empty()) std::abort();
    return;
  }
  sent = stream::write_message("l", 1, *message);
  sent.headers = {{"Nats-Msg-Id", league::core::to_hex(message->id)}};  // as JetStream adds it
  const auto again = stream::read_message(sent);
  if (!again || !(*again == *message)) std::abort();
}

void check_heartbeat(std::string_view input) {
  const auto heartbeat = stream::read_heartbeat(input);
  if (!heartbeat) {
    if (heartbeat.error().message.empty()) std::abort();
    return;
  }
  const std::string written = stream::write_heartbeat(*heartbeat);
  const auto again = stream::read_heartbeat(written);
  if (!again || stream::write_heartbeat(*again) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  check_message(input);
  check_heartbeat(input);
  return 0;
}
