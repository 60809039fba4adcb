#include "common/transport/http_caller.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/core/timer.h"
#include "common/transport/call_pool.h"
#include "common/transport/http_call.h"

namespace league::transport {

struct HttpCaller::Impl {
  explicit Impl(const HttpCallerOptions& its_options)
      : options(its_options),
        cache({options.max_idle_connections, options.connection_idle}),
        game(pool_options(options.game_threads)),
        broadcast(pool_options(options.broadcast_threads)),
        control(pool_options(options.control_threads)) {
    tools = {&connector, &cache, options.max_response, cancelled.get()};
    close_idle_later();
  }

  ~Impl() {
    // Every wait of a running call looks at this descriptor.
    std::uint64_t one = 1;
    [[maybe_unused]] ssize_t written = ::write(cancelled.get(), &one, sizeof one);
  }

  [[nodiscard]] CallPool::Options pool_options(std::size_t threads) const {
    return {.max_threads = threads,
            .max_per_peer = options.max_per_endpoint,
            .thread_idle = options.thread_idle};
  }

  CallPool& pool(Budget budget) {
    switch (budget) {
      case Budget::kGame:
        return game;
      case Budget::kBroadcast:
        return broadcast;
      default:
        return control;
    }
  }

  void close_idle_later() {
    timer.schedule(options.connection_idle / 4, [this] {
      cache.close_idle();
      close_idle_later();
    });
  }

  const HttpCallerOptions options;
  FileDescriptor cancelled{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  PeerConnector connector;
  ConnectionCache cache;
  HttpCallTools tools;
  core::ThreadTimer timer;
  CallPool game;  // the pools last: their threads use everything above
  CallPool broadcast;
  CallPool control;
};

namespace {

CallOutcome refused(const OutboundCall& call, CallPool::Verdict verdict) {
  return verdict == CallPool::Verdict::kTooLate
             ? failed_call(call, core::ErrorCode::kTimeout, "queue",
                           "the deadline came before a thread was free for this peer")
             : failed_call(call, core::ErrorCode::kShuttingDown, "queue",
                           "this program is stopping");
}

}  // namespace

core::Result<std::unique_ptr<HttpCaller>> HttpCaller::create(const HttpCallerOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  if (!impl->cancelled.is_open()) {
    return core::Error{core::ErrorCode::kInternalError,
                       "no descriptor for the HTTP caller: " + system_error_text(errno),
                       {}};
  }
  return std::unique_ptr<HttpCaller>(new HttpCaller(std::move(impl)));
}

HttpCaller::HttpCaller(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpCaller::~HttpCaller() = default;

std::size_t HttpCaller::threads() const {
  return impl_->game.threads() + impl_->broadcast.threads() + impl_->control.threads();
}

void HttpCaller::call(OutboundCall call, Completion completion) {
  auto begun = std::chrono::steady_clock::now();
  CallPool& pool = impl_->pool(call.budget);
  std::string peer = peer_key(call.endpoint);
  auto deadline = call.deadline;
  auto run = [this, begun, peer, call = std::move(call),
              completion = std::move(completion)](CallPool::Verdict verdict) {
    auto complete = [&completion, begun](CallOutcome outcome) {
      outcome.elapsed = std::chrono::steady_clock::now() - begun;
      completion(std::move(outcome));
    };
    if (verdict != CallPool::Verdict::kRun) return complete(refused(call, verdict));
    perform_http_call(call, peer, impl_->tools, complete);
  };
  pool.submit({std::move(peer), deadline, std::move(run)});
}

}  // namespace league::transport
