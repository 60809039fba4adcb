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
#include "bus/transport/kept_tasks.h"
#include "bus/transport/nats_bus.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"

namespace league::testing {

using transport::bus::Bus;
using transport::bus::connect_nats;
using transport::bus::ConsumerConfig;
using transport::bus::JetStream;
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
    auto connected = connect_nats({.urls = url, .name = "test"});
    if (!connected) throw std::runtime_error(connected.error().message);
    bus = std::move(*connected);
    auto made = JetStream::create({*bus, BusSession::make(random_), clock_, timer, random_});
    if (!made) throw std::runtime_error(made.error().message);
    streams = std::move(*made);
  }
  ~JetAgent() { streams.reset(); }
  [[nodiscard]] core::Clock::Steady in(std::chrono::milliseconds time) const {
    return clock_.steady_now() + time;
  }

  /// Begins the task, and calls `done` with its result.
  template <typename T, typename Then>
  void begin(task::Task<T> task, Then done) {
    transport::bus::give(task::Executor(), std::shared_ptr<void>(), std::move(task), done);
  }
  /// Runs the task to its end.
  template <typename T>
  T wait(task::Task<T> task) {
    auto answers = std::make_shared<JetAnswers<T>>();
    begin(std::move(task), [answers](T answer) { answers->add(std::move(answer)); });
    auto answer = answers->next();
    if (!answer) throw std::runtime_error("no completion");
    return std::move(*answer);
  }
  core::Result<StreamState> ensure(const StreamConfig& config) {
    return wait(streams->ensure_stream(config, in(10s)));
  }
  core::Result<StreamState> state(const std::string& stream,
                                  std::chrono::milliseconds patience = 10s) {
    return wait(streams->stream_state(stream, in(patience)));
  }
  PublishAck publish(const std::string& subject, const std::string& payload,
                     const PublishCondition& condition = {},
                     std::chrono::milliseconds patience = 10s) {
    return wait(streams->publish({subject, {}, {}, payload, false}, condition, in(patience)));
  }
  core::Result<std::optional<StoredMessage>> first(const std::string& stream,
                                                   const std::string& subject) {
    return wait(streams->get_next(stream, subject, 1, in(10s)));
  }
  core::Result<std::string> consumer(const std::string& stream, const ConsumerConfig& config) {
    return wait(streams->ensure_consumer(stream, config, in(10s)));
  }
  struct Fetched {
    std::vector<StreamDelivery> messages;
    core::Result<void> end;
  };
  Fetched fetch(const std::string& stream, const std::string& consumer, int batch,
                std::chrono::milliseconds expires) {
    std::vector<StreamDelivery> messages;
    auto end =
        wait(streams->fetch({stream, consumer, batch, expires, [&messages](StreamDelivery message) {
                               messages.push_back(std::move(message));
                             }}));
    return {std::move(messages), std::move(end)};
  }

 private:
  core::SystemClock clock_;
  core::CryptoRandom random_;

 public:
  core::ThreadTimer timer;
  std::shared_ptr<Bus> bus;
  std::unique_ptr<JetStream> streams;
};

}  // namespace league::testing
