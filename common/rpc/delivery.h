#pragma once

#include <memory>
#include <utility>

#include "common/rpc/context.h"
#include "common/rpc/message.h"

namespace league::rpc {

/// A message and how it came: what is handed from stage to stage after decoding. Copies share the
/// message, which never changes, so a copy costs some reference counts; the context is each copy's
/// own. Copies may be used from several threads. Source: the MessageEnvelope design
/// (docs/decisions.md).
class Delivery {
 public:
  Delivery(Message message, MessageContext context_in)
      : context(std::move(context_in)),
        message_(std::make_shared<const Message>(std::move(message))) {}

  /// Valid as long as any copy of this delivery.
  [[nodiscard]] const Message& message() const { return *message_; }
  [[nodiscard]] const std::shared_ptr<const Message>& shared_message() const { return message_; }

  /// The same with one part of the context replaced; chain them on a temporary, which copies
  /// nothing.
  [[nodiscard]] Delivery with_direction(MessageDirection value) const&;
  [[nodiscard]] Delivery with_direction(MessageDirection value) &&;
  [[nodiscard]] Delivery with_session(SessionContext value) const&;
  [[nodiscard]] Delivery with_session(SessionContext value) &&;
  [[nodiscard]] Delivery with_transport(TransportContext value) const&;
  [[nodiscard]] Delivery with_transport(TransportContext value) &&;

  /// The delivery of `response` to this message: see MessageContext::for_response.
  [[nodiscard]] Delivery answer(Response response, const TimingContext& timing) const;

  MessageContext context;

 private:
  std::shared_ptr<const Message> message_;
};

}  // namespace league::rpc
