#include "common/rpc/delivery.h"

namespace league::rpc {

Delivery Delivery::with_direction(MessageDirection value) const& {
  return Delivery(*this).with_direction(value);
}
Delivery Delivery::with_direction(MessageDirection value) && {
  context.direction = value;
  return std::move(*this);
}

Delivery Delivery::with_session(SessionContext value) const& {
  return Delivery(*this).with_session(std::move(value));
}
Delivery Delivery::with_session(SessionContext value) && {
  context.session = std::move(value);
  return std::move(*this);
}

Delivery Delivery::with_transport(TransportContext value) const& {
  return Delivery(*this).with_transport(std::move(value));
}
Delivery Delivery::with_transport(TransportContext value) && {
  context.transport = std::move(value);
  return std::move(*this);
}

Delivery Delivery::answer(Response response, const TimingContext& timing) const {
  return Delivery(Message(std::move(response)), context.for_response(timing));
}

}  // namespace league::rpc
