#include "tests/support/memory/faulty_connection.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <random>
#include <utility>

namespace league::transport::memory {
namespace {

enum class Fate { kPass, kDrop, kDuplicate, kDelay, kReorder, kCut };

/// One direction of a connection: decides what becomes of each message and keeps what is late.
class FaultyDirection : public std::enable_shared_from_this<FaultyDirection> {
 public:
  FaultyDirection(const FaultPlan& plan, std::uint64_t seed, const core::Clock& clock,
                  core::Timer& timer)
      : plan_(plan), clock_(clock), timer_(timer), random_(seed) {}

  /// `deliver` passes a message on (perhaps twice, perhaps later); `lose` is run for a lost one.
  void pass(const std::function<void()>& deliver, const std::function<void()>& lose,
            const std::function<void()>& cut) {
    Fate fate = Fate::kPass;
    core::Clock::Steady due{};
    auto now = clock_.steady_now();
    {
      std::lock_guard lock(mutex_);
      fate = next_fate();
      due = std::max(now, not_before_);
      if (fate == Fate::kDelay) not_before_ = due = due + some_delay();
      if (fate == Fate::kReorder) due = now + some_delay();
    }
    if (fate == Fate::kDrop) return lose();
    if (fate == Fate::kCut) return cut();
    int copies = fate == Fate::kDuplicate ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      if (due <= now) {
        deliver();
      } else {
        timer_.schedule(due - now, deliver);
      }
    }
  }

 private:
  Fate next_fate() {
    double dice = std::uniform_real_distribution<double>(0, 1)(random_);
    for (auto [share, fate] : {std::pair{plan_.drop, Fate::kDrop},
                               {plan_.duplicate, Fate::kDuplicate},
                               {plan_.delay, Fate::kDelay},
                               {plan_.reorder, Fate::kReorder},
                               {plan_.cut, Fate::kCut}}) {
      if (dice < share) return fate;
      dice -= share;
    }
    return Fate::kPass;
  }
  std::chrono::nanoseconds some_delay() {
    auto most = std::chrono::nanoseconds(plan_.longest_delay).count();
    return std::chrono::nanoseconds(std::uniform_int_distribution<std::int64_t>(1, most)(random_));
  }

  const FaultPlan plan_;
  const core::Clock& clock_;
  core::Timer& timer_;
  std::mutex mutex_;  // guards the rest
  std::mt19937_64 random_;
  core::Clock::Steady not_before_{};
};

/// What is late may come by the timer's thread, or after the end: one at a time, and nothing after
/// on_closed.
class FaultyReceiver final : public link::MessageReceiver,
                             public std::enable_shared_from_this<FaultyReceiver> {
 public:
  FaultyReceiver(std::shared_ptr<link::MessageReceiver> receiver,
                 std::shared_ptr<FaultyDirection> way,
                 std::weak_ptr<link::MessageConnection> connection)
      : receiver_(std::move(receiver)), way_(std::move(way)), connection_(std::move(connection)) {}

  void on_message(link::ReceivedMessage message) override {
    auto shared = std::make_shared<link::ReceivedMessage>(std::move(message));
    way_->pass(
        [self = shared_from_this(), shared] {
          std::lock_guard lock(self->mutex_);
          if (self->receiver_) self->receiver_->on_message(*shared);
        },
        [] {},
        [this] {
          if (auto connection = connection_.lock()) connection->close();
        });
  }
  void on_oversized(const rpc::FramePeek& frame, const std::string& why) override {
    std::lock_guard lock(mutex_);
    if (receiver_) receiver_->on_oversized(frame, why);
  }
  bool on_input_end() override {
    std::lock_guard lock(mutex_);
    return receiver_ && receiver_->on_input_end();
  }
  void on_closed(const core::Error& why) override {
    std::lock_guard lock(mutex_);
    if (auto receiver = std::exchange(receiver_, nullptr)) receiver->on_closed(why);
  }

 private:
  // Held while the receiver works: the contract is one call at a time. Recursive, since a memory
  // connection may end within what a receiver does.
  std::recursive_mutex mutex_;
  std::shared_ptr<link::MessageReceiver> receiver_;
  const std::shared_ptr<FaultyDirection> way_;
  const std::weak_ptr<link::MessageConnection> connection_;
};

class FaultyConnection final : public link::MessageConnection {
 public:
  FaultyConnection(std::shared_ptr<link::MessageConnection> connection, const FaultPlan& plan,
                   const core::Clock& clock, core::Timer& timer)
      : connection_(std::move(connection)),
        out_(std::make_shared<FaultyDirection>(plan, plan.seed * 2, clock, timer)),
        in_(std::make_shared<FaultyDirection>(plan, plan.seed * 2 + 1, clock, timer)) {}

  void start(std::shared_ptr<link::MessageReceiver> receiver) override {
    connection_->start(std::make_shared<FaultyReceiver>(std::move(receiver), in_, connection_));
  }
  void send(link::OutboundMessage message) override {
    auto once =
        std::make_shared<std::function<void(const link::SendOutcome&)>>(std::move(message.done));
    auto done = [once](const link::SendOutcome& outcome) {
      if (auto function = std::exchange(*once, nullptr)) function(outcome);
    };
    out_->pass(
        [connection = connection_, message, done] {
          link::OutboundMessage copy = message;
          copy.done = done;
          connection->send(std::move(copy));
        },
        [done] { done({}); },
        [connection = connection_, done] {
          connection->close();
          done({core::Error{core::ErrorCode::kConnectionError, "the connection was cut", {}},
                0,
                {}});
        });
  }
  void set_reading(bool is_on) override { connection_->set_reading(is_on); }
  void close() override { connection_->close(); }
  [[nodiscard]] rpc::TransportType transport_type() const override {
    return connection_->transport_type();
  }
  [[nodiscard]] rpc::TransportContext current_context() const override {
    return connection_->current_context();
  }

 private:
  const std::shared_ptr<link::MessageConnection> connection_;
  const std::shared_ptr<FaultyDirection> out_;
  const std::shared_ptr<FaultyDirection> in_;
};

}  // namespace

std::shared_ptr<link::MessageConnection> make_faulty(
    std::shared_ptr<link::MessageConnection> connection, const FaultPlan& plan,
    const core::Clock& clock, core::Timer& timer) {
  return std::make_shared<FaultyConnection>(std::move(connection), plan, clock, timer);
}

void FaultyConnector::connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
                              Opened opened) {
  connector_.connect(endpoint, deadline, [this, opened = std::move(opened)](auto connection) {
    if (!connection) return opened(connection.error());
    FaultPlan plan = plan_;
    plan.seed += ++number_ * 7919;
    opened(make_faulty(*std::move(connection), plan, clock_, timer_));
  });
}

}  // namespace league::transport::memory
