#include "bus/transport/nats_connection.h"

#include <string_view>
#include <utility>

#include "bus/transport/nats_link.h"

namespace league::transport::bus {
namespace {

std::string said_or(const char* text, natsStatus status) {
  std::string_view said = text == nullptr ? "" : text;
  // A prefix such as `(conn.c:1909): ` means nothing to an operator.
  if (auto end = said.find("): "); said.starts_with('(') && end != std::string_view::npos) {
    said.remove_prefix(end + 3);
  }
  return said.empty() ? natsStatus_GetText(status) : std::string(said);
}

}  // namespace

std::shared_ptr<NatsConnection> NatsConnection::connect(natsOptions* options,
                                                        std::shared_ptr<NatsLink> link,
                                                        natsStatus& status, std::string& why) {
  std::shared_ptr<NatsConnection> self(new NatsConnection(std::move(link)));
  self->self_ = self;
  status = self->listen_with(options);
  if (status == NATS_OK) status = natsConnection_Connect(&self->connection_, options);
  if (status == NATS_OK) return self;
  why = said_or(nats_GetLastError(nullptr), status);
  // libnats calls no callback for a failed first attempt, not even on_closed.
  self->self_ = nullptr;
  return nullptr;
}

template <void (NatsLink::*Method)(NatsConnection&)>
void NatsConnection::forward(natsConnection*, void* closure) noexcept {
  auto& connection = *static_cast<NatsConnection*>(closure);
  (*connection.link_.*Method)(connection);
}

natsStatus NatsConnection::listen_with(natsOptions* options) {
  natsStatus status =
      natsOptions_SetReconnectedCB(options, forward<&NatsLink::on_reconnected>, this);
  if (status == NATS_OK) {
    status = natsOptions_SetDisconnectedCB(options, forward<&NatsLink::on_disconnected>, this);
  }
  if (status == NATS_OK) status = natsOptions_SetClosedCB(options, forward_closed, this);
  if (status == NATS_OK) status = natsOptions_SetErrorHandler(options, forward_error, this);
  return status;
}

void NatsConnection::forward_closed(natsConnection* connection, void* closure) noexcept {
  auto self = std::exchange(static_cast<NatsConnection*>(closure)->self_, nullptr);
  const char* text = nullptr;
  natsStatus status = natsConnection_GetLastError(connection, &text);
  self->link_->on_closed(*self, said_or(text, status));
}

void NatsConnection::forward_error(natsConnection* connection, natsSubscription* subscription,
                                   natsStatus status, void* closure) noexcept {
  const char* text = nullptr;
  natsConnection_GetLastError(connection, &text);
  std::string what = said_or(text, status);
  if (status == NATS_SLOW_CONSUMER && subscription != nullptr) {
    // Null if the subscription has ended in the meantime.
    const char* subject = natsSubscription_GetSubject(subscription);
    what = "messages" + (subject != nullptr ? " at " + std::string(subject) : std::string()) +
           " are dropped: they arrive faster than they are handled";
  }
  static_cast<NatsConnection*>(closure)->link_->on_fault(what);
}

}  // namespace league::transport::bus
