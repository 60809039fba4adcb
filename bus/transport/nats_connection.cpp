#include "bus/transport/nats_connection.h"

#include <string_view>
#include <utility>

#include "bus/transport/nats_link.h"

namespace league::transport::bus {
namespace {

using NatsGate = HandlerGate<BusMessage>;

constexpr int kMaxPendingBytes = 64 << 20;

/// Called after the last message: frees the gate that a subscription of libnats points to.
void on_nats_complete(void* closure) { delete static_cast<std::shared_ptr<NatsGate>*>(closure); }

void on_nats_message(natsConnection*, natsSubscription*, natsMsg* message, void* closure) noexcept {
  auto& gate = *static_cast<std::shared_ptr<NatsGate>*>(closure);
  auto read = from_nats(message);
  const NatsMessage given_back(message, size_of(read));
  gate->run(std::move(read));
}

std::string said_or(const char* text, natsStatus status) {
  std::string_view said = text == nullptr ? "" : text;
  // A prefix such as `(conn.c:1909): ` means nothing to an operator.
  if (auto end = said.find("): "); said.starts_with('(') && end != std::string_view::npos) {
    said.remove_prefix(end + 3);
  }
  return said.empty() ? natsStatus_GetText(status) : std::string(said);
}

}  // namespace

natsStatus NatsListener::attach(natsConnection* connection, std::uint64_t number) {
  auto closure = std::make_unique<std::shared_ptr<NatsGate>>(gate_);
  natsSubscription* made = nullptr;
  natsStatus status = queue_.empty() ? natsConnection_Subscribe(&made, connection, subject_.c_str(),
                                                                on_nats_message, closure.get())
                                     : natsConnection_QueueSubscribe(
                                           &made, connection, subject_.c_str(), queue_.c_str(),
                                           on_nats_message, closure.get());
  if (status != NATS_OK) return status;
  NatsOwned<natsSubscription> subscription(made);
  natsSubscription_SetPendingLimits(made, kMaxPendingMessages, kMaxPendingBytes);
  // From here on libnats owns the closure. If the next call fails (the connection has just been
  // closed), libnats may still use it, so it is leaked.
  void* given = closure.release();
  natsSubscription_SetOnCompleteCB(made, on_nats_complete, given);
  // The replaced subscription, declared before the lock, is released without it, because libnats
  // may write to the connection then.
  std::lock_guard lock(mutex_);
  if (is_ended_ || number < number_) return NATS_OK;
  number_ = number;
  made_.swap(subscription);
  return NATS_OK;
}

void NatsListener::end() {
  natsSubscription* ended = nullptr;
  {
    std::lock_guard lock(mutex_);
    is_ended_ = true;
    ended = made_.get();
  }
  if (ended != nullptr) (void)natsSubscription_Unsubscribe(ended);
}

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
