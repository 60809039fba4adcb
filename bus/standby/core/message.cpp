#include "bus/standby/core/message.h"

#include "common/journal/journal_mark.h"

namespace league::league_manager::stream {

core::Digest message_id(const Message& message) {
  std::string text = std::to_string(static_cast<int>(message.kind));
  for (const std::uint64_t number :
       {message.term, message.first, message.last, message.lose_after.value_or(0),
        std::uint64_t{message.has_more}})
    text.append(" ").append(std::to_string(number));
  text.append(" ").append(core::to_hex(message.digest));
  return journal::chained(message.previous, {message.writer, text});
}

}  // namespace league::league_manager::stream
