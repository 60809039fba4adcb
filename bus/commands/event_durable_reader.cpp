#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "bus/commands/event_readers.h"

namespace league::tools {
namespace {

constexpr std::chrono::seconds kReplyPatience{5};
constexpr std::chrono::seconds kFetch{5};
constexpr std::chrono::milliseconds kBetweenReads{1000};
constexpr std::chrono::milliseconds kAckWait{2000};
constexpr int kBatch = 64;

}  // namespace

/// Shared with the callbacks of streams and timer.
class DurableReader::State : public std::enable_shared_from_this<State> {
 public:
  State(EventReading reading, transport::bus::JetStream& streams, const std::string& league_id,
        std::string name)
      : reading_(std::move(reading)),
        streams_(streams),
        stream_(transport::link::event_stream(league_id)),
        name_(std::move(name)) {}

  /// Checks that the stream is still the one that was read, and then reads on.
  void open() {
    if (is_stopped()) return;
    auto last = last_read();
    if (last.sequence == 0) return open_consumer();
    streams_.stream_state(stream_, reading_.clock.steady_now() + kReplyPatience,
                          [weak = weak_from_this()](const auto& state) {
                            if (auto self = weak.lock()) self->on_state(state);
                          });
  }
  void open_consumer() {
    transport::bus::ConsumerConfig config;
    config.durable_name = name_;
    // Used only for a new consumer; the broker keeps the position of an existing one.
    config.start_sequence = start();
    // One at a time: otherwise unacknowledged events of a killed reader would come after the rest.
    config.max_ack_pending = 1;
    config.ack_wait = kAckWait;
    streams_.ensure_consumer(stream_, config, reading_.clock.steady_now() + kReplyPatience,
                             [weak = weak_from_this()](const core::Result<std::string>& made) {
                               auto self = weak.lock();
                               if (!self) return;
                               made ? self->read() : self->again(made.error());
                             });
  }
  void flush(std::chrono::milliseconds patience) { reading_.bus.flush(patience); }
  void stop() {
    std::unique_lock lock(mutex_);
    is_stopped_ = true;
    is_idle_.wait(lock, [this] {
      return taker_ == std::thread::id() || taker_ == std::this_thread::get_id();
    });
  }

 private:
  [[nodiscard]] bool is_stopped() {
    std::lock_guard lock(mutex_);
    return is_stopped_;
  }
  struct LastRead {
    std::uint64_t sequence = 0;
    std::string payload;
  };
  [[nodiscard]] LastRead last_read() {
    std::lock_guard lock(mutex_);
    return last_;
  }
  /// The sequence number at which a new consumer begins.
  [[nodiscard]] std::uint64_t start() {
    std::lock_guard lock(mutex_);
    if (last_.sequence != 0) return last_.sequence + 1;
    return reading_.after && !is_anew_ ? *reading_.after + 1 : 0;
  }
  void on_state(const core::Result<transport::bus::StreamState>& state) {
    if (!state) return again(state.error());
    auto last = last_read();
    if (state->last_sequence < last.sequence) return begin_anew();
    // A new stream can already be longer than what was read, so compare the last event.
    streams_.get(stream_, last.sequence, reading_.clock.steady_now() + kReplyPatience,
                 [weak = weak_from_this(), last](const auto& found) {
                   auto self = weak.lock();
                   if (!self) return;
                   if (!found) return self->again(found.error());
                   bool is_other = *found && (*found)->message.payload != last.payload;
                   is_other ? self->begin_anew() : self->open_consumer();
                 });
  }
  void begin_anew() {
    {
      std::lock_guard lock(mutex_);
      last_ = {};
      is_anew_ = true;
    }
    reading_.on_trouble("the broker has lost its events; their numbers start again");
    open_consumer();
  }
  void read() {
    if (is_stopped()) return;
    streams_.fetch(
        stream_, name_, kBatch, kFetch,
        [weak = weak_from_this()](const transport::bus::StreamDelivery& delivery) {
          if (auto self = weak.lock()) self->take(delivery);
        },
        [weak = weak_from_this()](const core::Result<void>& end) {
          auto self = weak.lock();
          if (!self) return;
          end ? self->read() : self->again(end.error());
        });
  }
  void take(const transport::bus::StreamDelivery& delivery) {
    bool is_new = false;
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_) return;
      is_new = delivery.sequence != last_.sequence;
      taker_ = std::this_thread::get_id();
    }
    // If an event comes again because its acknowledgement was lost, it is acknowledged but not
    // reported again.
    bool is_taken = !is_new || reading_.on_event(delivery.sequence, delivery.message.payload);
    if (is_taken)
      streams_.ack(delivery);
    else
      streams_.nak(delivery, std::chrono::milliseconds(0));
    std::lock_guard lock(mutex_);
    if (is_taken) last_ = {delivery.sequence, delivery.message.payload};
    is_stopped_ = is_stopped_ || !is_taken;
    taker_ = {};
    is_idle_.notify_all();
  }
  void again(const core::Error& why) {
    if (is_stopped() || why.code == core::ErrorCode::kShuttingDown) return;
    reading_.on_trouble(why.message + "; trying again");
    reading_.timer.schedule(kBetweenReads, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->open();
    });
  }

  const EventReading reading_;
  transport::bus::JetStream& streams_;
  const std::string stream_;
  const std::string name_;
  std::mutex mutex_;  // guards the rest, never held while others are called
  std::condition_variable is_idle_;
  std::thread::id taker_;  ///< the thread that handles an event; none: no thread does
  LastRead last_;
  bool is_anew_ = false;  ///< the stream was lost, and a new one is read from its beginning
  bool is_stopped_ = false;
};

DurableReader::DurableReader(EventReading reading, transport::bus::JetStream& streams,
                             const std::string& league_id, std::string name)
    : state_(std::make_shared<State>(std::move(reading), streams, league_id, std::move(name))) {}

DurableReader::~DurableReader() { state_->stop(); }

void DurableReader::start() { state_->open(); }
void DurableReader::stop(std::chrono::milliseconds patience) {
  state_->stop();
  state_->flush(patience);
}

}  // namespace league::tools
