#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace league::testing {

/// A NATS broker of the test's own, on a free port of the loopback. Ends with the object, or with
/// the test's process. Not thread-safe.
class TestingBroker {
 public:
  /// Whether there is a `nats-server` on this machine; tests skip without one.
  [[nodiscard]] static bool is_installed();

  /// Starts one and waits until it answers. `more` are further arguments of nats-server.
  explicit TestingBroker(std::vector<std::string> more = {});
  ~TestingBroker();
  TestingBroker(const TestingBroker&) = delete;
  TestingBroker& operator=(const TestingBroker&) = delete;

  /// Ends it at once, like a loss of power.
  void kill();
  /// Starts it again at the same port, and waits until it answers.
  void start();
  /// Stops it without ending it: it keeps its connections and answers nobody.
  void freeze();
  void thaw();

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const;

 private:
  void spawn();
  [[nodiscard]] std::optional<int> written_port() const;
  [[nodiscard]] bool is_answering() const;

  std::filesystem::path directory_;
  std::vector<std::string> more_;
  int port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace league::testing
