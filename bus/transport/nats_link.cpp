#include "bus/transport/nats_link.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "bus/transport/bus.h"
#include "bus/transport/nats_bus.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kGuessedPayload = 1 << 20;
constexpr std::size_t kMaxWaiting = 4 << 20;
/// The same delay as libnats uses when it reconnects.
constexpr std::chrono::milliseconds kFirstPause = 100ms;
/// The longest delay between refused attempts, since each costs the broker a password hash.
constexpr std::chrono::milliseconds kLongestRetryPause = 5s;

/// Whether no broker is available (yet, or any more), which is not reported.
bool is_absence(natsStatus status, const std::string& why) {
  // The error of libnats if the connection ends before the answer to CONNECT.
  if (status == NATS_PROTOCOL_ERROR) return why.ends_with("got ''");
  return status == NATS_NO_SERVER || status == NATS_IO_ERROR || status == NATS_TIMEOUT ||
         status == NATS_CONNECTION_CLOSED || status == NATS_CONNECTION_DISCONNECTED;
}

/// Whether the broker or its certificate was refused. A handshake that breaks off because the
/// broker dies is an SSL error as well; but if libnats does not trust a certificate, it names the
/// certificate: "18:self-signed certificate:depth=0:cert=/CN=…".
bool is_refusal(natsStatus status, const std::string& why) {
  return status == NATS_CONNECTION_AUTH_FAILED ||
         (status == NATS_SSL_ERROR && why.find(":depth=") != std::string::npos);
}

std::size_t room_of(const BusMessage& message) {
  return message.payload.size() + message.subject.size() + sizeof(BusMessage);
}

core::Error closed_bus_error() {
  return {core::ErrorCode::kShuttingDown, "the connection to the broker is closed", {}};
}

/// Adds a random delay, so that a thousand agents do not reconnect to a broker at the same moment.
std::chrono::milliseconds with_jitter(std::chrono::milliseconds pause) {
  thread_local std::minstd_rand random(std::random_device{}());
  return pause + std::chrono::milliseconds(
                     std::uniform_int_distribution<std::int64_t>(0, pause.count() / 2)(random));
}

}  // namespace

NatsLink::NatsLink(std::string url, NatsSettings settings,
                   std::function<void(std::string)> on_fault, std::unique_ptr<NatsStalls> stalls)
    : stalls_(std::move(stalls)),
      url_(std::move(url)),
      settings_(std::move(settings)),
      faults_(on_fault ? std::move(on_fault) : [](const std::string&) {}),
      max_payload_(kGuessedPayload) {}

core::Result<void> NatsLink::open() {
  natsStatus status = NATS_OK;
  std::string why;
  if (auto connection = NatsConnection::connect(settings_.get(), shared_from_this(), status, why)) {
    take(connection);
    return {};
  }
  if (is_refusal(status, why)) {
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "no connection to " + url() + " can be made: " + why,
                       status == NATS_SSL_ERROR ? "tls" : "credentials"};
  }
  std::lock_guard lock(mutex_);
  start_searching();
  return {};
}

void NatsLink::close() {
  stalls_.reset();
  std::vector<std::shared_ptr<NatsListener>> listeners;
  std::vector<std::shared_ptr<Watcher>> watchers;
  ConnectionPointer connection;
  std::thread searcher;
  {
    std::lock_guard lock(mutex_);
    is_closing_ = true;
    is_connected_ = false;
    waiting_.clear();
    listeners.swap(listeners_);
    watchers.swap(watchers_);
    connection.swap(connection_);
    searcher.swap(searcher_);
  }
  changed_.notify_all();
  for (const auto& listener : listeners) listener->close();
  for (const auto& watcher : watchers) watcher->close();
  faults_.close();
  if (connection) connection->close();
  if (!searcher.joinable()) return;
  // This thread is running the handler that destroys the bus, and owns everything it still uses.
  if (searcher.get_id() == std::this_thread::get_id()) {
    searcher.detach();
  } else {
    searcher.join();
  }
}

/// Called with the lock held.
void NatsLink::start_searching() {
  if (searcher_.joinable() || is_closing_) return;
  searcher_ = std::thread([self = shared_from_this()] { self->search(); });
}

void NatsLink::search() {
  auto pause = kFirstPause;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_closing_ || !connection_; });
    if (is_closing_) return;
    lock.unlock();
    if (try_to_connect(pause)) pause = kFirstPause;
    lock.lock();
    // Wait after a success as well: a broker may repeatedly accept a connection and close it at
    // once.
    changed_.wait_for(lock, with_jitter(pause), [&] { return is_closing_; });
  }
}

bool NatsLink::try_to_connect(std::chrono::milliseconds& pause) {
  natsStatus status = NATS_OK;
  std::string why;
  if (auto connection = NatsConnection::connect(settings_.get(), shared_from_this(), status, why)) {
    last_fault_.clear();
    take(connection);
    return true;
  }
  if (is_absence(status, why)) {
    pause = kFirstPause;
    return false;
  }
  pause = std::min(pause * 2, kLongestRetryPause);
  if (std::exchange(last_fault_, why) != why) {
    faults_.run("the broker at " + url() + " refuses this agent, which keeps trying: " + why);
  }
  return false;
}

void NatsLink::take(const ConnectionPointer& connection) {
  std::vector<std::shared_ptr<NatsListener>> listeners;
  std::uint64_t number = 0;
  {
    std::unique_lock lock(mutex_);
    if (is_closing_) {
      lock.unlock();
      connection->close();
      return;
    }
    if (connection->state.is_closed) return;
    connection_ = connection;
    number = ++line_number_;
    // Subscriptions made later see the new connection and attach themselves.
    listeners = listeners_;
  }
  learn(*connection);
  for (const auto& listener : listeners) attach(*listener, *connection, number);
  send_waiting(*connection);
}

void NatsLink::attach(NatsListener& listener, NatsConnection& connection, std::uint64_t number) {
  natsStatus status = listener.attach(connection.get(), number);
  // If the connection is already closed, the subscription is attached to the next one.
  if (status == NATS_OK || status == NATS_CONNECTION_CLOSED) return;
  on_fault(nats_error(status, "no subscription to " + listener.subject()).message);
}

/// Queues the message, because without a connection libnats would hold its lock, and block us,
/// during each attempt to reconnect. Called with the lock held.
core::Result<void> NatsLink::keep_for_later(const BusMessage& message) {
  if (is_closing_) return closed_bus_error();
  if (waiting_bytes_ + room_of(message) > kMaxWaiting) {
    return core::Error{core::ErrorCode::kConnectionError,
                       "there is no connection to " + url_ + ", and its queue is full",
                       {}};
  }
  waiting_bytes_ += room_of(message);
  waiting_.push_back(message);
  return {};
}

core::Result<void> NatsLink::publish(const BusMessage& message) {
  if (auto checked = check_bus_message(message, max_payload_); !checked) return checked;
  ConnectionPointer connection;
  {
    std::lock_guard lock(mutex_);
    if (!is_connected_) return keep_for_later(message);
    connection = connection_;
  }
  natsStatus status = send_to_nats(connection->get(), message);
  if (status == NATS_CONNECTION_CLOSED) {
    // libnats will report this in a moment; until then other threads should not try either.
    std::lock_guard lock(mutex_);
    if (connection_ == connection) is_connected_ = false;
    if (!is_connected_) return keep_for_later(message);
  }
  if (status != NATS_OK) return nats_error(status, "a message was not sent to the broker");
  return {};
}

bool NatsLink::flush(std::chrono::milliseconds patience) {
  ConnectionPointer connection;
  {
    std::lock_guard lock(mutex_);
    if (!is_connected_) return false;
    connection = connection_;
  }
  return flush_nats(connection->get(), patience);
}

core::Result<std::unique_ptr<Bus::Subscription>> NatsLink::subscribe(const std::string& subject,
                                                                     const std::string& queue,
                                                                     Handler handler) {
  if (auto checked = check_bus_subscription(subject, queue); !checked) return checked.error();
  auto listener = std::make_shared<NatsListener>(subject, queue, std::move(handler));
  ConnectionPointer connection;
  std::uint64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    if (is_closing_) return closed_bus_error();
    listeners_.push_back(listener);
    connection = connection_;
    number = line_number_;
  }
  natsStatus status = connection ? listener->attach(connection->get(), number) : NATS_OK;
  if (status != NATS_OK && status != NATS_CONNECTION_CLOSED) {
    forget(listener);
    return nats_error(status, "no subscription to " + subject);
  }
  auto end = [self = shared_from_this(), listener] { self->forget(listener); };
  return std::make_unique<Subscription>(std::move(end));
}

void NatsLink::forget(const std::shared_ptr<NatsListener>& listener) {
  {
    std::lock_guard lock(mutex_);
    std::erase(listeners_, listener);
  }
  listener->close();
  listener->end();
  constexpr std::chrono::seconds kKept{10};
  std::vector<std::shared_ptr<NatsListener>> done;  // destroyed without the lock
  std::lock_guard lock(mutex_);
  auto now = std::chrono::steady_clock::now();
  ended_.emplace_back(now, listener);
  while (ended_.front().first + kKept < now) {
    done.push_back(std::move(ended_.front().second));
    ended_.pop_front();
  }
}

std::unique_ptr<Bus::Subscription> NatsLink::watch(Bus::StateHandler handler) {
  // Both our thread and libnats's may report. The state is read when the handler runs, so that the
  // last report is correct.
  auto gate =
      std::make_shared<Watcher>([this, heard = std::move(handler)](bool) { heard(is_connected_); });
  {
    std::lock_guard lock(mutex_);
    watchers_.push_back(gate);
  }
  auto end = [self = shared_from_this(), gate] { self->forget(gate); };
  return std::make_unique<Subscription>(std::move(end));
}

void NatsLink::forget(const std::shared_ptr<Watcher>& watcher) {
  {
    std::lock_guard lock(mutex_);
    std::erase(watchers_, watcher);
  }
  watcher->close();
}

void NatsLink::learn(NatsConnection& connection) {
  char url[256] = {};
  bool is_known = natsConnection_GetConnectedUrl(connection.get(), url, sizeof(url)) == NATS_OK;
  auto limit = natsConnection_GetMaxPayload(connection.get());
  if (limit > 0) max_payload_ = static_cast<std::size_t>(limit);
  std::lock_guard lock(mutex_);
  if (is_known && url[0] != '\0') url_ = without_credentials(url);
}

/// Messages published meanwhile are queued behind those that wait.
void NatsLink::send_waiting(NatsConnection& connection) {
  for (;;) {
    std::deque<BusMessage> batch;
    {
      std::lock_guard lock(mutex_);
      if (connection_.get() != &connection) return;
      batch.swap(waiting_);
      waiting_bytes_ = 0;
      if (batch.empty()) {
        connection.state.is_ready = true;
        is_connected_ = !connection.state.is_lost;
        break;
      }
    }
    while (!batch.empty()) {
      natsStatus status = send_to_nats(connection.get(), batch.front());
      if (status == NATS_CONNECTION_CLOSED) return wait_again(std::move(batch));
      if (status != NATS_OK) {
        on_fault("a message that waited for the broker was lost: " + batch.front().subject);
      }
      batch.pop_front();
    }
  }
  if (is_connected_) tell();
}

/// Puts the unsent messages back in front of the queue, for the next connection.
void NatsLink::wait_again(std::deque<BusMessage> unsent) {
  std::lock_guard lock(mutex_);
  if (is_closing_) return;
  for (const auto& message : unsent) waiting_bytes_ += room_of(message);
  std::move(waiting_.begin(), waiting_.end(), std::back_inserter(unsent));
  waiting_.swap(unsent);
}

void NatsLink::tell() {
  std::vector<std::shared_ptr<Watcher>> watchers;
  {
    std::lock_guard lock(mutex_);
    watchers = watchers_;
  }
  for (const auto& watcher : watchers) watcher->run(is_connected_);
}

void NatsLink::on_reconnected(NatsConnection& connection) {
  {
    std::lock_guard lock(mutex_);
    connection.state.is_lost = false;
    // Otherwise our own thread is still sending the queue.
    if (!connection.state.is_ready) return;
  }
  learn(connection);
  send_waiting(connection);
}

void NatsLink::on_disconnected(NatsConnection& connection) {
  {
    std::lock_guard lock(mutex_);
    connection.state.is_lost = true;
    if (connection_.get() != &connection) return;
    is_connected_ = false;
  }
  tell();
}

void NatsLink::on_closed(NatsConnection& connection, const std::string& why) {
  bool was_lost = false;
  ConnectionPointer gone;
  {
    std::lock_guard lock(mutex_);
    connection.state.is_closed = true;
    if (is_closing_) return;
    was_lost = connection.state.is_lost;
    if (connection_.get() == &connection) {
      is_connected_ = false;
      gone.swap(connection_);
    }
    start_searching();
  }
  changed_.notify_all();
  faults_.run("the broker at " + url() + " has closed the connection, reconnecting: " + why);
  if (!was_lost) tell();
}

void NatsLink::on_fault(const std::string& what) {
  faults_.run("the broker at " + url() + " says: " + what);
}

}  // namespace league::transport::bus
