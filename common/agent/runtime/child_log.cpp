#include "common/agent/runtime/child_log.h"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>

#include "common/core/clock.h"
#include "common/core/crypto.h"
#include "common/core/text.h"

namespace league::agent::runtime {
namespace {

constexpr std::size_t kReadablePart = 60;
constexpr std::size_t kMark = 8;
constexpr std::size_t kMostWaiting = 4096;  // lines

void append(const std::filesystem::path& file, const std::string& line) {
  std::error_code failed;
  if (std::filesystem::file_size(file, failed) > kMostOfChildLog && !failed) return;
  std::filesystem::create_directories(file.parent_path(), failed);
  std::ofstream(file, std::ios::app) << line;
}

/// Writes lines on its own thread. The destructor still writes the queued lines, because a child's
/// last lines are the most important ones.
class LineWriter {
 public:
  LineWriter() : thread_([this] { run(); }) {}
  ~LineWriter() {
    {
      std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_one();
  }
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  void post(std::filesystem::path file, std::string line) {
    {
      std::lock_guard lock(mutex_);
      if (waiting_.size() >= kMostWaiting) return;
      waiting_.emplace_back(std::move(file), std::move(line));
    }
    changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      auto [file, line] = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      append(file, line);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::filesystem::path, std::string>> waiting_;
  bool is_ending_ = false;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace

std::filesystem::path child_log_file(const std::filesystem::path& directory,
                                     std::string_view command) {
  std::string name;
  for (char c : command.substr(0, kReadablePart)) {
    if (core::is_alphanumeric(c) || c == '.' || c == '_') {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  if (!name.empty() && name.back() != '-') name += '-';
  name += core::to_hex(core::sha256(command)).substr(0, kMark);
  return directory / (name + ".stderr.log");
}

std::function<void(std::string_view, std::string_view)> child_log(std::filesystem::path directory) {
  auto writer = std::make_shared<LineWriter>();
  return
      [writer, directory = std::move(directory)](std::string_view command, std::string_view text) {
        std::string line = core::SystemClock().utc_now().to_log();
        line.append(" [").append(std::to_string(::getpid())).append("] ").append(text).append("\n");
        writer->post(child_log_file(directory, command), std::move(line));
      };
}

}  // namespace league::agent::runtime
