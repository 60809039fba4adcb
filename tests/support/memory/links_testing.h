#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/transport/link/caller.h"
#include "common/transport/link/message_connection.h"
#include "common/transport/link/message_handler.h"

namespace league::testing {

/// Notes what a connection receives; other threads can wait for it (at most 10 s).
class NotingReceiver final : public transport::link::MessageReceiver {
 public:
  void on_message(transport::link::ReceivedMessage message) override {
    std::lock_guard lock(mutex_);
    last_context_ = message.context;
    messages_.push_back(message.bytes.str());
    changed_.notify_all();
  }
  void on_closed(const core::Error& why) override {
    std::lock_guard lock(mutex_);
    closed_ = why;
    changed_.notify_all();
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return messages_.size() >= count; });
    return messages_;
  }
  std::optional<core::Error> wait_for_end() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return closed_.has_value(); });
    return closed_;
  }
  rpc::MessageContext last_context() {
    std::lock_guard lock(mutex_);
    return last_context_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> messages_;
  std::optional<core::Error> closed_;
  rpc::MessageContext last_context_;
};

inline transport::link::OutboundMessage outbound(std::string bytes) {
  transport::link::OutboundMessage message;
  message.bytes = std::move(bytes);
  return message;
}

inline transport::link::OutboundReply reply_with(std::string bytes) {
  transport::link::OutboundReply reply;
  reply.bytes = std::move(bytes);
  return reply;
}

/// A request to `url` that expects an echo: it looks like its own answer.
inline transport::link::OutboundCall echo_call(const std::string& url, std::int64_t id,
                                               std::chrono::milliseconds patience) {
  transport::link::OutboundCall call;
  call.endpoint = *transport::link::parse_endpoint(url);
  call.bytes = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{}})";
  call.deadline = std::chrono::steady_clock::now() + patience;
  call.id = rpc::Id(id);
  return call;
}

}  // namespace league::testing
