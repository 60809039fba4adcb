#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bus/transport/jet_stream.h"
#include "bus/transport/nats_bus.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"

namespace league::testing {

using transport::bus::ConsumerConfig;
using transport::bus::JetStream;
using transport::bus::NatsBus;
using transport::bus::PublishAck;
using transport::bus::PublishCondition;
using transport::bus::StoredMessage;
using transport::bus::StreamConfig;
using transport::bus::StreamDelivery;
using transport::bus::StreamState;
using transport::link::BusSession;
using namespace std::chrono_literals;

/// Values that come on other threads.
template <typename T>
class JetAnswers {
 public:
  void add(T value) {
    // Told under the lock: who waits may destroy this as soon as it is free.
    std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  [[nodiscard]] std::optional<T> next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 20s, [&] { return !values_.empty(); })) return std::nullopt;
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }
  [[nodiscard]] std::size_t count() {
    std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> values_;
};

/// One agent at a broker.
class JetAgent {
 public:
  explicit JetAgent(const std::string& url) {
    auto connected = NatsBus::connect({.urls = url, .name = "test"});
    if (!connected) throw std::runtime_error(connected.error().message);
    bus = std::move(*connected);
    auto made = JetStream::create(*bus, BusSession::make(random_), clock_, timer, random_);
    if (!made) throw std::runtime_error(made.error().message);
    streams = std::move(*made);
  }
  ~JetAgent() { streams.reset(); }
  [[nodiscard]] core::Clock::Steady in(std::chrono::milliseconds time) const {
    return clock_.steady_now() + time;
  }

  /// Asks and waits.
  template <typename T, typename Ask>
  core::Result<T> wait(Ask ask) {
    auto answers = std::make_shared<JetAnswers<core::Result<T>>>();
    ask([answers](core::Result<T> answer) { answers->add(std::move(answer)); });
    auto answer = answers->next();
    if (!answer) return core::Error{core::ErrorCode::kTimeout, "no completion", {}};
    return std::move(*answer);
  }
  core::Result<StreamState> ensure(const StreamConfig& config) {
    return wait<StreamState>([&](auto done) { streams->ensure_stream(config, in(10s), done); });
  }
  core::Result<StreamState> state(const std::string& stream,
                                  std::chrono::milliseconds patience = 10s) {
    return wait<StreamState>([&](auto done) { streams->stream_state(stream, in(patience), done); });
  }
  PublishAck publish(const std::string& subject, const std::string& payload,
                     const PublishCondition& condition = {},
                     std::chrono::milliseconds patience = 10s) {
    JetAnswers<PublishAck> acks;
    streams->publish({subject, {}, {}, payload, false}, condition, in(patience),
                     [&](const PublishAck& ack) { acks.add(ack); });
    return acks.next().value_or(PublishAck{});
  }
  core::Result<std::optional<StoredMessage>> first(const std::string& stream,
                                                   const std::string& subject) {
    return wait<std::optional<StoredMessage>>(
        [&](auto done) { streams->get_next(stream, subject, 1, in(10s), done); });
  }
  core::Result<std::string> consumer(const std::string& stream, const ConsumerConfig& config) {
    return wait<std::string>(
        [&](auto done) { streams->ensure_consumer(stream, config, in(10s), done); });
  }
  struct Fetched {
    std::vector<StreamDelivery> messages;
    core::Result<void> end;
  };
  Fetched fetch(const std::string& stream, const std::string& consumer, int batch,
                std::chrono::milliseconds expires) {
    auto messages = std::make_shared<std::vector<StreamDelivery>>();
    auto ends = std::make_shared<JetAnswers<core::Result<void>>>();
    streams->fetch(
        stream, consumer, batch, expires,
        [messages](StreamDelivery message) { messages->push_back(std::move(message)); },
        [ends](core::Result<void> end) { ends->add(std::move(end)); });
    auto end = ends->next();
    if (!end) return {{}, core::Error{core::ErrorCode::kTimeout, "no end", {}}};
    return {std::move(*messages), *end};
  }

 private:
  core::SystemClock clock_;
  core::CryptoRandom random_;

 public:
  core::ThreadTimer timer;
  std::unique_ptr<NatsBus> bus;
  std::unique_ptr<JetStream> streams;
};

}  // namespace league::testing
