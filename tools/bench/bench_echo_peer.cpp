// The process that `league bench` measures the league against.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <future>
#include <iostream>
#include <mutex>

#include "common/agent/host/agent_listener.h"
#include "common/core/own_program.h"
#include "common/rpc/frame_peek.h"
#include "common/transport/caller/endpoint_caller.h"
#include "tools/bench/bench_echo.h"
#include "tools/bench/bench_echo_bus.h"

namespace league::tools::bench {
namespace {

/// A frame of `bytes` bytes: `head`, padding, `tail`.
std::string frame(std::string_view head, std::string_view tail, std::uint64_t bytes) {
  std::string text(head);
  std::size_t fixed = head.size() + tail.size();
  text.append(bytes > fixed ? bytes - fixed : 0, 'x');
  return text.append(tail);
}

/// A frame whose id is a number: `head`, the number, `tail`.
class NumberedFrame {
 public:
  explicit NumberedFrame(std::string tail) : tail_(std::move(tail)) {}

  [[nodiscard]] std::string with(std::int64_t id) const {
    std::string out;
    out.reserve(tail_.size() + 48);
    return out.append(R"({"jsonrpc":"2.0","id":)").append(std::to_string(id)).append(tail_);
  }

 private:
  const std::string tail_;
};

constexpr std::uint64_t kHeadBytes = 30;

/// Answers every call with the same result.
class EchoHandler final : public transport::link::MessageHandler {
 public:
  explicit EchoHandler(std::uint64_t bytes)
      : answer_(frame(R"(,"result":{"padding":")", "\"}}", bytes - std::min(bytes, kHeadBytes))) {}

  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override {
    const rpc::Id id = rpc::peek_frame(message.bytes).id;
    transport::link::OutboundReply answer;
    answer.bytes = answer_.with(id.number() != nullptr ? *id.number() : 0);
    reply.send(std::move(answer));
  }

 private:
  const NumberedFrame answer_;
};

/// Keeps a number of calls in flight until all are made; each answer triggers the next call.
class EchoCalls {
 public:
  EchoCalls(const EchoPeerOptions& options, transport::link::Caller& caller,
            std::vector<transport::link::Endpoint> targets,
            std::optional<transport::link::Endpoint> seventh)
      : options_(options),
        caller_(caller),
        targets_(std::move(targets)),
        seventh_(std::move(seventh)),
        request_(frame(R"(,"method":"echo","params":{"padding":")", "\"}}",
                       options.request_bytes - std::min(options.request_bytes, kHeadBytes))) {}

  /// Blocks until the last answer.
  void run() {
    for (int i = 0; i < options_.in_flight; ++i) call_next();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return answered_ == options_.calls; });
  }

 private:
  void call_next() {
    std::uint64_t number = begun_.fetch_add(1);
    if (number >= options_.calls) return;
    transport::link::OutboundCall call;
    call.endpoint = seventh_ && number % 7 == 6 ? *seventh_ : targets_[number % targets_.size()];
    auto id = static_cast<std::int64_t>(number + 1);
    call.id = rpc::Id(id);
    call.bytes = request_.with(id);
    call.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    call.budget = transport::link::Budget::kGame;
    caller_.call(std::move(call), [this](const transport::link::CallOutcome& outcome) {
      if (outcome.error) std::cerr << outcome.error->message << '\n';
      call_next();
      std::lock_guard lock(mutex_);
      if (++answered_ == options_.calls) changed_.notify_all();
    });
  }

  const EchoPeerOptions& options_;
  transport::link::Caller& caller_;
  const std::vector<transport::link::Endpoint> targets_;
  const std::optional<transport::link::Endpoint> seventh_;
  const NumberedFrame request_;
  std::atomic<std::uint64_t> begun_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t answered_ = 0;
};

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

int fail(const core::Error& error) {
  std::cerr << "error: " << error.message << '\n';
  return 2;
}

int call_all(const EchoPeerOptions& options, transport::link::Caller& caller) {
  std::vector<transport::link::Endpoint> targets;
  for (const auto& url : options.targets) {
    auto endpoint = transport::link::parse_endpoint(url);
    if (!endpoint) return fail(endpoint.error());
    targets.push_back(*std::move(endpoint));
  }
  std::optional<transport::link::Endpoint> seventh;
  if (auto endpoint = transport::link::parse_endpoint(options.seventh))
    seventh = *std::move(endpoint);
  EchoCalls calls(options, caller, std::move(targets), std::move(seventh));
  std::string go;
  if (!std::getline(std::cin, go)) return 0;
  std::int64_t first = now_ns();
  calls.run();
  std::cout << "done " << options.calls << ' ' << first << ' ' << now_ns() << std::endl;
  return 0;
}

/// Everything that one process of the echo serves.
class EchoServers {
 public:
  /// `bus` is null for other transports.
  EchoServers(const EchoPeerOptions& options, transport::link::EventLoop& loop, EchoBus* bus)
      : options_(options),
        bus_(bus),
        transport_(
            agent::host::parse_serving(options.transport).value_or(agent::host::Serving::kHttp)),
        loop_(loop),
        handler_(options.reply_bytes) {}

  /// Starts the servers; returns their addresses.
  core::Result<std::vector<std::string>> start() {
    std::vector<std::string> urls;
    if (transport_ == agent::host::Serving::kStdio) {
      // A stdio server is started by its caller.
      std::string command = "stdio:" + core::own_program().string();
      command += " echo --transport stdio --reply-bytes ";
      command += std::to_string(options_.reply_bytes) + " --ports ";
      for (int i = 1; i <= options_.ports; ++i) urls.push_back(command + std::to_string(i));
      return urls;
    }
    for (int i = 0; bus_ != nullptr && i < options_.ports; ++i) {
      auto url = bus_->serve(handler_);
      if (!url) return url.error();
      urls.push_back(std::move(*url));
    }
    if (bus_ != nullptr) return urls;
    auto runtime = transport::front::HttpRuntime::start({.loop = &loop_});
    if (!runtime) return runtime.error();
    runtime_ = std::move(*runtime);
    for (int i = 0; i < options_.ports; ++i) {
      auto socket = agent::host::numbered_socket(options_.socket, i, options_.ports);
      auto server = agent::host::AgentListener::start(
          *runtime_, loop_, {.serving = transport_, .http = {}, .socket = socket}, handler_);
      if (!server) return server.error();
      urls.push_back(
          agent::host::contact_endpoint_of(transport_, "127.0.0.1", (*server)->port(), socket));
      servers_.push_back(std::move(*server));
    }
    return urls;
  }

  /// Serves the standard streams until they end.
  core::Result<void> serve_stdio() {
    std::promise<void> ended;
    transport::http::HttpRuntimeOptions none{.workers = 1, .loop = &loop_};
    auto runtime = transport::front::HttpRuntime::start(none);
    if (!runtime) return runtime.error();
    agent::host::ListenOptions listen{
        .serving = agent::host::Serving::kStdio, .http = {}, .socket = {}};
    listen.on_input_end = [&ended] { ended.set_value(); };
    auto server = agent::host::AgentListener::start(**runtime, loop_, std::move(listen), handler_);
    if (!server) return server.error();
    ended.get_future().wait();
    return {};
  }

 private:
  const EchoPeerOptions& options_;
  EchoBus* const bus_;
  const agent::host::Serving transport_;
  transport::link::EventLoop& loop_;
  EchoHandler handler_;
  std::unique_ptr<transport::front::HttpRuntime> runtime_;
  std::vector<std::unique_ptr<agent::host::AgentListener>> servers_;
};

}  // namespace

int run_echo_peer(const EchoPeerOptions& options) {
  auto loop = transport::link::EventLoop::start();
  if (!loop) return fail(loop.error());
  std::unique_ptr<EchoBus> bus;
  if (!options.bus.empty()) {
    auto joined = EchoBus::join(**loop, options.bus);
    if (!joined) return fail(joined.error());
    bus = std::move(*joined);
  }
  EchoServers servers(options, **loop, bus.get());
  if (options.transport == "stdio" && options.role.empty()) {
    auto served = servers.serve_stdio();
    return served ? 0 : fail(served.error());
  }
  auto urls = servers.start();
  if (!urls) return fail(urls.error());
  std::cout << "ready";
  for (const auto& url : *urls) std::cout << '\t' << url;
  std::cout << std::endl;
  if (!options.targets.empty()) {
    auto direct = transport::caller::StandaloneCaller::create();
    if (!direct) return fail(direct.error());
    auto& caller = bus ? bus->caller() : **direct;
    if (int code = call_all(options, caller); code != 0) return code;
  }
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}

}  // namespace league::tools::bench
