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

/// Requests of a server to its clients (sampling, elicitation, roots) that are not answered yet.
/// Thread-safe.
class ClientRequests {
 public:
  /// Gets the client's answer (a result or an error), or kTimeout or kConnectionError.
  using Answered = std::function<void(core::Result<rpc::Response>)>;

  /// `timer` may be null: then requests have no time limit. It must outlive this object.
  explicit ClientRequests(core::Timer* timer) : state_(std::make_shared<State>(timer)) {}
  ~ClientRequests();
  ClientRequests(const ClientRequests&) = delete;
  ClientRequests& operator=(const ClientRequests&) = delete;

  struct Question {
    std::string scope;  ///< who may answer: the id of a session or connection
    std::string method;
    const nlohmann::json& params;
    std::chrono::milliseconds timeout;
  };
  /// Sends the request to the client; `answered` runs once, on any thread.
  void ask(transport::link::PeerChannel& channel, const Question& question, Answered answered);
  /// Takes an answer from `scope`; false if nothing waits for it there.
  bool answer(const std::string& scope, rpc::Response response);
  /// The session or connection has ended: its open requests fail with kConnectionError.
  void forget(const std::string& scope);

 private:
  struct Waiting {
    std::string scope;
    Answered answered;
    core::Timer::Id timer = 0;
  };
  /// Shared with timer callbacks, one of which may be running when the object is destroyed.
  struct State {
    explicit State(core::Timer* timer_in) : timer(timer_in) {}
    /// Removes a request; nothing if it is unknown, or if `scope` is given and does not match.
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
