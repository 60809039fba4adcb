#pragma once

#include <spdlog/sinks/sink.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace league::agent {

/// Passes messages on, but of warnings and errors with the same words only the first: how often it
/// was repeated follows in one line, with the first message or flush after a minute and in the end.
/// Thread-safe.
class RepeatFilter final : public spdlog::sinks::sink {
 public:
  static constexpr std::chrono::seconds kWindow{60};
  /// More different warnings than this are not told apart.
  static constexpr std::size_t kMostKinds = 256;

  explicit RepeatFilter(std::shared_ptr<spdlog::sinks::sink> inner) : inner_(std::move(inner)) {}
  /// Tells what has been repeated so far.
  ~RepeatFilter() override;
  RepeatFilter(const RepeatFilter&) = delete;
  RepeatFilter& operator=(const RepeatFilter&) = delete;

  void log(const spdlog::details::log_msg& message) override;
  /// Tells what was repeated in windows that are over.
  void flush() override;
  void set_pattern(const std::string& pattern) override { inner_->set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    inner_->set_formatter(std::move(formatter));
  }

 private:
  struct Seen {
    spdlog::log_clock::time_point since;
    spdlog::level::level_enum level = spdlog::level::warn;
    int repeats = 0;
  };
  /// Tells what was repeated since the start of windows that begin before `since`.
  void end_windows(spdlog::log_clock::time_point since, spdlog::log_clock::time_point now);
  void tell(const std::string& text, const Seen& seen, spdlog::log_clock::time_point now);

  std::shared_ptr<spdlog::sinks::sink> inner_;
  std::mutex mutex_;
  std::map<std::string, Seen> seen_;
  std::string program_;
};

}  // namespace league::agent
