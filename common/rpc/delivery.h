#pragma once

#include <memory>

#include "common/rpc/context.h"
#include "common/rpc/message_notes.h"
#include "common/rpc/shared_text.h"

namespace league::rpc {

/// One message in this process: its bytes, its context, and what is learned about it while it is
/// handled. Transports, admission and the log pass this on in both directions; other facts about a
/// message are stored beside it. Copies share the bytes and the notes; the context is each copy's
/// own. Source: the MessageEnvelope design (docs/decisions.md).
struct Delivery {
  SharedText bytes;  ///< one JSON document as on the wire; empty: none
  MessageContext context;
  std::shared_ptr<MessageNotes> notes = std::make_shared<MessageNotes>();
};

}  // namespace league::rpc
