// Hostile messages of a journal's stream: reading never throws, and what was read
// is the same after it was written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "league_manager/standby/journal_stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  namespace lm = league::league_manager;
  for (const char* subject : {"mcp.journal.l", "mcp.journal.l.packed"}) {
    auto piece = lm::standby::read_piece({subject, {}, {}, std::string(input), false});
    if (!piece) continue;
    auto again = lm::standby::read_piece(lm::standby::write_piece("l", *piece));
    if (!again || !(*again == *piece)) std::abort();
  }
  if (auto had = lm::standby::read_follower_position(input)) {
    auto again = lm::standby::read_follower_position(lm::standby::write_follower_position(*had));
    if (!again || again->term != had->term || again->sequence != had->sequence) std::abort();
  }
  return 0;
}
