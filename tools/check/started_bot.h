#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "common/core/file_descriptor.h"
#include "common/core/result.h"
#include "tools/league/up/process.h"

namespace league::tools::check {

/// The bot's program, if the checker starts it. Not thread-safe.
class StartedBot {
 public:
  /// `command` is for the shell; `{manager}` and `{port}` in it become the manager's URL and a free
  /// port, the same each time. The bot's output goes to a temporary file.
  [[nodiscard]] static core::Result<StartedBot> start(const std::string& command,
                                                      const std::string& manager_url);
  /// The value of `{port}`; 0 if the command does not use it.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// When it was started for the first time.
  [[nodiscard]] std::chrono::steady_clock::time_point started_at() const { return started_at_; }
  ~StartedBot();
  StartedBot(StartedBot&&) noexcept = default;
  StartedBot& operator=(StartedBot&&) = delete;

  /// Kills it and starts it again.
  [[nodiscard]] core::Result<void> restart();
  /// Kills it.
  void kill();
  /// The last lines of its stderr.
  [[nodiscard]] std::string last_words() const;
  [[nodiscard]] bool has_ended();
  /// How it ended, such as `with exit code 3`, and its last lines; empty: it is running.
  [[nodiscard]] std::string obituary();

 private:
  explicit StartedBot(std::string command) : command_(std::move(command)) {}
  [[nodiscard]] core::Result<void> launch();

  std::string command_;
  std::uint16_t port_ = 0;
  std::chrono::steady_clock::time_point started_at_ = std::chrono::steady_clock::now();
  core::FileDescriptor reservation_;  ///< keeps other checkers from using the port
  std::filesystem::path output_;
  std::unique_ptr<ChildProcess> child_;
};

}  // namespace league::tools::check
