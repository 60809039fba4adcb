// Bytes of a hostile client behind the upgrade: the server's WebSocket hands over whole messages
// within its limit and comes to its end.
#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include "common/transport/link/event_loop.h"
#include "common/transport/stream/server_web_socket.h"

namespace {

using namespace league::transport;

constexpr std::size_t kMaxMessage = 256;

/// Echoes, and remembers the end.
class Receiver final : public link::MessageReceiver {
 public:
  explicit Receiver(std::weak_ptr<link::MessageConnection> connection)
      : connection_(std::move(connection)) {}
  void on_message(link::ReceivedMessage message) override {
    if (message.bytes.size() > kMaxMessage) std::abort();
    auto connection = connection_.lock();
    if (!connection) return;
    connection->send({std::move(message)});
  }
  void on_closed(const league::core::Error&) override {
    std::lock_guard lock(mutex_);
    if (is_closed_) std::abort();
    is_closed_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(10), [&] { return is_closed_; })) {
      std::abort();
    }
  }

 private:
  std::weak_ptr<link::MessageConnection> connection_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_closed_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::unique_ptr<link::EventLoop> loop = *link::EventLoop::start();
  if (size == 0 || size > 16'384) return 0;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  league::core::FileDescriptor client(ends[1]);
  std::size_t behind_head = 1 + (size - 1) * data[0] / 255;  // what came with the upgrade
  link::DetachedSocket handed{league::core::FileDescriptor(ends[0]),
                              std::string(reinterpret_cast<const char*>(data) + 1, behind_head - 1),
                              nullptr, nullptr};
  stream::WebSocketUpgrade upgrade{"dGhlIHNhbXBsZSBub25jZQ==", true};
  auto connection = stream::serve_web_socket(
      *loop, std::move(handed), upgrade,
      {.max_message = kMaxMessage, .close_timeout = std::chrono::milliseconds(5)});
  auto receiver = std::make_shared<Receiver>(connection);
  connection->start(receiver);
  [[maybe_unused]] ssize_t sent =
      ::send(client.get(), data + behind_head, size - behind_head, MSG_NOSIGNAL);
  ::shutdown(client.get(), SHUT_WR);
  receiver->wait();
  return 0;
}
