#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bus/standby/core/effects.h"

namespace league::league_manager::stream::testing {

/// A small random generator whose sequence is the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  [[nodiscard]] int below(int limit) {
    return static_cast<int>(next() % static_cast<std::uint64_t>(limit));
  }
  [[nodiscard]] Time between(int low, int high) { return Time(low + below(high - low + 1)); }
  [[nodiscard]] bool one_in(int of) { return below(of) == 0; }
  [[nodiscard]] double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// What nats-server 2.9 and 2.10 do with the streams of a league, without delays and losses.
class BrokerModel {
 public:
  [[nodiscard]] Published publish(const Publish& request);
  [[nodiscard]] ReadDone read(const Read& request) const;
  [[nodiscard]] std::vector<StreamInfo> streams() const;
  [[nodiscard]] const std::vector<Message>* messages(std::uint64_t incarnation) const;
  [[nodiscard]] std::uint64_t first(std::uint64_t incarnation) const;

  void set_full(bool is_full) { is_full_ = is_full; }
  /// The store is empty after a restart.
  void empty() { streams_.clear(); }
  /// The newest stream loses all messages, but neither its last sequence and id, nor its memory of
  /// ids.
  void purge();
  void remove();
  /// The newest stream is restored from an older copy.
  void shorten(std::uint64_t messages);
  /// The newest stream becomes one of another league.
  void replace(std::uint64_t messages);

 private:
  struct Stream {
    std::uint64_t created = 0;
    std::uint64_t first = 1;
    std::vector<Message> messages;  ///< also those that were purged
    std::map<core::Digest, std::uint64_t> ids;
  };
  std::map<std::uint64_t, Stream> streams_;
  std::uint64_t created_ = 0;
  bool is_full_ = false;
};

}  // namespace league::league_manager::stream::testing
