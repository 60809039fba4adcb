#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "bus/transport/bus.h"

namespace league::transport::memory {

/// A broker inside the process, for deterministic tests. Each delivery, and each call of a `watch`,
/// is one function given to `post`, which runs them later, one at a time and in order: MemorySteps,
/// or an event loop. Members of a queue group take turns. Its clients may outlive it. Thread-safe.
class MemoryBroker {
 public:
  using Post = std::function<void(std::function<void()>)>;

  explicit MemoryBroker(Post post, std::size_t max_payload = kMaxPayload);
  ~MemoryBroker();

  /// A client, connected unless the broker is stopped. The name is for `cut` and `heal`.
  [[nodiscard]] std::unique_ptr<bus::Bus> connect(std::string name);
  /// Disconnects the clients of that name; messages on their way to them, and those that they
  /// publish until they are healed, are lost.
  void cut(const std::string& name);
  void heal(const std::string& name);
  /// The same for all clients. `start` connects those that are not cut.
  void stop();
  void start();
  /// All messages on their way are lost.
  void restart();

 private:
  static constexpr std::size_t kMaxPayload = 1 << 20;
  struct Client;
  struct Listener;
  class Core;
  class MemoryBus;
  std::shared_ptr<Core> core_;
};

}  // namespace league::transport::memory
