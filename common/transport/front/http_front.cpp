#include "common/transport/front/http_front.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace league::transport::front {

namespace {

constexpr std::uint64_t kTimerId = 1;
constexpr std::uint64_t kWakeId = 2;
constexpr std::uint64_t kStopId = 3;
constexpr int kEventsAtOnce = 8;

}  // namespace

HttpFront::HttpFront(const http::HttpRuntimeOptions& options) : options_(options) {}

HttpFront::~HttpFront() { stop(); }

core::Result<void> HttpFront::start() {
  epoll_ = core::FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  timer_ = core::FileDescriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  wake_ = link::open_bell();
  stop_ = link::open_bell();
  auto period = std::chrono::duration_cast<std::chrono::nanoseconds>(options_.sweep_interval);
  timespec every{period.count() / 1'000'000'000, period.count() % 1'000'000'000};
  itimerspec schedule{every, every};
  // Edge-triggered: each tick and each wake-up wakes one worker. The stop event stays ready and
  // wakes all workers.
  bool is_good = epoll_.is_open() && timer_.is_open() && wake_.is_open() && stop_.is_open() &&
                 ::timerfd_settime(timer_.get(), 0, &schedule, nullptr) == 0 &&
                 control(EPOLL_CTL_ADD, timer_, kTimerId, EPOLLIN | EPOLLET) &&
                 control(EPOLL_CTL_ADD, wake_, kWakeId, EPOLLIN | EPOLLET) &&
                 control(EPOLL_CTL_ADD, stop_, kStopId, EPOLLIN);
  if (!is_good) {
    return core::Error{core::ErrorCode::kInternalError,
                       "the HTTP event loop cannot be set up: " + link::system_error_text(errno),
                       {}};
  }
  for (std::size_t i = 0; i < options_.workers; ++i) workers_.emplace_back([this] { run(); });
  return {};
}

bool HttpFront::control(int operation, const core::FileDescriptor& fd, std::uint64_t id,
                        std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return ::epoll_ctl(epoll_.get(), operation, fd.get(), &event) == 0;
}

void HttpFront::stop() {
  if (is_stopping_.exchange(true)) return;
  if (stop_.is_open()) link::ring(stop_);
  workers_.clear();
  for (const auto& connection : all_connections()) {
    if (connection->exchange) connection->exchange->abandon();
  }
  while (queue_.pop()) {
  }
  std::lock_guard lock(mutex_);
  connections_.clear();
  listeners_.clear();
}

void HttpFront::run() {
  std::array<epoll_event, kEventsAtOnce> events{};
  while (!is_stopping_) {
    // Counted as idle before it checks the queue, so that a thread that adds a request afterwards
    // wakes it.
    ++idle_workers_;
    bool has_work = queue_.size() > 0;
    int count = ::epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, has_work ? 0 : -1);
    --idle_workers_;
    for (int i = 0; i < count; ++i) handle(events[static_cast<std::size_t>(i)].data.u64);
    if (auto connection = queue_.pop()) serve(*connection);
  }
}

void HttpFront::handle(std::uint64_t id) {
  if (id == kWakeId || id == kStopId) return;
  if (id == kTimerId) {
    std::uint64_t ticks = 0;
    [[maybe_unused]] ssize_t count = ::read(timer_.get(), &ticks, sizeof ticks);
    sweep();
    return;
  }
  std::shared_ptr<Listener> listener;
  ConnectionPtr connection = find(id);
  if (!connection) {
    std::lock_guard lock(mutex_);
    if (auto port = listeners_.find(id); port != listeners_.end()) listener = port->second;
  }
  if (listener) accept_all(*listener);
  if (!connection) return;
  if (connection->claim(Connection::State::kArmed)) {
    on_event(connection);
  } else if (auto exchange = connection->parked_exchange()) {
    exchange->peer_left();
  }
}

void HttpFront::sweep() {
  auto now = std::chrono::steady_clock::now();
  for (const auto& connection : all_connections()) {
    if (connection->is_overdue(now) && connection->claim(Connection::State::kArmed)) {
      on_overdue(connection);
    }
  }
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, listener] : listeners_) listeners.push_back(listener);
  }
  for (const auto& listener : listeners) {
    std::lock_guard lock(listener->mutex);
    if (std::exchange(listener->needs_rearm, false)) arm_listener(*listener, EPOLL_CTL_MOD);
  }
}

void HttpFront::enqueue(const ConnectionPtr& connection) {
  std::size_t waiting = queue_.push(connection->peer, connection, connection->is_first_served);
  if (waiting > 1) wake_one();
}

void HttpFront::wake_one() {
  if (idle_workers_ > 0) link::ring(wake_);
}

void HttpFront::close_connections(const ServerState& server, Connection::State up_to) {
  for (const auto& connection : all_connections()) {
    if (connection->server.get() != &server) continue;
    if (connection->claim(Connection::State::kArmed)) {
      bool is_between_requests = connection->in.empty() && connection->out.empty();
      if (is_between_requests || up_to == Connection::State::kParked) {
        close(connection);
      } else {
        on_event(connection);
        wake_one();  // this thread serves nothing
      }
    } else if (up_to == Connection::State::kParked && connection->claim(up_to)) {
      close(connection);
    }
  }
}

HttpFront::ConnectionPtr HttpFront::find(std::uint64_t id) {
  std::lock_guard lock(mutex_);
  auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second;
}

std::vector<HttpFront::ConnectionPtr> HttpFront::all_connections() {
  std::lock_guard lock(mutex_);
  std::vector<ConnectionPtr> all;
  all.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) all.push_back(connection);
  return all;
}

}  // namespace league::transport::front
