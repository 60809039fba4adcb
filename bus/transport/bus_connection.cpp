#include "bus/transport/bus_connection.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bus/transport/bus.h"
#include "common/rpc/frame_peek.h"
#include "common/rpc/shown_subject.h"
#include "common/task/task.h"
#include "common/transport/client/connection_parts.h"
#include "common/transport/link/receive_buffer.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;

/// How long a request is offered to a session that nobody listens to: an agent that restarts is
/// only late, and a dead one costs no more than this.
constexpr std::chrono::milliseconds kPatience{2000};
constexpr std::chrono::milliseconds kOfferAgain{50};
/// When an open request is sent again, counted from the first time: a peer that was killed while it
/// worked, and is back, has never seen it. Source: docs/protocol.md, section 6.
constexpr std::array<std::chrono::milliseconds, 3> kRepetitions{2000ms, 4000ms, 8000ms};

/// How a session reaches a peer on a bus.
struct BusRoute {
  std::string subject;  ///< where its messages go
  std::optional<link::BusSession> peer = std::nullopt;  ///< unless it is the manager
  /// Makes the peer listen there again, then calls back; empty: the peer comes back by itself.
  std::function<void(core::Clock::Steady deadline, std::function<void()> then)> attach = nullptr;
};

/// Receives the answers to one session's calls. All its connections share the subscriptions, since
/// a subscription for each of a thousand peers would cost the broker and this program more than the
/// calls do. Each connection has a name of its own that nobody can guess, so a peer learns where
/// its own answers go and nothing about other answers. Thread-safe. Source:
/// docs/distributed.md.
class BusInbox {
 public:
  /// Callbacks of one connection, on threads of the bus.
  struct Owner {
    std::function<void(BusMessage answer, std::uint64_t request)> on_answer;
    /// The broker is reachable, for the first time or again, or `peer` has attached.
    std::function<void()> on_back;
    std::optional<link::BusSession> peer = std::nullopt;
  };

  explicit BusInbox(const SessionOnBus& on)
      : bus_(on.bus),
        session_(on.session),
        random_(on.random),
        stem_(link::BusSession::make(random_).str() + "-"),
        state_(bus_.watch([this](bool is_connected) {
          if (is_connected) tell_back(std::nullopt);
        })) {}

  /// Adds an owner and returns its name. Fails as Bus::subscribe does; the next call subscribes
  /// again.
  [[nodiscard]] core::Result<std::string> add(Owner owner) {
    std::string name = link::BusSession::make(random_).str();
    const std::size_t lane = lane_of(name);
    auto listening = listen(lanes_.at(lane),
                            link::session_inbox(session_, stem_ + std::to_string(lane) + ".*.*"),
                            [this](BusMessage message) { on_message(std::move(message)); });
    if (listening && owner.peer)
      listening = listen(attached_, std::string(link::kSessionsAttached),
                         [this](const BusMessage& message) {
                           if (auto peer = link::session_of_attached(message.subject))
                             tell_back(peer);
                         });
    if (!listening) return listening.error();
    std::lock_guard lock(mutex_);
    owners_.emplace(name, std::make_shared<const Owner>(std::move(owner)));
    return name;
  }
  /// The owner gets no more callbacks, except one that is running now.
  void remove(const std::string& name) {
    std::shared_ptr<const Owner> removed;  // destroyed without the lock
    std::lock_guard lock(mutex_);
    auto found = owners_.find(name);
    if (found == owners_.end()) return;
    removed = std::move(found->second);
    owners_.erase(found);
  }
  /// The subject for the answer to this request of the connection `name`.
  [[nodiscard]] std::string subject(const std::string& name, std::uint64_t request) const {
    return link::session_inbox(session_, stem_ + std::to_string(lane_of(name)) + "." + name + "." +
                                             std::to_string(request));
  }

 private:
  /// As many subscriptions as libnats has threads to deliver, so that answers share the processors.
  static constexpr std::size_t kLanes = 2;

  static std::size_t lane_of(std::string_view name) {
    // A call that could not be added has no reply subject, so publishing it is refused.
    return name.empty() ? 0 : static_cast<unsigned char>(name.back()) % kLanes;
  }
  core::Result<void> listen(std::unique_ptr<Bus::Subscription>& place, const std::string& subject,
                            Bus::Handler handler) {
    {
      std::lock_guard lock(mutex_);
      if (place) return {};
    }
    auto heard = bus_.subscribe(subject, "", std::move(handler));
    if (!heard) return heard.error();
    // If two threads race, the later subscription is destroyed, after the lock is released.
    std::lock_guard lock(mutex_);
    if (!place) place.swap(*heard);
    return {};
  }
  // The last reference to this may go with the callbacks, so nothing is touched after them.
  void on_message(BusMessage message) {
    std::string_view subject = message.subject;
    auto number_at = subject.rfind('.') + 1;
    auto name_at = subject.rfind('.', number_at - 2) + 1;
    auto request = std::strtoull(message.subject.c_str() + number_at, nullptr, 10);
    std::shared_ptr<const Owner> owner;
    {
      std::lock_guard lock(mutex_);
      auto found = owners_.find(std::string(subject.substr(name_at, number_at - 1 - name_at)));
      if (found == owners_.end()) return;  // the connection has ended
      owner = found->second;
    }
    owner->on_answer(std::move(message), request);
  }
  /// To all owners, or to those with that peer.
  void tell_back(const std::optional<link::BusSession>& peer) {
    std::vector<std::shared_ptr<const Owner>> owners;
    {
      std::lock_guard lock(mutex_);
      for (const auto& [name, owner] : owners_) {
        if (!peer || owner->peer == peer) owners.push_back(owner);
      }
    }
    for (const auto& owner : owners) owner->on_back();
  }

  Bus& bus_;
  const link::BusSession session_;
  core::RandomSource& random_;
  const std::string stem_;
  std::mutex mutex_;  // guards the rest, never held while others are called
  std::unordered_map<std::string, std::shared_ptr<const Owner>> owners_;
  std::array<std::unique_ptr<Bus::Subscription>, kLanes> lanes_;
  std::unique_ptr<Bus::Subscription> attached_;  ///< once there is an owner with a peer
  const std::unique_ptr<Bus::Subscription> state_;
};

/// What all connections of a session share.
struct BusParts : SessionOnBus {
  link::EventLoop& loop;
  std::shared_ptr<BusInbox> inbox;
};

/// Runs on its executor, so a call causes no thread switches except those of the bus.
class BusConnectionCore : public std::enable_shared_from_this<BusConnectionCore> {
 public:
  BusConnectionCore(BusParts parts, BusRoute route)
      : parts_(std::move(parts)),
        route_(std::move(route)),
        connection_(bus_connection_info(parts_.bus, parts_.session)),
        receive_buffer_([] {}) {}
  ~BusConnectionCore() { parts_.inbox->remove(name_); }
  BusConnectionCore(const BusConnectionCore&) = delete;
  BusConnectionCore& operator=(const BusConnectionCore&) = delete;

  void start(std::shared_ptr<link::MessageReceiver> receiver) {
    auto name = parts_.inbox->add(
        {.on_answer =
             [weak = weak_from_this()](BusMessage message, std::uint64_t number) {
               run_in(weak,
                      [message = std::move(message), number](BusConnectionCore& self) mutable {
                        self.on_answer(std::move(message), number);
                      });
             },
         .on_back =
             [weak = weak_from_this()] {
               run_in(weak, [](BusConnectionCore& self) { self.ask_all_again(); });
             },
         .peer = route_.peer});
    if (name) name_ = std::move(*name);
    receive_buffer_.start(std::move(receiver));
    if (name) return;
    parts_.loop.post([weak = weak_from_this(), why = name.error()] {
      run_in(weak, [why](BusConnectionCore& self) { self.end(why); });
    });
  }
  void send(link::OutboundMessage message) {
    if (receive_buffer_.is_closed())
      return client::tell(
          message, core::Error{core::ErrorCode::kConnectionError, "the connection is closed", {}});
    forget_expired();
    const bool is_request = message.deadline != core::Clock::Steady::max();
    if (is_request && message.id.is_null()) message.id = rpc::peek_frame(message.bytes).id;
    PendingCall asked{std::move(message.bytes), std::move(message.id), trace_of(message.headers),
                      std::move(message.lost),  message.deadline,      parts_.clock.steady_now()};
    const std::uint64_t number = is_request ? ++last_number_ : 0;
    auto published = publish(asked, number);
    // If the bus cannot send it now, it sends it when it is connected again.
    bool waits =
        is_request && !published && published.error().code == core::ErrorCode::kConnectionError;
    if (is_request && (published || waits)) {
      asked_.emplace(number, std::move(asked));
      repeat_later();
    }
    client::tell(message, published || waits ? std::optional<core::Error>() : published.error());
  }
  void set_reading(bool is_on) {
    receive_buffer_.set_reading(is_on);
    if (is_on) receive_buffer_.drain();
  }
  void close() { end({core::ErrorCode::kShuttingDown, "the connection was closed", {}}); }

  [[nodiscard]] rpc::TransportContext current_context() const {
    return rpc::TransportContext::nats({route_.subject, {}, {}}).with_connection(connection_);
  }

  /// Does nothing once the connection is gone.
  template <typename Task>
  static void run_in(const std::weak_ptr<BusConnectionCore>& weak, Task task) {
    auto self = weak.lock();
    if (self) self->executor_.execute([self, task = std::move(task)]() mutable { task(*self); });
  }

 private:
  struct PendingCall {
    rpc::SharedText bytes;
    rpc::Id id;
    std::string trace;
    std::function<void(const core::Error&)> lost;
    core::Clock::Steady deadline;
    core::Clock::Steady begun;
    bool is_waiting = false;  ///< for another try
    std::size_t repetitions = 0;  ///< of kRepetitions, since `begun`

    [[nodiscard]] bool has_more() const { return repetitions < kRepetitions.size(); }
    [[nodiscard]] core::Clock::Steady next_repetition() const {
      return begun + kRepetitions.at(repetitions);
    }
  };

  static std::string trace_of(const std::vector<std::pair<std::string, std::string>>& headers) {
    for (const auto& [name, value] : headers) {
      if (name == kTraceHeader) return value;
    }
    return {};
  }
  core::Result<void> publish(const PendingCall& asked, std::uint64_t number) {
    auto message = bus_message(route_.subject, asked.bytes.str(), parts_.session,
                               rpc::MessageDirection::kClientToServer, asked.trace);
    if (number > 0) message.reply = parts_.inbox->subject(name_, number);
    return parts_.bus.publish(message);
  }
  void on_answer(BusMessage message, std::uint64_t number) {
    auto found = asked_.find(number);
    if (found == asked_.end()) return;  // answered before, or too late
    if (message.is_no_responders) return on_nobody(found->first, found->second);
    PendingCall asked = std::move(found->second);
    asked_.erase(found);
    auto frame = rpc::peek_frame(message.payload);
    // Otherwise the code above would not recognise the answer and would wait until the deadline.
    if (frame.kind != rpc::FrameKind::kResponse || frame.id != asked.id)
      return lose(asked, "the answer names another request, or none");
    link::ReceivedMessage received;
    received.context = bus_context(message, parts_.session, rpc::MessageDirection::kServerToClient,
                                   connection_, parts_.clock);
    received.bytes = std::move(message.payload);
    received.frame = std::move(frame);
    receive_buffer_.deliver(std::move(received));
  }
  static void lose(const PendingCall& asked, const std::string& why) {
    if (asked.lost) asked.lost({core::ErrorCode::kConnectionError, why, {}});
  }
  void on_nobody(std::uint64_t number, PendingCall& asked) {
    if (asked.is_waiting) return;
    auto now = parts_.clock.steady_now();
    // A manager that was found does listen, though the broker may need a moment to know it; the
    // request is repeated until the deadline.
    bool is_patient = route_.attach || now < asked.begun + kPatience;
    if (!is_patient || now >= asked.deadline) {
      PendingCall gone = std::move(asked);
      asked_.erase(number);
      return lose(gone, "nobody listens at " + rpc::shown_subject(route_.subject) +
                            ": the agent is not on the bus");
    }
    asked.is_waiting = true;
    auto again = [weak = weak_from_this(), number] {
      run_in(weak, [number](BusConnectionCore& self) { self.ask_again(number); });
    };
    parts_.timer.schedule(kOfferAgain, [again, attach = route_.attach, until = asked.deadline] {
      if (attach) return attach(until, again);
      again();
    });
  }
  void ask_again(std::uint64_t number) {
    auto found = asked_.find(number);
    if (found == asked_.end()) return;
    found->second.is_waiting = false;
    (void)publish(found->second, number);
  }
  /// The broker or the peer is back.
  void ask_all_again() {
    forget_expired();
    for (auto& [number, asked] : asked_) {
      asked.begun = parts_.clock.steady_now();
      asked.repetitions = 0;
      (void)publish(asked, number);
    }
    repeat_later();
  }
  /// One timer for all requests, since nearly all are answered before it runs.
  void repeat_later() {
    if (is_repeating_) return;
    std::optional<core::Clock::Steady> next;
    for (const auto& [number, asked] : asked_) {
      if (asked.has_more() && (!next || asked.next_repetition() < *next))
        next = asked.next_repetition();
    }
    if (!next) return;
    is_repeating_ = true;
    auto delay = std::max(*next - parts_.clock.steady_now(), core::Clock::Steady::duration::zero());
    parts_.timer.schedule(delay, [weak = weak_from_this()] {
      run_in(weak, [](BusConnectionCore& self) { self.repeat_due(); });
    });
  }
  void repeat_due() {
    is_repeating_ = false;
    forget_expired();
    const auto now = parts_.clock.steady_now();
    for (auto& [number, asked] : asked_) {
      if (!asked.has_more() || asked.next_repetition() > now) continue;
      ++asked.repetitions;
      if (!asked.is_waiting) (void)publish(asked, number);
    }
    repeat_later();
  }
  /// The caller has already given up.
  void forget_expired() {
    auto now = parts_.clock.steady_now();
    std::erase_if(asked_, [now](const auto& entry) { return entry.second.deadline <= now; });
  }
  void end(core::Error why) {
    if (receive_buffer_.is_closed()) return;
    parts_.inbox->remove(name_);
    asked_.clear();
    receive_buffer_.close(std::move(why));
  }

  const task::Executor executor_;
  const BusParts parts_;
  const BusRoute route_;
  std::string name_;  ///< in the inbox
  const std::shared_ptr<const rpc::ConnectionInfo> connection_;
  link::ReceiveBuffer receive_buffer_;
  std::map<std::uint64_t, PendingCall> asked_;
  std::uint64_t last_number_ = 0;
  bool is_repeating_ = false;  ///< the timer of `repeat_later` is set
};

/// The handle that users of the connection hold; closes it when destroyed.
class BusConnection final : public link::MessageConnection {
 public:
  BusConnection(link::EventLoop& loop, std::shared_ptr<BusConnectionCore> core)
      : loop_(loop), core_(std::move(core)) {}
  ~BusConnection() override { close(); }
  BusConnection(const BusConnection&) = delete;
  BusConnection& operator=(const BusConnection&) = delete;

  void start(std::shared_ptr<link::MessageReceiver> receiver) override {
    BusConnectionCore::run_in(core_, [receiver](BusConnectionCore& core) { core.start(receiver); });
  }
  void send(link::OutboundMessage message) override {
    BusConnectionCore::run_in(core_,
                              [message = std::move(message)](BusConnectionCore& core) mutable {
                                core.send(std::move(message));
                              });
  }
  // Scheduled, because these may call the receiver, which the caller does not expect within the
  // call.
  void set_reading(bool is_on) override {
    later([is_on](BusConnectionCore& core) { core.set_reading(is_on); });
  }
  void close() override {
    later([](BusConnectionCore& core) { core.close(); });
  }
  [[nodiscard]] rpc::TransportType transport_type() const override {
    return rpc::TransportType::kNats;
  }
  [[nodiscard]] rpc::TransportContext current_context() const override {
    return core_->current_context();
  }

 private:
  template <typename Task>
  void later(Task task) {
    loop_.post([core = core_, task] { BusConnectionCore::run_in(core, task); });
  }

  link::EventLoop& loop_;
  const std::shared_ptr<BusConnectionCore> core_;
};

}  // namespace

struct BusConnector::Parts : BusParts, std::enable_shared_from_this<Parts> {
  explicit Parts(BusParts parts) : BusParts(std::move(parts)), discovery(*this) {}

  [[nodiscard]] std::shared_ptr<link::MessageConnection> open(BusRoute route) {
    return std::make_shared<BusConnection>(
        loop, std::make_shared<BusConnectionCore>(*this, std::move(route)));
  }
  /// The route through discovery, by which a later manager of the league is found too.
  [[nodiscard]] BusRoute to_manager(const std::string& league) {
    BusRoute route;
    route.subject = link::session_in(session);
    route.attach = [weak = weak_from_this(), league](core::Clock::Steady until,
                                                     const std::function<void()>& then) {
      if (auto self = weak.lock())
        self->tasks.spawn(
            self->attach(league, until, [then](const auto& /*attached*/) { then(); }));
    };
    return route;
  }
  task::Task<void> attach(std::string league, core::Clock::Steady until,
                          std::function<void(core::Result<BusAttachment>)> then) {
    const auto attached = co_await discovery.attach(std::move(league), until);
    then(attached);
  }

  const BusDiscovery discovery;
  // Last: they use everything above. A fault ends the program, as one on the timer would.
  task::Scope tasks{task::Executor(), [](const std::exception_ptr&) { std::terminate(); }};
};

BusConnector::BusConnector(link::EventLoop& loop, const SessionOnBus& on)
    : parts_(std::make_shared<Parts>(BusParts{on, loop, std::make_shared<BusInbox>(on)})) {}

void BusConnector::connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
                           Opened opened) {
  constexpr std::string_view kManager = "manager";
  if (endpoint.scheme != "nats" || !link::parse_endpoint(endpoint.url())) {
    return opened(core::Error{
        core::ErrorCode::kEndpointNotAllowed, endpoint.url() + " is not a session on a bus", {}});
  }
  if (auto peer = link::BusSession::parse(endpoint.path))
    return opened(parts_->open({.subject = link::session_out(*peer), .peer = peer}));
  std::string league(endpoint.path.substr(std::min(endpoint.path.size(), kManager.size() + 1)));
  // The waiting caller has to get the reason before its own deadline passes.
  auto now = parts_->clock.steady_now();
  auto until = now + (deadline - now) / 10 * 9;
  auto* parts = parts_.get();
  parts->tasks.spawn(
      parts->attach(league, until, [parts, league, opened = std::move(opened)](const auto& found) {
        found ? opened(parts->open(parts->to_manager(league))) : opened(found.error());
      }));
}

}  // namespace league::transport::bus
