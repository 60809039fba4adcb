#include "common/transport/bus/repeated_requests.h"

#include <chrono>
#include <functional>

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;

/// Callers repeat no earlier, unless the connection was lost.
constexpr std::chrono::milliseconds kSlow = 1s;
/// A repetition that crossed the answer has arrived by then.
constexpr std::chrono::milliseconds kKept = 10s;

}  // namespace

std::string RepeatedRequests::key_of(const BusMessage& request) {
  // An inbox belongs to one request; a session's `.out` is the reply subject of many.
  if (!request.reply.starts_with("_INBOX.")) return {};
  return request.reply + " " + std::to_string(std::hash<std::string>()(request.payload));
}

std::optional<RepeatedRequests::Known> RepeatedRequests::begin(const std::string& key) {
  if (key.empty()) return std::nullopt;
  const auto now = clock_.steady_now();
  std::lock_guard lock(mutex_);
  while (!answered_.empty() && answered_.front().first + kKept <= now) {
    requests_.erase(answered_.front().second);
    answered_.pop_front();
  }
  auto [found, is_new] = requests_.try_emplace(key, Request{now});
  if (is_new) return std::nullopt;
  return Known{found->second.answer};
}

void RepeatedRequests::end(const std::string& key, const rpc::SharedText& answer) {
  if (key.empty()) return;
  const auto now = clock_.steady_now();
  std::lock_guard lock(mutex_);
  auto found = requests_.find(key);
  if (found == requests_.end()) return;
  if (answer.empty() || now < found->second.begun + kSlow) {
    requests_.erase(found);
    return;
  }
  found->second.answer = answer;
  answered_.emplace_back(now, key);
}

}  // namespace league::transport::bus
