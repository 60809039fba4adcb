#include "common/transport/caller/http_caller.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <future>
#include <list>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/transport/caller/http_call.h"

namespace league::transport::caller {

namespace {

using CallPointer = std::shared_ptr<HttpCall>;

/// The calls of one budget to one peer.
struct CallLine {
  std::deque<CallPointer> waiting;
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

}  // namespace

/// Everything but `call` runs on the event loop's thread.
struct HttpCaller::Impl {
  Impl(std::unique_ptr<link::EventLoop> its_loop, const HttpCallerOptions& its_options)
      : options(its_options),
        loop(std::move(its_loop)),
        tidy_timer(loop->context()),
        budgets{CallBudget{options.game_calls, 0, {}}, CallBudget{options.broadcast_calls, 0, {}},
                CallBudget{options.control_calls, 0, {}}} {
    loop->post([this] { tidy_later(); });
  }

  ~Impl() {
    is_stopping = true;
    std::promise<void> stopped;
    loop->post([&] {
      stop_all();
      stopped.set_value();
    });
    stopped.get_future().wait();
    loop->stop();
  }

  void submit(const CallPointer& call) {
    if (is_stopping) return call->stop();
    CalledPeer& peer = peer_of(call->request().endpoint);
    auto budget = static_cast<std::size_t>(call->request().budget);
    CallLine& line = peer.lines[budget];
    const bool is_its_turn = budgets[budget].running < budgets[budget].most &&
                             budgets[budget].ready.empty() && line.waiting.empty() &&
                             line.running < options.max_per_endpoint;
    if (is_its_turn) return begin(call, budget, peer);
    line.waiting.push_back(call);
    make_ready(budget, peer);
    call->wait_for_turn();
  }

  CalledPeer& peer_of(const link::Endpoint& endpoint) {
    std::string key = endpoint.scheme + "://" + endpoint.authority();
    if (!endpoint.pinned_address.empty()) key += "@" + endpoint.pinned_address;
    auto [found, is_new] = peers.try_emplace(std::move(key));
    CalledPeer& peer = found->second;
    if (is_new) {
      client::HttpClientLimits limits;
      limits.max_connections = options.max_per_endpoint * budgets.size();
      limits.connection_idle = options.connection_idle;
      peer.pool = std::make_shared<client::HttpPool>(*loop, endpoint, limits);
      peer.place = by_use.insert(by_use.end(), &peer);
    }
    return peer;
  }

  void make_ready(std::size_t budget, CalledPeer& peer) {
    CallLine& line = peer.lines[budget];
    if (line.is_ready || line.waiting.empty() || line.running >= options.max_per_endpoint) return;
    line.is_ready = true;
    budgets[budget].ready.push_back(&peer);
  }

  void begin_calls(std::size_t budget) {
    CallBudget& all = budgets[budget];
    while (all.running < all.most && !all.ready.empty()) {
      CalledPeer& peer = *all.ready.front();
      all.ready.pop_front();
      CallLine& line = peer.lines[budget];
      line.is_ready = false;
      auto call = std::move(line.waiting.front());
      line.waiting.pop_front();
      if (!call->is_complete()) begin(call, budget, peer);
      make_ready(budget, peer);
    }
  }

  void begin(const CallPointer& call, std::size_t budget, CalledPeer& peer) {
    ++peer.lines[budget].running;
    ++budgets[budget].running;
    running.insert(call);
    call->begin(peer.pool, [this, call, budget, &peer] {
      --peer.lines[budget].running;
      --budgets[budget].running;
      running.erase(call);
      on_used(peer);
      make_ready(budget, peer);
      begin_calls(budget);
    });
  }

  void on_used(CalledPeer& peer) {
    count_idle(peer);
    by_use.splice(by_use.end(), by_use, peer.place);
    while (idle > options.max_idle_connections) {
      CalledPeer& oldest = *by_use.front();
      oldest.pool->close_idle(std::chrono::steady_clock::now());
      count_idle(oldest);
      by_use.splice(by_use.end(), by_use, oldest.place);
    }
  }

  void count_idle(CalledPeer& peer) {
    idle -= peer.idle;
    peer.idle = peer.pool->idle();
    idle += peer.idle;
  }

  void tidy_later() {
    tidy_timer.expires_after(options.connection_idle / 4);
    tidy_timer.async_wait([this](boost::system::error_code fault) {
      if (fault) return;
      auto unused_since = std::chrono::steady_clock::now() - options.connection_idle;
      for (auto at = peers.begin(); at != peers.end();) {
        CalledPeer& peer = at->second;
        peer.pool->close_idle(unused_since);
        count_idle(peer);
        if (!peer.is_used()) by_use.erase(peer.place);
        at = peer.is_used() ? std::next(at) : peers.erase(at);
      }
      tidy_later();
    });
  }

  void stop_all() {
    tidy_timer.cancel();
    for (auto& [key, peer] : peers) {
      for (CallLine& line : peer.lines) {
        for (const auto& call : line.waiting) call->stop();
      }
      peer.pool->close_idle(std::chrono::steady_clock::now());
    }
    for (const auto& call : std::exchange(running, {})) call->stop();
  }

  const HttpCallerOptions options;
  std::atomic<bool> is_stopping = false;
  const std::unique_ptr<link::EventLoop> loop;  // before all that lives on its thread
  boost::asio::steady_timer tidy_timer;
  std::array<CallBudget, 3> budgets;
  std::unordered_map<std::string, CalledPeer> peers;
  std::list<CalledPeer*> by_use;  ///< the least recently used first
  std::size_t idle = 0;  ///< connections of all peers
  std::set<CallPointer> running;
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
  auto made = std::make_shared<HttpCall>(*impl_->loop, std::move(call), std::move(completion),
                                         impl_->options.max_response);
  // During shutdown, or on the loop's own thread, a call that a completion makes is handled at
  // once, so that it cannot get lost.
  if (impl_->is_stopping || impl_->loop->is_loop_thread()) return impl_->submit(made);
  impl_->loop->post([impl = impl_.get(), made] { impl->submit(made); });
}

}  // namespace league::transport::caller
