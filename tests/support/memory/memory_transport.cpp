#include "tests/support/memory/memory_transport.h"

#include <utility>

namespace league::transport::memory {

struct MemoryNetwork::Call {
  link::OutboundCall request;
  link::Caller::Completion completion;  // null once it has run
  core::Clock::Steady begun;
  core::Timer::Id timer = 0;
};

MemoryNetwork::MemoryNetwork(const core::Clock& clock, core::Timer& timer)
    : clock_(clock), timer_(timer) {}

void MemoryNetwork::listen(const std::string& url, link::MessageHandler& handler) {
  std::lock_guard lock(mutex_);
  handlers_[url] = &handler;
}

void MemoryNetwork::close(const std::string& url) {
  std::lock_guard lock(mutex_);
  handlers_.erase(url);
}

bool MemoryNetwork::run_one() { return steps_.run_one(); }

std::size_t MemoryNetwork::run_until_idle() { return steps_.run_until_idle(); }

void MemoryNetwork::post(std::function<void()> step) { steps_.post(std::move(step)); }

void MemoryNetwork::begin(link::OutboundCall request, link::Caller::Completion completion) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->completion = std::move(completion);
  call->begun = clock_.steady_now();
  call->timer = timer_.schedule(call->request.deadline - call->begun, [this, call] {
    fail(call, core::ErrorCode::kTimeout, "the time limit had passed");
  });
  post([this, call] { deliver(call); });
}

void MemoryNetwork::deliver(const std::shared_ptr<Call>& call) {
  link::MessageHandler* handler = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (!call->completion) return;  // too late
    auto found = handlers_.find(call->request.endpoint.url());
    if (found != handlers_.end()) handler = found->second;
  }
  if (handler == nullptr) {
    fail(call, core::ErrorCode::kConnectionError, "nobody listens there");
    return;
  }
  link::Inbound inbound;
  inbound.bytes = call->request.bytes;
  inbound.context = rpc::MessageContext::now(clock_, rpc::MessageDirection::kClientToServer,
                                             rpc::TransportContext::memory());
  handler->on_message(std::move(inbound), link::ReplySlot([this, call](link::OutboundReply reply) {
                        post([this, call, reply = std::move(reply)] { answer(call, reply); });
                      }));
}

void MemoryNetwork::answer(const std::shared_ptr<Call>& call, link::OutboundReply reply) {
  link::CallOutcome outcome;
  outcome.http_status = reply.http_status;
  outcome.bytes = std::move(reply.bytes);
  finish(call, std::move(outcome));
  if (reply.after_sent) reply.after_sent();
}

void MemoryNetwork::fail(const std::shared_ptr<Call>& call, core::ErrorCode code,
                         const std::string& cause) {
  link::CallOutcome outcome;
  outcome.error =
      core::Error{code, "call of " + call->request.endpoint.url() + " failed: " + cause, {}};
  finish(call, std::move(outcome));
}

void MemoryNetwork::finish(const std::shared_ptr<Call>& call, link::CallOutcome outcome) {
  link::Caller::Completion completion;
  {
    std::lock_guard lock(mutex_);
    completion = std::exchange(call->completion, nullptr);
  }
  if (!completion) return;
  timer_.cancel(call->timer);
  outcome.context = rpc::MessageContext::now(clock_, rpc::MessageDirection::kServerToClient,
                                             rpc::TransportContext::memory());
  outcome.elapsed = clock_.steady_now() - call->begun;
  outcome.sent_at = call->begun;
  completion(std::move(outcome));
}

void MemoryCaller::call(link::OutboundCall call, Completion completion) {
  network_.begin(std::move(call), std::move(completion));
}

}  // namespace league::transport::memory
