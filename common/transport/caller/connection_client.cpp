#include "common/transport/caller/connection_client.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "common/rpc/frame_peek.h"
#include "common/transport/link/handle.h"

namespace league::transport::caller {
namespace {

using core::Error;
using core::ErrorCode;

/// A request that waits for its answer.
struct PendingRequest {
  rpc::Id id;
  std::function<void(link::CallOutcome)> go_on;
  link::CallOutcome failure = {};  ///< as which it would end now, but for the error
};
using PendingPointer = std::shared_ptr<PendingRequest>;

std::string answer_frame(const rpc::Id& id, std::string_view member) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  id.append_to(out);
  return out.append(",").append(member).append("}");
}

/// The connection may still hold it after the client was let go.
class PendingRequests final : public ConnectionClient,
                              public link::MessageReceiver,
                              public std::enable_shared_from_this<PendingRequests> {
 public:
  PendingRequests(std::shared_ptr<link::MessageConnection> connection, task::Executor executor,
                  const core::Clock& clock, core::Timer& timer, ConnectionClientOptions options)
      : connection_(std::move(connection)),
        executor_(std::move(executor)),
        clock_(clock),
        timer_(timer),
        options_(std::move(options)) {}

  task::Task<link::CallOutcome> request(rpc::Id id, link::OutboundMessage message) override;
  void send(link::OutboundMessage message) override { connection_->send(std::move(message)); }
  bool abandon(const rpc::Id& id, const Error& why) override;
  void close() override {
    run([](PendingRequests& its) {
      its.end({ErrorCode::kShuttingDown, "the connection is being closed", {}});
      if (its.connection_) its.connection_->close();
    });
  }
  [[nodiscard]] bool is_open() const override { return is_open_; }
  [[nodiscard]] std::size_t pending() const override { return pending_.size(); }
  [[nodiscard]] link::MessageConnection& connection() override { return *connection_; }

  void on_message(link::ReceivedMessage message) override;
  void on_oversized(const rpc::FramePeek& frame, const std::string& why) override;
  void on_closed(const Error& why) override;
  /// The client was let go.
  void leave() {
    run([](PendingRequests& its) {
      its.end({ErrorCode::kShuttingDown, "this program is stopping", {}});
      std::exchange(its.connection_, nullptr)->close();
    });
  }

 private:
  /// Runs `function` on the executor, at once if this is there.
  template <typename Function>
  void run(Function function) {
    if (executor_.is_here()) return function(*this);
    post(std::move(function));
  }
  /// Runs `function` on the executor, soon.
  template <typename Function>
  void post(Function function) {
    executor_.post(
        [self = shared_from_this(), function = std::move(function)]() mutable { function(*self); });
  }
  [[nodiscard]] std::optional<Error> refusal_of(const rpc::Id& id) const;
  /// Another one with the same id does not count.
  [[nodiscard]] bool is_pending(const PendingRequest& request) const {
    const auto found = pending_.find(request.id);
    return found != pending_.end() && found->second.get() == &request;
  }
  void begin(const PendingPointer& request, link::OutboundMessage message);
  void note_sent(const PendingPointer& request, const link::SendOutcome& outcome);
  void take(const rpc::FramePeek& peek, link::ReceivedMessage message);
  void answer_or_pass_on(const rpc::FramePeek& peek, link::ReceivedMessage message);
  /// Does nothing if `request` is not pending any more.
  void fail(const PendingPointer& request, const Error& why);
  void end(const Error& why);
  [[nodiscard]] Error error(ErrorCode code, std::string_view cause) const {
    return {code, "call of " + options_.peer + " failed: " + std::string(cause), {}};
  }

  std::shared_ptr<link::MessageConnection> connection_;  ///< null once the client was let go
  const task::Executor executor_;
  const core::Clock& clock_;  // neither is touched once the client is gone: nothing is pending then
  core::Timer& timer_;
  const ConnectionClientOptions options_;
  std::unordered_map<rpc::Id, PendingPointer> pending_;
  std::atomic<bool> is_open_ = true;
  std::string stray_;  ///< about the last answer to no request that came while others waited
};

task::Task<link::CallOutcome> PendingRequests::request(rpc::Id id, link::OutboundMessage message) {
  const auto self = shared_from_this();
  const auto begun = clock_.steady_now();
  link::CallOutcome outcome;
  outcome.error = refusal_of(id);
  if (!outcome.error) {
    task::ScheduledCall deadline(timer_);
    outcome = co_await task::called_back<link::CallOutcome>([&](auto go_on) {
      auto request =
          std::make_shared<PendingRequest>(PendingRequest{std::move(id), std::move(go_on)});
      if (message.deadline != core::Clock::Steady::max()) {
        const auto left = std::max(message.deadline - begun, core::Clock::Steady::duration::zero());
        deadline.set(left, [self, request] {
          self->post([request](PendingRequests& its) {
            its.fail(request, its.error(ErrorCode::kTimeout,
                                        "the deadline came before an answer" + its.stray_));
          });
        });
      }
      begin(request, std::move(message));
    });
  }
  outcome.elapsed = clock_.steady_now() - begun;
  if (outcome.error)
    outcome.context = rpc::MessageContext::now(clock_, rpc::MessageDirection::kServerToClient);
  co_return outcome;
}

std::optional<Error> PendingRequests::refusal_of(const rpc::Id& id) const {
  if (!is_open_) return error(ErrorCode::kConnectionError, "the connection is closed");
  if (id.is_null() || pending_.contains(id))
    return error(ErrorCode::kInternalError, "the request's id is null or still in use");
  if (pending_.size() >= options_.max_pending)
    return error(ErrorCode::kOverloaded, "too many requests wait for answers of this peer");
  return std::nullopt;
}

void PendingRequests::begin(const PendingPointer& request, link::OutboundMessage message) {
  pending_.emplace(request->id, request);
  message.done = [self = shared_from_this(), request,
                  then = std::move(message.done)](const link::SendOutcome& outcome) {
    if (then) then(outcome);
    self->post([request, outcome](PendingRequests& its) { its.note_sent(request, outcome); });
  };
  message.lost = [self = shared_from_this(), request](const Error& why) {
    self->post([request, why](PendingRequests& its) {
      its.fail(request, its.error(why.code, why.message));
    });
  };
  message.id = request->id;
  send(std::move(message));
}

void PendingRequests::note_sent(const PendingPointer& request, const link::SendOutcome& outcome) {
  if (!is_pending(*request)) return;
  link::CallOutcome& known = request->failure;
  if (!outcome.error || outcome.was_sent) known.sent_at = clock_.steady_now();
  known.http_status = outcome.http_status;
  if (!outcome.error) return;
  if (const auto* head = outcome.context.transport.as_http()) known.refusal_headers = head->headers;
  fail(request, error(outcome.error->code, outcome.error->message));
}

void PendingRequests::fail(const PendingPointer& request, const Error& why) {
  if (!is_pending(*request)) return;
  pending_.erase(request->id);
  request->failure.error = why;
  request->go_on(std::move(request->failure));
}

bool PendingRequests::abandon(const rpc::Id& id, const Error& why) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return false;
  fail(PendingPointer(found->second), why);
  return true;
}

void PendingRequests::on_message(link::ReceivedMessage message) {
  auto peek = message.frame ? std::move(*message.frame) : rpc::peek_frame(message.bytes);
  post([peek = std::move(peek), message = std::move(message)](PendingRequests& its) mutable {
    its.take(peek, std::move(message));
  });
}

void PendingRequests::take(const rpc::FramePeek& peek, link::ReceivedMessage message) {
  if (peek.kind != rpc::FrameKind::kResponse) return answer_or_pass_on(peek, std::move(message));
  const auto found = pending_.find(peek.id);
  if (found == pending_.end()) {  // it came too late, or to no request
    std::string shown;
    peek.id.append_to(shown);
    if (!pending_.empty()) stray_ = "; one with the id " + shown.substr(0, 64) + " came";
    return;
  }
  const auto request = found->second;
  pending_.erase(found);
  link::CallOutcome outcome{std::move(message)};
  outcome.http_status = request->failure.http_status;
  outcome.sent_at = request->failure.sent_at;
  request->go_on(std::move(outcome));
}

void PendingRequests::on_oversized(const rpc::FramePeek& frame, const std::string& why) {
  if (frame.kind != rpc::FrameKind::kResponse) return;
  post([id = frame.id, why](PendingRequests& its) {
    its.abandon(id, its.error(ErrorCode::kReplyTooLarge, why));
  });
}

void PendingRequests::answer_or_pass_on(const rpc::FramePeek& peek, link::ReceivedMessage message) {
  if (!connection_) return;
  const bool is_request = peek.kind == rpc::FrameKind::kRequest && !peek.id.is_null();
  if (is_request && (peek.method == "ping" || !options_.on_other)) {
    link::OutboundMessage answer;
    answer.bytes = answer_frame(
        peek.id, peek.method == "ping"
                     ? R"("result":{})"
                     : R"("error":{"code":-32601,"message":"this client offers no methods"})");
    return send(std::move(answer));
  }
  if (options_.on_other) options_.on_other(std::move(message));
}

void PendingRequests::end(const Error& why) {
  is_open_ = false;
  for (const auto& [id, request] : std::exchange(pending_, {})) {
    request->failure.error = error(why.code, why.message);
    request->go_on(std::move(request->failure));
  }
}

void PendingRequests::on_closed(const Error& why) {
  post([why](PendingRequests& its) {
    its.end(why);
    if (its.connection_ && its.options_.on_closed) its.options_.on_closed(why);
  });
}

}  // namespace

std::shared_ptr<ConnectionClient> ConnectionClient::start(
    std::shared_ptr<link::MessageConnection> connection, task::Executor executor,
    const core::Clock& clock, core::Timer& timer, ConnectionClientOptions options) {
  link::MessageConnection& started = *connection;
  auto client = std::make_shared<PendingRequests>(std::move(connection), std::move(executor), clock,
                                                  timer, std::move(options));
  started.start(client);
  return link::make_handle<ConnectionClient>(std::move(client),
                                             [](PendingRequests& ended) { ended.leave(); });
}

}  // namespace league::transport::caller
