#include "tests/support/memory/memory_connection.h"

#include <atomic>
#include <string>

namespace league::transport::memory {
namespace {

using Post = std::function<void(std::function<void()>)>;

/// One end. What runs in `post` is one at a time; the mutex is for callers on other threads.
class MemoryEnd final : public link::MessageConnection,
                        public std::enable_shared_from_this<MemoryEnd> {
 public:
  MemoryEnd(const core::Clock& clock, Post post, std::string id, rpc::MessageDirection received)
      : clock_(clock), post_(std::move(post)), received_(received) {
    rpc::ConnectionInfo info;
    info.connection_id = std::move(id);
    context_ = rpc::TransportContext::memory().with_connection(
        std::make_shared<const rpc::ConnectionInfo>(std::move(info)));
  }
  void meet(const std::shared_ptr<MemoryEnd>& other) { other_ = other; }

  void start(std::shared_ptr<link::MessageReceiver> receiver) override {
    std::lock_guard lock(mutex_);
    receiver_ = std::move(receiver);
    if (!waiting_.empty() || is_closed_) schedule();
  }
  void send(link::OutboundMessage message) override {
    auto other = other_.lock();
    link::SendOutcome outcome;
    {
      std::lock_guard lock(mutex_);
      if (is_closed_ || !other) {
        outcome.error =
            core::Error{core::ErrorCode::kConnectionError, "the connection is closed", {}};
      }
    }
    if (!outcome.error) other->take(message.bytes);
    if (message.done) post_([done = std::move(message.done), outcome] { done(outcome); });
  }
  void set_reading(bool is_on) override {
    std::lock_guard lock(mutex_);
    is_reading_ = is_on;
    if (is_on && !waiting_.empty()) schedule();
  }
  void close() override {
    end({core::ErrorCode::kShuttingDown, "the connection was closed by this side", {}});
    if (auto other = other_.lock()) {
      other->end({core::ErrorCode::kConnectionError, "the peer closed the connection", {}});
    }
  }
  [[nodiscard]] rpc::TransportType transport_type() const override {
    return rpc::TransportType::kMemory;
  }
  [[nodiscard]] rpc::TransportContext current_context() const override { return context_; }

  void take(rpc::SharedText bytes) {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(bytes));
    schedule();
  }
  void end(const core::Error& why) {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_closed_, true)) return;
    why_ = why;
    // Of a close of ours nothing more is received; of the peer's, what it had sent before.
    if (why.code == core::ErrorCode::kShuttingDown) waiting_.clear();
    schedule();
  }

 private:
  /// Under the lock.
  void schedule() {
    post_([self = shared_from_this()] { self->step(); });
  }
  void step() {
    std::shared_ptr<link::MessageReceiver> receiver;
    link::ReceivedMessage message;
    bool is_end = false;
    {
      std::lock_guard lock(mutex_);
      if (!receiver_ || (!is_reading_ && !is_closed_)) return;
      is_end = waiting_.empty();
      if (is_end && !is_closed_) return;
      receiver = receiver_;
      if (is_end) {
        receiver_ = nullptr;
      } else {
        message.bytes = std::move(waiting_.front());
        waiting_.pop_front();
        if (!waiting_.empty() || is_closed_) schedule();
      }
    }
    if (is_end) return receiver->on_closed(why_);
    message.context = rpc::MessageContext::now(clock_, received_, current_context());
    receiver->on_message(std::move(message));
  }

  const core::Clock& clock_;
  const Post post_;
  const rpc::MessageDirection received_;
  rpc::TransportContext context_;
  std::weak_ptr<MemoryEnd> other_;
  std::mutex mutex_;
  std::shared_ptr<link::MessageReceiver> receiver_;
  std::deque<rpc::SharedText> waiting_;
  core::Error why_;
  bool is_reading_ = true;
  bool is_closed_ = false;
};

}  // namespace

void MemorySteps::post(std::function<void()> step) {
  std::lock_guard lock(mutex_);
  steps_.push_back(std::move(step));
}

bool MemorySteps::run_one() {
  std::function<void()> step;
  {
    std::lock_guard lock(mutex_);
    if (steps_.empty()) return false;
    step = std::move(steps_.front());
    steps_.pop_front();
  }
  step();
  return true;
}

std::size_t MemorySteps::run_until_idle() {
  std::size_t count = 0;
  while (run_one()) ++count;
  return count;
}

MessageConnectionPair memory_connection_pair(const core::Clock& clock, Post post) {
  static std::atomic<std::uint64_t> next_number = 1;
  auto number = std::to_string(next_number++);
  auto client = std::make_shared<MemoryEnd>(clock, post, "memory-call-" + number,
                                            rpc::MessageDirection::kServerToClient);
  auto server = std::make_shared<MemoryEnd>(clock, post, "memory-" + number,
                                            rpc::MessageDirection::kClientToServer);
  client->meet(server);
  server->meet(client);
  return {client, server};
}

}  // namespace league::transport::memory
