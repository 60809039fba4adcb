// The process that `league bench` measures the league against.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <mutex>

#include "common/transport/http_caller.h"
#include "common/transport/http_server.h"
#include "tools/league/bench_echo.h"

namespace league::tools {
namespace {

/// A frame of `bytes` bytes: `head`, padding, `tail`.
std::string frame(std::string_view head, std::string_view tail, std::uint64_t bytes) {
  std::string text(head);
  std::size_t fixed = head.size() + tail.size();
  text.append(bytes > fixed ? bytes - fixed : 0, 'x');
  return text.append(tail);
}

/// Answers every call with the same bytes.
class EchoHandler final : public transport::MessageHandler {
 public:
  explicit EchoHandler(std::uint64_t bytes)
      : bytes_(frame(R"({"jsonrpc":"2.0","id":1,"result":{"padding":")", "\"}}", bytes)) {}

  void on_message(transport::Inbound /*message*/, transport::ReplySlot reply) override {
    transport::OutboundReply answer;
    answer.bytes = bytes_;
    reply.send(std::move(answer));
  }

 private:
  const std::string bytes_;
};

/// Keeps so many calls in flight until all are made; the answer to one sends the next.
class EchoCalls {
 public:
  EchoCalls(const EchoPeerOptions& options, transport::Caller& caller,
            std::vector<transport::Endpoint> targets, std::optional<transport::Endpoint> seventh)
      : options_(options),
        caller_(caller),
        targets_(std::move(targets)),
        seventh_(std::move(seventh)),
        bytes_(std::make_shared<const std::string>(
            frame(R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"padding":")", "\"}}",
                  options.request_bytes))) {}

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
    transport::OutboundCall call;
    call.endpoint = seventh_ && number % 7 == 6 ? *seventh_ : targets_[number % targets_.size()];
    call.bytes = bytes_;
    call.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    call.budget = transport::Budget::kGame;
    caller_.call(std::move(call), [this](const transport::CallOutcome& outcome) {
      if (outcome.error) std::cerr << outcome.error->message << '\n';
      call_next();
      std::lock_guard lock(mutex_);
      if (++answered_ == options_.calls) changed_.notify_all();
    });
  }

  const EchoPeerOptions& options_;
  transport::Caller& caller_;
  const std::vector<transport::Endpoint> targets_;
  const std::optional<transport::Endpoint> seventh_;
  const std::shared_ptr<const std::string> bytes_;
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

int call_all(const EchoPeerOptions& options) {
  std::vector<transport::Endpoint> targets;
  for (const auto& url : options.targets) {
    auto endpoint = transport::parse_endpoint(url);
    if (!endpoint) return fail(endpoint.error());
    targets.push_back(*std::move(endpoint));
  }
  std::optional<transport::Endpoint> seventh;
  if (auto endpoint = transport::parse_endpoint(options.seventh)) seventh = *std::move(endpoint);
  auto caller = transport::HttpCaller::create();
  if (!caller) return fail(caller.error());
  EchoCalls calls(options, **caller, std::move(targets), std::move(seventh));
  std::string go;
  if (!std::getline(std::cin, go)) return 0;
  std::int64_t first = now_ns();
  calls.run();
  std::cout << "done " << options.calls << ' ' << first << ' ' << now_ns() << std::endl;
  return 0;
}

}  // namespace

int run_echo_peer(const EchoPeerOptions& options) {
  EchoHandler handler(options.reply_bytes);
  auto runtime = transport::HttpRuntime::start();
  if (!runtime) return fail(runtime.error());
  std::vector<std::unique_ptr<transport::HttpServer>> servers;
  std::cout << "ready";
  for (int i = 0; i < options.ports; ++i) {
    auto server = transport::HttpServer::start(**runtime, {}, handler);
    if (!server) return fail(server.error());
    std::cout << " http://localhost:" << (*server)->port() << "/mcp";
    servers.push_back(std::move(*server));
  }
  std::cout << std::endl;
  if (!options.targets.empty()) {
    if (int code = call_all(options); code != 0) return code;
  }
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}

}  // namespace league::tools
