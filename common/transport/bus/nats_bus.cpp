#include "common/transport/bus/nats_bus.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "common/transport/bus/bus_rules.h"
#include "common/transport/bus/bus_url.h"
#include "common/transport/bus/handler_gate.h"
#include "common/transport/bus/nats_library.h"

namespace league::transport {
namespace {

using NatsGate = HandlerGate<BusMessage>;

constexpr std::size_t kGuessedPayload = 1 << 20;
constexpr std::size_t kMaxWaiting = 4 << 20;
constexpr int kMaxPendingBytes = 64 << 20;

/// Frees the gate that a subscription of libnats points to, after its last message.
void on_nats_complete(void* closure) { delete static_cast<std::shared_ptr<NatsGate>*>(closure); }

void on_nats_message(natsConnection*, natsSubscription*, natsMsg* message, void* closure) noexcept {
  NatsOwned<natsMsg> owned(message);
  auto& gate = *static_cast<std::shared_ptr<NatsGate>*>(closure);
  gate->run(from_nats(message));
}

}  // namespace

/// What the callbacks of libnats see. Keeps itself until libnats has said that the connection is
/// closed, which is the last that it says.
class NatsBus::Link : public std::enable_shared_from_this<Link> {
 public:
  Link(const std::vector<std::string>& urls, std::function<void(std::string)> on_fault)
      : url_(joined(urls)), faults_(on_fault ? std::move(on_fault) : [](const std::string&) {}) {}

  core::Result<void> open(NatsSettings& settings);
  void close();
  core::Result<void> publish(const BusMessage& message);
  core::Result<std::unique_ptr<Subscription>> subscribe(const std::string& subject,
                                                        const std::string& queue, Handler handler);
  std::unique_ptr<Subscription> watch(StateHandler handler);
  void forget(const std::shared_ptr<NatsGate>& listener);
  void forget(const std::shared_ptr<HandlerGate<bool>>& watcher);

  [[nodiscard]] bool is_connected() const { return is_connected_; }
  [[nodiscard]] std::size_t max_payload() const { return max_payload_; }
  [[nodiscard]] std::string url() const {
    std::lock_guard lock(mutex_);
    return url_;
  }

 private:
  static std::string joined(const std::vector<std::string>& urls);
  template <void (Link::*Method)(natsConnection*)>
  static void forward(natsConnection* connection, void* closure) noexcept {
    (static_cast<Link*>(closure)->*Method)(connection);
  }
  static void on_error(natsConnection* connection, natsSubscription* subscription,
                       natsStatus status, void* closure) noexcept;
  void on_connected(natsConnection* connection);
  void on_disconnected(natsConnection* connection);
  void on_closed(natsConnection* connection);
  void learn(natsConnection* connection);
  void send_waiting(natsConnection* connection);
  void tell(bool is_connected);
  bool keep_for_later(const BusMessage& message, core::Result<void>& result);

  mutable std::mutex mutex_;
  std::string url_;
  HandlerGate<std::string> faults_;
  std::atomic<bool> is_connected_ = false;  ///< changed under the lock
  std::atomic<std::size_t> max_payload_ = kGuessedPayload;
  bool is_closing_ = false;
  bool is_closed_ = false;
  std::deque<BusMessage> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::vector<std::shared_ptr<NatsGate>> listeners_;
  std::vector<std::shared_ptr<HandlerGate<bool>>> watchers_;
  natsConnection* connection_ = nullptr;
  std::shared_ptr<Link> self_;
};

namespace {

class NatsListening final : public Bus::Subscription {
 public:
  NatsListening(std::function<void()> end, NatsOwned<natsSubscription> subscription)
      : end_(std::move(end)), subscription_(std::move(subscription)) {}
  ~NatsListening() override { end_(); }

 private:
  std::function<void()> end_;
  NatsOwned<natsSubscription> subscription_;
};

}  // namespace

std::string NatsBus::Link::joined(const std::vector<std::string>& urls) {
  std::string all;
  for (const auto& url : urls) all += (all.empty() ? "" : ",") + without_credentials(url);
  return all;
}

core::Result<void> NatsBus::Link::open(NatsSettings& settings) {
  natsOptions* options = settings.get();
  settings.take(
      natsOptions_SetRetryOnFailedConnect(options, true, forward<&Link::on_connected>, this),
      "RetryOnFailedConnect");
  settings.take(natsOptions_SetReconnectedCB(options, forward<&Link::on_connected>, this),
                "ReconnectedCB");
  settings.take(natsOptions_SetDisconnectedCB(options, forward<&Link::on_disconnected>, this),
                "DisconnectedCB");
  settings.take(natsOptions_SetClosedCB(options, forward<&Link::on_closed>, this), "ClosedCB");
  settings.take(natsOptions_SetErrorHandler(options, on_error, this), "ErrorHandler");
  if (settings.error()) return *settings.error();
  self_ = shared_from_this();
  natsStatus status = natsConnection_Connect(&connection_, options);
  if (status == NATS_OK) {
    on_connected(connection_);
  } else if (status != NATS_NOT_YET_CONNECTED) {
    return nats_error(status, "no connection to a broker can be made");
  }
  return {};
}

void NatsBus::Link::close() {
  std::vector<std::shared_ptr<NatsGate>> listeners;
  std::vector<std::shared_ptr<HandlerGate<bool>>> watchers;
  {
    std::lock_guard lock(mutex_);
    is_closing_ = true;
    is_connected_ = false;
    waiting_.clear();
    listeners.swap(listeners_);
    watchers.swap(watchers_);
  }
  for (const auto& listener : listeners) listener->close();
  for (const auto& watcher : watchers) watcher->close();
  faults_.close();
  natsConnection_Close(connection_);
  natsConnection_Destroy(connection_);
}

/// Without a connection libnats would hold its lock, and us, for each attempt to get one.
bool NatsBus::Link::keep_for_later(const BusMessage& message, core::Result<void>& result) {
  std::lock_guard lock(mutex_);
  if (is_connected_) return false;
  if (is_closed_ || is_closing_) {
    result =
        core::Error{core::ErrorCode::kShuttingDown, "the connection to the broker is closed", {}};
    return true;
  }
  if (waiting_bytes_ + message.payload.size() > kMaxWaiting) {
    result =
        core::Error{core::ErrorCode::kConnectionError,
                    "there is no connection to " + url_ + ", and no room for what waits for it",
                    {}};
    return true;
  }
  waiting_bytes_ += message.payload.size() + message.subject.size() + sizeof(BusMessage);
  waiting_.push_back(message);
  return true;
}

core::Result<void> NatsBus::Link::publish(const BusMessage& message) {
  auto result = check_bus_message(message, max_payload_);
  if (!result) return result;
  if (!is_connected_ && keep_for_later(message, result)) return result;
  natsStatus status = send_to_nats(connection_, message);
  if (status != NATS_OK) return nats_error(status, "a message was not handed to the broker");
  return {};
}

core::Result<std::unique_ptr<Bus::Subscription>> NatsBus::Link::subscribe(
    const std::string& subject, const std::string& queue, Handler handler) {
  if (auto checked = check_bus_subscription(subject, queue); !checked) return checked.error();
  auto gate = std::make_shared<NatsGate>(std::move(handler));
  auto closure = std::make_unique<std::shared_ptr<NatsGate>>(gate);
  natsSubscription* made = nullptr;
  natsStatus status =
      queue.empty() ? natsConnection_Subscribe(&made, connection_, subject.c_str(), on_nats_message,
                                               closure.get())
                    : natsConnection_QueueSubscribe(&made, connection_, subject.c_str(),
                                                    queue.c_str(), on_nats_message, closure.get());
  if (status != NATS_OK) return nats_error(status, "no subscription to " + subject);
  NatsOwned<natsSubscription> subscription(made);
  natsSubscription_SetPendingLimits(made, kMaxPendingMessages, kMaxPendingBytes);
  // From here the closure is libnats': where it refuses (the connection has just been closed) it
  // may still be in use, and is given up.
  void* given = closure.release();
  natsSubscription_SetOnCompleteCB(made, on_nats_complete, given);
  {
    std::lock_guard lock(mutex_);
    listeners_.push_back(gate);
  }
  auto end = [self = shared_from_this(), gate] { self->forget(gate); };
  return std::unique_ptr<Subscription>(
      std::make_unique<NatsListening>(std::move(end), std::move(subscription)));
}

void NatsBus::Link::forget(const std::shared_ptr<NatsGate>& listener) {
  {
    std::lock_guard lock(mutex_);
    std::erase(listeners_, listener);
  }
  listener->close();
}

std::unique_ptr<Bus::Subscription> NatsBus::Link::watch(StateHandler handler) {
  auto gate = std::make_shared<HandlerGate<bool>>(std::move(handler));
  {
    std::lock_guard lock(mutex_);
    watchers_.push_back(gate);
  }
  auto end = [self = shared_from_this(), gate] { self->forget(gate); };
  return std::make_unique<NatsListening>(std::move(end), nullptr);
}

void NatsBus::Link::forget(const std::shared_ptr<HandlerGate<bool>>& watcher) {
  {
    std::lock_guard lock(mutex_);
    std::erase(watchers_, watcher);
  }
  watcher->close();
}

void NatsBus::Link::learn(natsConnection* connection) {
  char url[256] = {};
  bool is_known = natsConnection_GetConnectedUrl(connection, url, sizeof(url)) == NATS_OK;
  auto limit = natsConnection_GetMaxPayload(connection);
  if (limit > 0) max_payload_ = static_cast<std::size_t>(limit);
  std::lock_guard lock(mutex_);
  if (is_known && url[0] != '\0') url_ = without_credentials(url);
}

/// What is published meanwhile goes behind what waits.
void NatsBus::Link::send_waiting(natsConnection* connection) {
  for (;;) {
    std::deque<BusMessage> batch;
    {
      std::lock_guard lock(mutex_);
      batch.swap(waiting_);
      waiting_bytes_ = 0;
      if (batch.empty()) {
        is_connected_ = !is_closing_;
        return;
      }
    }
    for (const auto& message : batch) {
      if (send_to_nats(connection, message) == NATS_OK) continue;
      faults_.run("a message that waited for the broker was lost: " + message.subject);
    }
  }
}

void NatsBus::Link::tell(bool is_connected) {
  std::vector<std::shared_ptr<HandlerGate<bool>>> watchers;
  {
    std::lock_guard lock(mutex_);
    watchers = watchers_;
  }
  for (const auto& watcher : watchers) watcher->run(is_connected);
}

void NatsBus::Link::on_connected(natsConnection* connection) {
  learn(connection);
  send_waiting(connection);
  tell(true);
}

void NatsBus::Link::on_disconnected(natsConnection*) {
  {
    std::lock_guard lock(mutex_);
    is_connected_ = false;
  }
  tell(false);
}

void NatsBus::Link::on_closed(natsConnection* connection) {
  bool is_ours = false;
  bool was_connected = false;
  std::shared_ptr<Link> self;
  {
    std::lock_guard lock(mutex_);
    is_ours = is_closing_;
    is_closed_ = true;
    was_connected = is_connected_.exchange(false);
    waiting_.clear();
    self = std::exchange(self_, nullptr);
  }
  if (is_ours) return;
  const char* text = nullptr;
  natsStatus status = natsConnection_GetLastError(connection, &text);
  faults_.run("the broker at " + url() + " refuses this agent for good: " +
              (text != nullptr && *text != '\0' ? text : natsStatus_GetText(status)));
  if (was_connected) tell(false);
}

void NatsBus::Link::on_error(natsConnection* connection, natsSubscription* subscription,
                             natsStatus status, void* closure) noexcept {
  auto& self = *static_cast<Link*>(closure);
  const char* text = nullptr;
  natsConnection_GetLastError(connection, &text);
  std::string what = natsStatus_GetText(status);
  if (status == NATS_SLOW_CONSUMER && subscription != nullptr) {
    what = "messages at " + std::string(natsSubscription_GetSubject(subscription)) +
           " are dropped: they come faster than they are handled";
  } else if (text != nullptr && *text != '\0') {
    what = text;
  }
  self.faults_.run("the broker at " + self.url() + " says: " + what);
}

bool NatsBus::is_built() { return true; }

core::Result<std::unique_ptr<NatsBus>> NatsBus::connect(const NatsBusOptions& options) {
  auto urls = parse_bus_urls(options.urls);
  if (!urls) return urls.error();
  prepare_nats();
  NatsSettings settings;
  settings.set_servers(*urls);
  settings.set_credentials(options.credentials);
  settings.set_tls(options.tls, urls->front().starts_with("tls://"));
  settings.set_manners(options.name);
  if (settings.error()) return *settings.error();
  auto link = std::make_shared<Link>(*urls, options.on_fault);
  if (auto opened = link->open(settings); !opened) return opened.error();
  return std::unique_ptr<NatsBus>(new NatsBus(std::move(link)));
}

NatsBus::~NatsBus() { link_->close(); }

core::Result<void> NatsBus::publish(const BusMessage& message) { return link_->publish(message); }

core::Result<std::unique_ptr<Bus::Subscription>> NatsBus::subscribe(const std::string& subject,
                                                                    const std::string& queue,
                                                                    Handler handler) {
  return link_->subscribe(subject, queue, std::move(handler));
}

std::unique_ptr<Bus::Subscription> NatsBus::watch(StateHandler handler) {
  return link_->watch(std::move(handler));
}

bool NatsBus::is_connected() const { return link_->is_connected(); }
std::size_t NatsBus::max_payload() const { return link_->max_payload(); }
std::string NatsBus::url() const { return link_->url(); }

}  // namespace league::transport
