#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "common/transport/connection/wire_connection.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/served_connection.h"

namespace league::transport::connection {

/// The long-lived connections of one server. Thread-safe; held by shared_ptr.
class ServedConnections : public std::enable_shared_from_this<ServedConnections> {
 public:
  /// `handler` outlives stop(). `stop_code`: told to peers by a server that stops, if it has codes.
  ServedConnections(link::MessageHandler& handler, std::size_t max_in_work,
                    std::uint16_t stop_code = 0);

  /// Passes the messages of a connection to the handler. `on_closed` runs when the handler knows of
  /// its end, on the connection's thread; may be empty. False if the server stops.
  bool serve(const std::shared_ptr<WireConnection>& connection,
             std::function<void()> on_closed = nullptr);
  /// Each connection closes when its running requests are answered. Returns at once.
  void begin_stop();
  /// Calls begin_stop, waits up to `grace`, cuts what is left, and waits until the handler knows
  /// and every `on_closed` has run. Must not be called on the event loop's thread.
  void stop(std::chrono::milliseconds grace);

  struct Counts {
    std::size_t open = 0;
    std::uint64_t opened = 0;
    std::uint64_t dropped = 0;  ///< for reading too slowly
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Entry {
    std::shared_ptr<WireConnection> connection;
    std::shared_ptr<link::ServedConnection> served = nullptr;  ///< null while it is being set up
  };

  void stop_one(const Entry& entry) const;
  void forget(std::uint64_t number);
  [[nodiscard]] std::vector<Entry> all() const;

  link::MessageHandler& handler_;
  const std::size_t max_in_work_;
  const std::uint16_t stop_code_;
  mutable std::mutex mutex_;  // guards the rest; never held while one of them or the handler runs
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::uint64_t opened_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace league::transport::connection
