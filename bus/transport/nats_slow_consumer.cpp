#include "bus/transport/nats_slow_consumer.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/transport/link/socket.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;
using StallClock = std::chrono::steady_clock;

/// While we do not read, we do not see the end of the connection, because unread data precedes it.
/// A ping still reaches the broker's machine, whose kernel then resets the connection.
constexpr std::int64_t kPingMs = 250;
/// How long an unneeded connection is kept, because a flooding sender usually comes back.
constexpr auto kIdleTime = 10s;
/// The delay after a failed attempt or a short connection.
constexpr auto kPauseBetween = 1s;

/// Distinguishes a socket from a later one with the same descriptor; nothing if it is closed.
std::optional<ino_t> socket_number(int descriptor) {
  struct stat known {};
  return ::fstat(descriptor, &known) == 0 ? std::optional(known.st_ino) : std::nullopt;
}

struct ConnectionDeleter {
  void operator()(natsConnection* connection) const { natsConnection_Destroy(connection); }
};

/// An event loop for libnats that never reports anything to read. libnats calls it with its own
/// lock held, on our thread and on its timer thread.
class UnreadingLoop {
 public:
  explicit UnreadingLoop(std::function<void()> wake) : wake_(std::move(wake)) {}

  [[nodiscard]] natsStatus give_to(natsOptions* options) {
    return natsOptions_SetEventLoop(options, this, on_attach, on_read, on_write, on_detach);
  }
  /// Must be called before each connection; there is only one at a time.
  void reset() {
    socket_ = -1;
    has_writes_ = false;
    is_closed_ = false;
  }
  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] bool has_writes() const { return has_writes_; }
  [[nodiscard]] bool is_closed() const { return is_closed_; }

 private:
  static natsStatus on_attach(void** closure, void* loop, natsConnection*,
                              natsSock socket) noexcept {
    static_cast<UnreadingLoop*>(loop)->socket_ = static_cast<int>(socket);
    *closure = loop;
    return NATS_OK;
  }
  static natsStatus on_read(void*, bool) noexcept { return NATS_OK; }
  static natsStatus on_write(void* closure, bool is_wanted) noexcept {
    auto& self = *static_cast<UnreadingLoop*>(closure);
    self.has_writes_ = is_wanted;
    if (is_wanted) self.wake_();
    return NATS_OK;
  }
  static natsStatus on_detach(void* closure) noexcept {
    static_cast<UnreadingLoop*>(closure)->is_closed_ = true;
    return NATS_OK;
  }

  const std::function<void()> wake_;
  std::atomic<int> socket_ = -1;
  std::atomic<bool> has_writes_ = false;
  std::atomic<bool> is_closed_ = false;
};

}  // namespace

/// A connection to one broker that subscribes to subjects and deliberately never reads. The
/// broker's data for it piles up, up to half of the broker's `max_pending` (64 MB by default). From
/// then on the broker stalls the publishers: it stops reading from their connections for 100 ms to
/// 1 s per message (nats-server up to 2.10.25; later versions for 10 ms per read), which costs
/// neither side anything. After its `write_deadline` (10 s by default) the broker closes the
/// connection, and we open the next. The connection exists only while it is needed, and the thread,
/// which is the only one that uses it, from the first need on. Thread-safe.
class NatsStalls::SlowConsumer final : public std::enable_shared_from_this<SlowConsumer> {
 public:
  SlowConsumer(NatsSettings settings, std::function<void(std::string)> on_fault)
      : settings_(std::move(settings)),
        on_fault_(std::move(on_fault)),
        woken_(link::open_bell()),
        loop_([this] { link::ring(woken_); }) {
    settings_.take(natsOptions_SetAllowReconnect(settings_.get(), false), "AllowReconnect");
    settings_.take(natsOptions_SetPingInterval(settings_.get(), kPingMs), "PingInterval");
    // Answers to pings are never read.
    settings_.take(natsOptions_SetMaxPingsOut(settings_.get(), std::numeric_limits<int>::max()),
                   "MaxPingsOut");
    // Each of the cluster's other brokers has a slow consumer of its own.
    settings_.take(natsOptions_SetIgnoreDiscoveredServers(settings_.get(), true),
                   "IgnoreDiscoveredServers");
    settings_.take(loop_.give_to(settings_.get()), "EventLoop");
  }

  void add(const std::string& subject) {
    {
      std::lock_guard lock(mutex_);
      if (is_stopping_) return;
      ++wanted_[subject];
      if (!thread_.joinable()) thread_ = std::thread([self = shared_from_this()] { self->run(); });
    }
    link::ring(woken_);
  }
  void remove(const std::string& subject) {
    {
      std::lock_guard lock(mutex_);
      auto found = wanted_.find(subject);
      if (found == wanted_.end() || --found->second > 0) return;
      wanted_.erase(found);
    }
    link::ring(woken_);
  }
  void stop() {
    std::thread thread;
    {
      std::lock_guard lock(mutex_);
      is_stopping_ = true;
      wanted_.clear();
      thread.swap(thread_);
    }
    link::ring(woken_);
    if (!thread.joinable()) return;
    // This thread is running the `on_fault` that destroys us, and owns everything it still uses.
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }

 private:
  using Connection = std::unique_ptr<natsConnection, ConnectionDeleter>;
  using Subscriptions = std::map<std::string, NatsOwned<natsSubscription>>;

  void run() {
    while (!is_stopping()) {
      if (!is_wanted()) {
        wait_for_events(std::nullopt);
        continue;
      }
      const auto begun = StallClock::now();
      if (auto connection = connect()) {
        const auto socket = socket_number(loop_.socket());
        serve(connection.get());
        connection.reset();
        // From 3.10 on libnats leaves closing the socket to the event loop.
        if (socket && socket_number(loop_.socket()) == socket) ::close(loop_.socket());
      }
      for (auto left = kPauseBetween - (StallClock::now() - begun);
           left > 0s && !is_stopping() && is_wanted();
           left = kPauseBetween - (StallClock::now() - begun)) {
        wait_for_events(std::chrono::ceil<std::chrono::milliseconds>(left));
      }
    }
  }
  Connection connect() {
    // Without the event loop libnats would read incoming data.
    if (settings_.error()) return nullptr;
    loop_.reset();
    natsConnection* made = nullptr;
    const natsStatus status = natsConnection_Connect(&made, settings_.get());
    Connection connection(made);
    if (status == NATS_OK) {
      last_fault_.reset();
      return connection;
    }
    const bool is_absent = status == NATS_NO_SERVER || status == NATS_IO_ERROR ||
                           status == NATS_TIMEOUT || status == NATS_CONNECTION_CLOSED;
    if (!is_absent && last_fault_ != status && on_fault_ && !is_stopping()) {
      const char* why = nats_GetLastError(nullptr);
      on_fault_("no connection can be made that slows down sessions beyond their budget: " +
                std::string(why != nullptr && *why != '\0' ? why : natsStatus_GetText(status)));
    }
    last_fault_ = status;
    return nullptr;
  }
  void serve(natsConnection* connection) {
    Subscriptions made;
    stall(connection, made);
    if (loop_.is_closed()) return;
    // Otherwise libnats would wait half a second for the answer to a last ping; after a failed
    // write it does not.
    ::shutdown(loop_.socket(), SHUT_RDWR);
    for (const auto& [subject, one] : made) (void)natsSubscription_Unsubscribe(one.get());
    natsConnection_ProcessWriteEvent(connection);
  }
  /// Runs until the connection is lost, or has not been needed for a while.
  void stall(natsConnection* connection, Subscriptions& made) {
    auto idle_since = StallClock::now();
    while (!is_stopping() && !loop_.is_closed()) {
      if (!update(connection, made)) return;
      const auto now = StallClock::now();
      if (!made.empty()) idle_since = now;
      if (now >= idle_since + kIdleTime) return;
      // The pings wake this thread.
      const short events = wait_for_events(std::nullopt, loop_.socket(), loop_.has_writes());
      if ((events & (POLLERR | POLLHUP | POLLNVAL)) != 0) return;
      if ((events & POLLOUT) != 0) natsConnection_ProcessWriteEvent(connection);
    }
  }
  /// Subscribes to the wanted subjects and to no others. False if the connection is lost.
  bool update(natsConnection* connection, Subscriptions& made) {
    std::map<std::string, int> wanted;
    {
      std::lock_guard lock(mutex_);
      wanted = wanted_;
    }
    std::erase_if(made, [&](const auto& one) {
      if (wanted.contains(one.first)) return false;
      (void)natsSubscription_Unsubscribe(one.second.get());
      return true;
    });
    for (const auto& [subject, count] : wanted) {
      if (made.contains(subject)) continue;
      natsSubscription* subscription = nullptr;
      // A subscription without a handler needs no thread.
      if (natsConnection_SubscribeSync(&subscription, connection, subject.c_str()) != NATS_OK)
        return false;
      made.emplace(subject, subscription);
    }
    return true;
  }

  /// Waits until it is woken or an event occurs on the socket, which is returned.
  short wait_for_events(std::optional<std::chrono::milliseconds> patience, int socket = -1,
                        bool has_writes = false) {
    std::array<pollfd, 2> wanted{
        {{woken_.get(), POLLIN, 0}, {socket, static_cast<short>(has_writes ? POLLOUT : 0), 0}}};
    const int timeout = patience ? static_cast<int>(patience->count()) : -1;
    if (::poll(wanted.data(), wanted.size(), timeout) <= 0) return 0;
    std::uint64_t times = 0;
    if (wanted[0].revents != 0) {
      [[maybe_unused]] const ssize_t size = ::read(woken_.get(), &times, sizeof(times));
    }
    return wanted[1].revents;
  }
  [[nodiscard]] bool is_stopping() const {
    std::lock_guard lock(mutex_);
    return is_stopping_;
  }
  [[nodiscard]] bool is_wanted() const {
    std::lock_guard lock(mutex_);
    return !wanted_.empty();
  }

  NatsSettings settings_;
  const std::function<void(std::string)> on_fault_;
  const core::FileDescriptor woken_;
  UnreadingLoop loop_;
  std::optional<natsStatus> last_fault_;  ///< used by the thread only
  mutable std::mutex mutex_;  // guards the rest
  std::map<std::string, int> wanted_;  ///< number of subscriptions by subject
  bool is_stopping_ = false;
  std::thread thread_;
};

NatsStalls::NatsStalls(std::vector<SettingsMaker> at, std::function<void(std::string)> on_fault)
    : on_fault_(std::move(on_fault)), at_(std::move(at)) {}

NatsStalls::~NatsStalls() {
  for (const auto& consumer : consumers_) consumer->stop();
}

std::unique_ptr<Bus::Subscription> NatsStalls::begin(const std::string& subject) {
  std::vector<std::shared_ptr<SlowConsumer>> consumers;
  {
    std::lock_guard lock(mutex_);
    for (const auto& make : std::exchange(at_, {}))
      consumers_.push_back(std::make_shared<SlowConsumer>(make(), on_fault_));
    consumers = consumers_;
  }
  if (consumers.empty()) return nullptr;
  for (const auto& consumer : consumers) consumer->add(subject);
  return std::make_unique<Bus::Subscription>([consumers, subject] {
    for (const auto& consumer : consumers) consumer->remove(subject);
  });
}

}  // namespace league::transport::bus
