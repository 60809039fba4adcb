#pragma once

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <string>
#include <string_view>

#include "tests/support/memory/peers_testing.h"

namespace league::transport::client {

/// One WebSocket frame as it is on the wire, unmasked.
struct Frame {
  int head = 0;  ///< FIN, reserved bits and opcode; 0 at the connection's end
  std::string payload;

  [[nodiscard]] int close_code() const {
    if (head != 0x88 || payload.size() < 2) return 0;
    return static_cast<unsigned char>(payload[0]) * 256 + static_cast<unsigned char>(payload[1]);
  }
};

/// The server's side of a WebSocket, byte by byte, so that it can do what no library lets it.
class FramePeer {
 public:
  explicit FramePeer(league::testing::ScriptedServer::Connection& connection)
      : connection_(connection) {}

  /// Answers the upgrade; false when none came.
  bool accept(const std::string& headers = "") {
    request_ = connection_.read_request();
    const std::string name = "\r\nSec-WebSocket-Key: ";
    auto begin = request_.find(name);
    if (begin == std::string::npos) return false;
    begin += name.size();
    std::string key = request_.substr(begin, request_.find("\r\n", begin) - begin) +
                      "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
    ::SHA1(reinterpret_cast<const unsigned char*>(key.data()), key.size(),  // NOLINT
           digest.data());
    std::array<unsigned char, 64> text{};
    ::EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(digest.size()));
    return connection_.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: " +
        std::string(reinterpret_cast<const char*>(text.data())) + "\r\n" +  // NOLINT
        headers + "\r\n");
  }
  [[nodiscard]] const std::string& request() const { return request_; }

  /// An unmasked frame, as servers send them.
  bool send(int head, std::string_view payload) {
    std::string frame(1, static_cast<char>(head));
    if (payload.size() < 126) {
      frame += static_cast<char>(payload.size());
    } else {
      frame += static_cast<char>(126);
      frame += static_cast<char>(payload.size() / 256);
      frame += static_cast<char>(payload.size() % 256);
    }
    return connection_.send(frame + std::string(payload));
  }

  /// The client's next frame.
  Frame read() {
    std::string head = connection_.read_bytes(2);
    if (head.size() < 2) return {};
    std::size_t size = static_cast<unsigned char>(head[1]) & 127U;
    for (std::size_t more = size == 126 ? 2 : size == 127 ? 8 : 0, i = 0; i < more; ++i) {
      if (i == 0) size = 0;
      std::string digit = connection_.read_bytes(1);
      if (digit.empty()) return {};
      size = size * 256 + static_cast<unsigned char>(digit[0]);
    }
    std::string mask = connection_.read_bytes(4);
    if (mask.size() < 4) return {};
    Frame frame{static_cast<unsigned char>(head[0]), connection_.read_bytes(size)};
    for (std::size_t i = 0; i < frame.payload.size(); ++i) {
      frame.payload[i] = static_cast<char>(frame.payload[i] ^ mask[i % 4]);
    }
    return frame;
  }

  /// Reads up to the client's closing frame and answers it.
  void answer_close() {
    Frame frame;
    do {
      frame = read();
    } while (frame.head != 0 && frame.head != 0x88);
    if (frame.head == 0x88) send(0x88, frame.payload);
  }
  /// Lets the client do what it likes.
  void wait_for_end() { connection_.wait_for_close(); }

 private:
  league::testing::ScriptedServer::Connection& connection_;
  std::string request_;
};

}  // namespace league::transport::client
