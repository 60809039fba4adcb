#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "common/agent/host/serving.h"
#include "common/core/result.h"
#include "common/transport/front/http_server.h"
#include "common/transport/line/line_listener.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/rate_limiter.h"
#include "common/transport/link/served_connection.h"

namespace league::agent::host {

/// The address and the limits at which one agent listens.
struct ListenOptions {
  Serving serving = Serving::kHttp;
  transport::http::HttpServerOptions http;  ///< its address, port and limits hold for lines too
  std::filesystem::path socket;  ///< of Serving::kUnix
  /// Identifies senders by a credential before their message is read. Empty: senders that show the
  /// agent's own token or a match credential derived from it are known.
  transport::link::RateLimiter::Recognise recognise = nullptr;
  std::vector<transport::http::Page> pages = {};  ///< served on the same port, if that is HTTP
  /// For Serving::kStdio: called when the input has ended and everything was answered. Runs on the
  /// event loop's thread.
  std::function<void()> on_input_end = nullptr;
};

/// Serves one agent over the chosen transport. Thread-safe except for stop, which only one thread
/// may call.
class AgentListener {
 public:
  /// `runtime`, `loop` and `handler` must outlive it. Fails with kConnectionError and a text that
  /// names the address and the cause.
  [[nodiscard]] static core::Result<std::unique_ptr<AgentListener>> start(
      transport::front::HttpRuntime& runtime, transport::link::EventLoop& loop,
      ListenOptions options, transport::link::MessageHandler& handler);
  ~AgentListener();
  AgentListener(const AgentListener&) = delete;
  AgentListener& operator=(const AgentListener&) = delete;

  [[nodiscard]] std::uint16_t port() const;  ///< 0 if there is none
  /// Accepts no more messages; running requests may finish within the grace of the HTTP options.
  void begin_stop();
  /// Calls begin_stop and waits until it has taken effect. Afterwards the handler is not called any
  /// more.
  void stop();

 private:
  explicit AgentListener(std::chrono::milliseconds grace) : grace_(grace) {}
  core::Result<void> start_lines(transport::link::EventLoop& loop, const ListenOptions& options,
                                 transport::link::MessageHandler& handler);
  core::Result<void> start_stdio(transport::link::EventLoop& loop, ListenOptions options,
                                 transport::link::MessageHandler& handler);
  void stop_stdio();

  /// Shared with the event loop, which may still be running the last connection's callbacks.
  struct Ended {
    std::mutex mutex;
    std::condition_variable changed;
    bool value = false;
  };

  const std::chrono::milliseconds grace_;
  std::unique_ptr<transport::front::HttpServer> http_;
  std::unique_ptr<transport::line::LineListener> lines_;
  std::shared_ptr<transport::link::ServedConnection> stdio_;  ///< null: not served
  std::shared_ptr<Ended> stdio_ended_ = std::make_shared<Ended>();
};

}  // namespace league::agent::host
