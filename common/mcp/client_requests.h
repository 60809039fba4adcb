#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>

#include "common/core/result.h"
#include "common/core/timer.h"
#include "common/rpc/message.h"
#include "common/transport/link/message_handler.h"

namespace league::mcp {

/// Requests of a server to its clients (sampling, elicitation, roots) that wait for an answer.
/// Thread-safe.
class ClientRequests {
 public:
  /// The client's answer (a result or its error), or kTimeout, kConnectionError.
  using Answered = std::function<void(core::Result<rpc::Response>)>;

  /// `timer` may be null: then only answers and ends of sessions end a request. It outlives this.
  explicit ClientRequests(core::Timer* timer) : state_(std::make_shared<State>(timer)) {}
  ~ClientRequests();
  ClientRequests(const ClientRequests&) = delete;
  ClientRequests& operator=(const ClientRequests&) = delete;

  struct Question {
    std::string scope;  ///< who may answer: a session or a connection
    std::string method;
    const nlohmann::json& params;
    std::chrono::milliseconds timeout;
  };
  /// Pushes the request; `answered` runs once, on any thread.
  void ask(transport::PeerChannel& channel, const Question& question, Answered answered);
  /// Takes an answer from `scope`; false if nothing waits for it there.
  bool answer(const std::string& scope, rpc::Response response);
  /// The session or connection is gone: what it was asked fails with kConnectionError.
  void forget(const std::string& scope);

 private:
  struct Waiting {
    std::string scope;
    Answered answered;
    core::Timer::Id timer = 0;
  };
  /// Shared with the timer's functions, one of which may be running when the rest ends.
  struct State {
    explicit State(core::Timer* timer_in) : timer(timer_in) {}
    /// Takes a request out; nothing if it is not there, or `scope` is given and another's.
    Answered take(const std::string& id, const std::string* scope);
    void give_up(const std::string& id, const core::Error& why);

    core::Timer* const timer;
    std::mutex mutex;  // guards the rest
    std::uint64_t last_id = 0;
    std::unordered_map<std::string, Waiting> waiting;
  };

  std::shared_ptr<State> state_;
};

}  // namespace league::mcp
