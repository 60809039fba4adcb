#include "common/rpc/context.h"

#include <utility>

namespace league::rpc {

MessageContext MessageContext::with_direction(MessageDirection value) const& {
  return MessageContext(*this).with_direction(value);
}
MessageContext MessageContext::with_direction(MessageDirection value) && {
  direction = value;
  return std::move(*this);
}

MessageContext MessageContext::with_session(SessionContext value) const& {
  return MessageContext(*this).with_session(std::move(value));
}
MessageContext MessageContext::with_session(SessionContext value) && {
  session = std::move(value);
  return std::move(*this);
}

MessageContext MessageContext::with_transport(TransportContext value) const& {
  return MessageContext(*this).with_transport(std::move(value));
}
MessageContext MessageContext::with_transport(TransportContext value) && {
  transport = std::move(value);
  return std::move(*this);
}

MessageContext MessageContext::with_timing(const TimingContext& value) const& {
  return MessageContext(*this).with_timing(value);
}
MessageContext MessageContext::with_timing(const TimingContext& value) && {
  timing = value;
  return std::move(*this);
}

MessageContext MessageContext::for_response(const TimingContext& response_timing) const {
  return {reverse(direction), session, transport, response_timing};
}
MessageContext MessageContext::for_response(const core::Clock& clock) const {
  return for_response(TimingContext::now(clock));
}

}  // namespace league::rpc
