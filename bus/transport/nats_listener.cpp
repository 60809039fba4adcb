#include "bus/transport/nats_listener.h"

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

}  // namespace league::transport::bus
