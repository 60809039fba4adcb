#include "common/transport/caller/connection_client.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/rpc/frame_peek.h"
#include "common/transport/link/handle.h"

namespace league::transport::caller {
namespace {

struct PendingRequest {
  link::Caller::Completion completion;
  core::Clock::Steady begun;
  std::uint64_t number = 0;  ///< tells it from a later request with the same id
  core::Timer::Id timer = 0;
  std::optional<core::Clock::Steady> sent_at;
  int http_status = 0;
  std::shared_ptr<const rpc::HeaderMap> refusal_headers;
};

std::string answer_frame(const rpc::Id& id, std::string_view member) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  id.append_to(out);
  return out.append(",").append(member).append("}");
}

/// The connection and the timer may still hold it after the client was let go.
class PendingRequests final : public ConnectionClient,
                              public link::MessageReceiver,
                              public std::enable_shared_from_this<PendingRequests> {
 public:
  PendingRequests(const std::shared_ptr<link::MessageConnection>& connection,
                  const core::Clock& clock, core::Timer& timer, ConnectionClientOptions options)
      : connection_(connection), clock_(clock), timer_(timer), options_(std::move(options)) {}

  void request(const rpc::Id& id, link::OutboundMessage message,
               link::Caller::Completion completion) override;
  void send(link::OutboundMessage message) override { connection().send(std::move(message)); }
  bool abandon(const rpc::Id& id, const core::Error& why) override { return fail(id, 0, why); }
  void close() override {
    end({core::ErrorCode::kShuttingDown, "the connection is being closed", {}}, End::kClosing);
    connection().close();
  }
  [[nodiscard]] link::MessageConnection& connection() override { return *connection_.lock(); }
  void note_sent(const rpc::Id& id, std::uint64_t number, const link::SendOutcome& outcome);
  bool fail(const rpc::Id& id, std::uint64_t number, const core::Error& why);
  enum class End { kClosing, kClosed, kClientGone };
  void end(const core::Error& why, End how);

  void on_message(link::ReceivedMessage message) override;
  void on_oversized(const rpc::FramePeek& frame, const std::string& why) override {
    if (frame.kind != rpc::FrameKind::kResponse) return;
    fail(frame.id, 0, error(core::ErrorCode::kReplyTooLarge, why));
  }
  void on_closed(const core::Error& why) override;

  [[nodiscard]] bool is_open() const override {
    std::lock_guard lock(mutex_);
    return is_open_;
  }
  [[nodiscard]] std::size_t pending() const override {
    std::lock_guard lock(mutex_);
    return pending_.size();
  }

 private:
  std::optional<PendingRequest> take(const rpc::Id& id, std::uint64_t number);
  void finish(PendingRequest request, link::CallOutcome outcome);
  void refuse(link::Caller::Completion completion, core::ErrorCode code, const std::string& why);
  [[nodiscard]] std::string stray() const {
    std::lock_guard lock(mutex_);
    return stray_;
  }
  [[nodiscard]] core::Error error(core::ErrorCode code, std::string_view cause) const;
  void answer_or_pass_on(const rpc::FramePeek& peek, link::ReceivedMessage message);

  const std::weak_ptr<link::MessageConnection> connection_;  ///< which lives as long as the client
  const core::Clock& clock_;  // neither is touched once the client is gone: nothing is pending then
  core::Timer& timer_;
  const ConnectionClientOptions options_;
  mutable std::mutex mutex_;  // guards the rest, never held while a function of others runs
  std::unordered_map<rpc::Id, PendingRequest> pending_;
  std::uint64_t next_number_ = 1;
  bool is_open_ = true;
  bool is_client_gone_ = false;
  std::string stray_;  ///< about the last answer to no request that came while others waited
};

core::Error PendingRequests::error(core::ErrorCode code, std::string_view cause) const {
  return {code, "call of " + options_.peer + " failed: " + std::string(cause), {}};
}

void PendingRequests::refuse(link::Caller::Completion completion, core::ErrorCode code,
                             const std::string& why) {
  PendingRequest request;
  request.begun = clock_.steady_now();
  request.completion = std::move(completion);
  link::CallOutcome outcome;
  outcome.error = error(code, why);
  finish(std::move(request), std::move(outcome));
}

void PendingRequests::request(const rpc::Id& id, link::OutboundMessage message,
                              link::Caller::Completion completion) {
  using core::ErrorCode;
  auto now = clock_.steady_now();
  std::uint64_t number = 0;
  std::optional<std::pair<ErrorCode, std::string>> refusal;
  {
    std::lock_guard lock(mutex_);
    if (!is_open_) {
      refusal = {ErrorCode::kConnectionError, "the connection is closed"};
    } else if (id.is_null() || pending_.contains(id)) {
      refusal = {ErrorCode::kInternalError, "the request's id is null or still in use"};
    } else if (pending_.size() >= options_.max_pending) {
      refusal = {ErrorCode::kOverloaded, "too many requests wait for answers of this peer"};
    } else {
      number = next_number_++;
      pending_.emplace(id, PendingRequest{completion, now, number, 0, std::nullopt, 0, nullptr});
    }
  }
  if (refusal) return refuse(std::move(completion), refusal->first, refusal->second);
  auto weak = weak_from_this();
  if (message.deadline != core::Clock::Steady::max()) {
    auto timer = timer_.schedule(
        std::max(message.deadline - now, core::Clock::Steady::duration::zero()),
        [weak, id, number] {
          if (auto self = weak.lock())
            self->fail(id, number,
                       self->error(ErrorCode::kTimeout,
                                   "the deadline came before an answer" + self->stray()));
        });
    std::lock_guard lock(mutex_);
    auto found = pending_.find(id);
    if (found != pending_.end() && found->second.number == number) found->second.timer = timer;
  }
  auto then = std::exchange(message.done, nullptr);
  message.done = [weak, id, number, then = std::move(then)](const link::SendOutcome& outcome) {
    if (then) then(outcome);
    if (auto self = weak.lock()) self->note_sent(id, number, outcome);
  };
  message.lost = [weak, id, number](const core::Error& why) {
    if (auto self = weak.lock()) self->fail(id, number, self->error(why.code, why.message));
  };
  message.id = id;
  send(std::move(message));
}

void PendingRequests::note_sent(const rpc::Id& id, std::uint64_t number,
                                const link::SendOutcome& outcome) {
  {
    std::lock_guard lock(mutex_);
    auto found = pending_.find(id);
    if (found == pending_.end() || found->second.number != number) return;
    if (!outcome.error || outcome.was_sent) found->second.sent_at = clock_.steady_now();
    found->second.http_status = outcome.http_status;
    const auto* head = outcome.context.transport.as_http();
    if (outcome.error && head != nullptr) found->second.refusal_headers = head->headers;
  }
  if (outcome.error) fail(id, number, error(outcome.error->code, outcome.error->message));
}

std::optional<PendingRequest> PendingRequests::take(const rpc::Id& id, std::uint64_t number) {
  std::lock_guard lock(mutex_);
  auto found = pending_.find(id);
  if (found == pending_.end() || (number != 0 && found->second.number != number)) {
    return std::nullopt;
  }
  auto request = std::move(found->second);
  pending_.erase(found);
  return request;
}

void PendingRequests::finish(PendingRequest request, link::CallOutcome outcome) {
  if (request.timer != 0) timer_.cancel(request.timer);
  outcome.elapsed = clock_.steady_now() - request.begun;
  outcome.sent_at = request.sent_at;
  if (outcome.error) {
    outcome.context = rpc::MessageContext::now(clock_, rpc::MessageDirection::kServerToClient);
  }
  if (request.completion) request.completion(std::move(outcome));
}

bool PendingRequests::fail(const rpc::Id& id, std::uint64_t number, const core::Error& why) {
  auto request = take(id, number);
  if (!request) return false;
  link::CallOutcome outcome;
  outcome.error = why;
  outcome.http_status = request->http_status;
  outcome.refusal_headers = request->refusal_headers;
  finish(std::move(*request), std::move(outcome));
  return true;
}

void PendingRequests::on_message(link::ReceivedMessage message) {
  auto peek = message.frame ? std::move(*message.frame) : rpc::peek_frame(message.bytes);
  if (peek.kind != rpc::FrameKind::kResponse) return answer_or_pass_on(peek, std::move(message));
  auto request = take(peek.id, 0);
  if (!request) {  // it came too late, or to no request
    std::string shown;
    peek.id.append_to(shown);
    std::lock_guard lock(mutex_);
    if (!pending_.empty()) stray_ = "; one with the id " + shown.substr(0, 64) + " came";
    return;
  }
  link::CallOutcome outcome{std::move(message)};
  outcome.http_status = request->http_status;
  finish(std::move(*request), std::move(outcome));
}

void PendingRequests::answer_or_pass_on(const rpc::FramePeek& peek, link::ReceivedMessage message) {
  bool is_request = peek.kind == rpc::FrameKind::kRequest && !peek.id.is_null();
  if (is_request && (peek.method == "ping" || !options_.on_other)) {
    auto connection = connection_.lock();
    if (!connection) return;
    link::OutboundMessage answer;
    answer.bytes = answer_frame(
        peek.id, peek.method == "ping"
                     ? R"("result":{})"
                     : R"("error":{"code":-32601,"message":"this client offers no methods"})");
    connection->send(std::move(answer));
    return;
  }
  {
    std::lock_guard lock(mutex_);
    if (is_client_gone_) return;
  }
  if (options_.on_other) options_.on_other(std::move(message));
}

void PendingRequests::end(const core::Error& why, End how) {
  std::unordered_map<rpc::Id, PendingRequest> ended;
  bool is_to_be_told = false;
  {
    std::lock_guard lock(mutex_);
    is_open_ = false;
    is_client_gone_ = is_client_gone_ || how == End::kClientGone;
    is_to_be_told = how == End::kClosed && !is_client_gone_;
    ended.swap(pending_);
  }
  for (auto& [id, request] : ended) {
    link::CallOutcome outcome;
    outcome.error = error(why.code, why.message);
    finish(std::move(request), std::move(outcome));
  }
  if (is_to_be_told && options_.on_closed) options_.on_closed(why);
}

void PendingRequests::on_closed(const core::Error& why) { end(why, End::kClosed); }

}  // namespace

std::shared_ptr<ConnectionClient> ConnectionClient::start(
    std::shared_ptr<link::MessageConnection> connection, const core::Clock& clock,
    core::Timer& timer, ConnectionClientOptions options) {
  auto client = std::make_shared<PendingRequests>(connection, clock, timer, std::move(options));
  connection->start(client);
  return make_handle<ConnectionClient>(
      std::move(client), [connection = std::move(connection)](PendingRequests& ended) mutable {
        ended.end({core::ErrorCode::kShuttingDown, "this program is stopping", {}},
                  PendingRequests::End::kClientGone);
        std::exchange(connection, nullptr)->close();
      });
}

}  // namespace league::transport::caller
