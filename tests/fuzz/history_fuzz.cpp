// Hostile history.json of players: reading never throws, and a history that was read is the same
// after it was written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "player/core/history.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto document = nlohmann::json::parse(data, data + size, nullptr, false);
  auto history = league::player::history_from_json(document);
  if (!history) {
    if (history.error().message.empty()) std::abort();
    return 0;
  }
  league::core::PlayerId player("P01");
  auto again = league::player::history_from_json(league::player::history_to_json(*history, player));
  if (!again || !(*again == *history)) std::abort();
  return 0;
}
