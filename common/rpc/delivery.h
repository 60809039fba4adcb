#pragma once

#include <memory>

#include "common/rpc/context.h"
#include "common/rpc/message_notes.h"
#include "common/rpc/shared_text.h"

namespace league::rpc {

/// One message in this process: its bytes, the way that it came or goes, and what is learned of it
/// on the way. This pair of message and context is what transports, admission and the log hand on,
/// in both directions: whatever else they need of a message stands beside it. Copies share the
/// bytes and the notes; the context is each copy's own. Source: the MessageEnvelope design
/// (docs/decisions.md).
struct Delivery {
  SharedText bytes;  ///< one JSON document as on the wire; empty: none
  MessageContext context;
  std::shared_ptr<MessageNotes> notes = std::make_shared<MessageNotes>();
};

}  // namespace league::rpc
