#include "common/transport/caller/http_caller.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <deque>
#include <future>
#include <list>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/rpc/seat_address.h"
#include "common/transport/caller/http_call.h"

namespace league::transport::caller {

namespace {

namespace asio = boost::asio;
using link::Task;

class Turn;

/// The calls of one budget to one peer.
struct CallLine {
  std::deque<Turn*> waiting;
  std::size_t running = 0;
  bool is_ready = false;  ///< is in the budget's list of peers that are ready
};

/// One endpoint, whose connections all budgets share.
struct CalledPeer {
  std::shared_ptr<client::HttpPool> pool;
  std::array<CallLine, 3> lines;  ///< by budget
  std::size_t idle = 0;  ///< number of idle connections when last counted
  std::list<CalledPeer*>::iterator place;

  [[nodiscard]] bool is_used() const {
    return idle > 0 || std::ranges::any_of(lines, [](const CallLine& line) {
             return line.running > 0 || !line.waiting.empty();
           });
  }
};

/// Peers take turns, so that a slow one delays only itself.
struct CallBudget {
  std::size_t most = 0;
  std::size_t running = 0;
  std::deque<CalledPeer*> ready;  ///< peers with a call that may begin
};

/// The peers, and whose turn it is. Only on the event loop's thread.
class CalledPeers {
 public:
  CalledPeers(link::EventLoop& loop, const HttpCallerOptions& options)
      : options_(options),
        loop_(loop),
        budgets_{CallBudget{options.game_calls, 0, {}}, CallBudget{options.broadcast_calls, 0, {}},
                 CallBudget{options.control_calls, 0, {}}} {}

  [[nodiscard]] asio::io_context& context() { return loop_.context(); }
  CalledPeer& peer_of(const link::Endpoint& endpoint);
  /// Begins the call, or lets it wait.
  void enter(Turn& turn);
  void leave(Turn& turn);
  /// Closes connections that have been idle since `since`, and forgets peers that nobody calls.
  void tidy(core::Clock::Steady since);

 private:
  void make_ready(std::size_t budget, CalledPeer& peer);
  void begin(Turn& turn);
  void begin_calls(std::size_t budget);
  void on_used(CalledPeer& peer);
  void count_idle(CalledPeer& peer);

  const HttpCallerOptions& options_;
  link::EventLoop& loop_;
  std::array<CallBudget, 3> budgets_;
  std::unordered_map<std::string, CalledPeer> peers_;
  std::list<CalledPeer*> by_use_;  ///< the least recently used first
  std::size_t idle_ = 0;  ///< connections of all peers
};

/// A place among the calls that run, or the wish for one; given back by the destructor.
class Turn {
 public:
  Turn(CalledPeers& peers, const link::OutboundCall& call)
      : budget(static_cast<std::size_t>(call.budget)),
        peer(peers.peer_of(call.endpoint)),
        peers_(peers),
        gate_(peers.context()) {
    peers_.enter(*this);
  }
  ~Turn() { peers_.leave(*this); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  Task<void> come() { return gate_.pass(); }
  void begin() {
    is_running = true;
    gate_.open();
  }

  const std::size_t budget;
  CalledPeer& peer;
  bool is_running = false;

 private:
  CalledPeers& peers_;
  link::Gate gate_;
};

CalledPeer& CalledPeers::peer_of(const link::Endpoint& endpoint) {
  std::string key = endpoint.scheme + "://" + endpoint.authority();
  // Each seat is a peer of its own: who plays there may take a minute, and nobody else waits.
  if (endpoint.path.starts_with(rpc::kSeatsPath)) key += endpoint.path;
  if (!endpoint.pinned_address.empty()) key += "@" + endpoint.pinned_address;
  auto [found, is_new] = peers_.try_emplace(std::move(key));
  CalledPeer& peer = found->second;
  if (is_new) {
    client::HttpClientLimits limits;
    limits.max_connections = options_.max_per_endpoint * budgets_.size();
    limits.connection_idle = options_.connection_idle;
    peer.pool = std::make_shared<client::HttpPool>(loop_, endpoint, limits);
    peer.place = by_use_.insert(by_use_.end(), &peer);
  }
  return peer;
}

void CalledPeers::enter(Turn& turn) {
  const CallBudget& all = budgets_[turn.budget];
  CallLine& line = turn.peer.lines[turn.budget];
  const bool is_its_turn = all.running < all.most && all.ready.empty() && line.waiting.empty() &&
                           line.running < options_.max_per_endpoint;
  if (is_its_turn) return begin(turn);
  line.waiting.push_back(&turn);
  make_ready(turn.budget, turn.peer);
}

void CalledPeers::leave(Turn& turn) {
  CallLine& line = turn.peer.lines[turn.budget];
  if (!turn.is_running) {
    std::erase(line.waiting, &turn);
    return;
  }
  --line.running;
  --budgets_[turn.budget].running;
  on_used(turn.peer);
  make_ready(turn.budget, turn.peer);
  begin_calls(turn.budget);
}

void CalledPeers::make_ready(std::size_t budget, CalledPeer& peer) {
  CallLine& line = peer.lines[budget];
  if (line.is_ready || line.waiting.empty() || line.running >= options_.max_per_endpoint) return;
  line.is_ready = true;
  budgets_[budget].ready.push_back(&peer);
}

void CalledPeers::begin_calls(std::size_t budget) {
  CallBudget& all = budgets_[budget];
  while (all.running < all.most && !all.ready.empty()) {
    CalledPeer& peer = *all.ready.front();
    all.ready.pop_front();
    CallLine& line = peer.lines[budget];
    line.is_ready = false;
    if (line.waiting.empty()) continue;  // they have given up
    Turn& next = *line.waiting.front();
    line.waiting.pop_front();
    begin(next);
    make_ready(budget, peer);
  }
}

void CalledPeers::begin(Turn& turn) {
  ++turn.peer.lines[turn.budget].running;
  ++budgets_[turn.budget].running;
  turn.begin();
}

void CalledPeers::on_used(CalledPeer& peer) {
  count_idle(peer);
  by_use_.splice(by_use_.end(), by_use_, peer.place);
  while (idle_ > options_.max_idle_connections) {
    CalledPeer& oldest = *by_use_.front();
    oldest.pool->close_idle(std::chrono::steady_clock::now());
    count_idle(oldest);
    by_use_.splice(by_use_.end(), by_use_, oldest.place);
  }
}

void CalledPeers::count_idle(CalledPeer& peer) {
  idle_ -= peer.idle;
  peer.idle = peer.pool->idle();
  idle_ += peer.idle;
}

void CalledPeers::tidy(core::Clock::Steady since) {
  for (auto at = peers_.begin(); at != peers_.end();) {
    CalledPeer& peer = at->second;
    peer.pool->close_idle(since);
    count_idle(peer);
    // A peer in the list of those that are ready may have nobody left who waits.
    const bool is_listed = std::ranges::any_of(peer.lines, &CallLine::is_ready);
    const bool is_needed = peer.is_used() || is_listed;
    if (!is_needed) by_use_.erase(peer.place);
    at = is_needed ? std::next(at) : peers_.erase(at);
  }
}

}  // namespace

/// Everything but `call` runs on the event loop's thread.
struct HttpCaller::Impl {
  Impl(std::unique_ptr<link::EventLoop> its_loop, const HttpCallerOptions& its_options)
      : options(its_options), loop(std::move(its_loop)), peers(*loop, options) {
    asio::co_spawn(loop->context(), tidy_up(),
                   asio::bind_cancellation_slot(tidying.slot(), asio::detached));
  }

  ~Impl() {
    is_stopping = true;
    loop->post([this] {
      tidying.emit(asio::cancellation_type::all);
      for (const auto& call : std::set(running))
        call->interrupt(core::ErrorCode::kShuttingDown, "this program is stopping");
      is_stopped = true;
      if (running.empty()) all_ended.set_value();
    });
    all_ended.get_future().wait();
    loop->stop();
  }

  void begin(const std::shared_ptr<HttpCall>& call) {
    if (is_stopping) return call->refuse();
    running.insert(call);
    asio::co_spawn(
        loop->context(), run(this, call),
        asio::bind_cancellation_slot(call->cancelled(), [this, call](std::exception_ptr) {
          running.erase(call);
          if (is_stopped && running.empty()) all_ended.set_value();
        }));
  }

  /// A call from its turn to its end.
  static Task<void> run(Impl* impl, std::shared_ptr<HttpCall> call) {
    try {
      call->watch();
      Turn turn(impl->peers, call->request());
      if (!turn.is_running) co_await turn.come();
      co_await call->converse(turn.peer.pool);
    } catch (const std::exception& fault) {
      call->on_interrupted(fault);
    }
  }

  Task<void> tidy_up() {
    for (asio::steady_timer timer(loop->context());;) {
      timer.expires_after(options.connection_idle / 4);
      co_await timer.async_wait(asio::use_awaitable);
      peers.tidy(std::chrono::steady_clock::now() - options.connection_idle);
    }
  }

  const HttpCallerOptions options;
  std::atomic<bool> is_stopping = false;
  bool is_stopped = false;  ///< of the loop's thread
  std::promise<void> all_ended;
  const std::unique_ptr<link::EventLoop> loop;  // before all that lives on its thread
  CalledPeers peers;
  asio::cancellation_signal tidying;
  std::set<std::shared_ptr<HttpCall>> running;
};

core::Result<std::unique_ptr<HttpCaller>> HttpCaller::create(const HttpCallerOptions& options) {
  auto loop = link::EventLoop::start();
  if (!loop) return loop.error();
  return std::unique_ptr<HttpCaller>(
      new HttpCaller(std::make_unique<Impl>(*std::move(loop), options)));
}

HttpCaller::HttpCaller(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpCaller::~HttpCaller() = default;

void HttpCaller::call(link::OutboundCall call, Completion completion) {
  auto made = std::make_shared<HttpCall>(impl_->loop->context(), std::move(call),
                                         std::move(completion), impl_->options.max_response);
  // During shutdown, or on the loop's own thread, a call that a completion makes is handled at
  // once, so that it cannot get lost.
  if (impl_->is_stopping || impl_->loop->is_loop_thread()) return impl_->begin(made);
  impl_->loop->post([impl = impl_.get(), made] { impl->begin(made); });
}

}  // namespace league::transport::caller
