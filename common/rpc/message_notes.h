#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error_code.h"

namespace league::rpc {

/// What is learned about a message while it is handled, for the conversation log: the transport
/// starts the record with the bytes, admission fills this in, and the log writes it once
/// (docs/architecture.md, life of a message). Not thread-safe: it belongs to one delivery.
struct MessageNotes {
  std::string message_type;  ///< wire name, or empty while unknown
  std::string conversation_id;  ///< empty while unknown
  std::string match_id;  ///< empty where the message belongs to no match
  std::string peer;  ///< the other side: a sender such as `player:P01`, else its address
  /// The agent, such as `player:P01`, whose token, credential or signature was checked for this
  /// message; empty: nobody's was, and `peer` is only what the message claims (protocol §8).
  std::string said_by;
  /// The way that a message took through this program, which was not meant for it (`seat`); empty:
  /// it was. Static storage.
  std::string_view via;
  /// It only carries messages that the log has anyway (a poll of a seat), so it is logged only if
  /// it is refused.
  bool is_carrier = false;
  bool is_secret = false;  ///< not even then, since it contains what others could use
  std::vector<std::string_view>
      leniencies;  ///< stable names (common/envelope/leniency.h); static storage
  std::optional<core::ErrorCode>
      verdict;  ///< the fault that was found; nothing when the message was accepted
  std::string fault;  ///< the text to `verdict`, for people; never contains a token
};

}  // namespace league::rpc
