#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/transport/stream/streams_testing.h"

namespace league::transport::stream {

inline std::string upgrade_request(std::string_view headers = "",
                                   std::string_view key = "dGhlIHNhbXBsZSBub25jZQ==") {
  return get("/mcp",
             "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " +
                 std::string(key) + "\r\n" + std::string(headers));
}

/// How a test wants a frame to be.
struct FrameForm {
  int opcode = 1;
  bool is_final = true;
  bool is_masked = true;
};

/// One frame as a client sends it; the mask is always the same.
inline std::string ws_frame(std::string_view payload, FrameForm form = {}) {
  std::string out(1, static_cast<char>((form.is_final ? 0x80 : 0) | form.opcode));
  int mask_bit = form.is_masked ? 0x80 : 0;
  if (payload.size() < 126) {
    out += static_cast<char>(static_cast<int>(payload.size()) | mask_bit);
  } else {
    bool is_long = payload.size() > 0xFFFF;
    out += static_cast<char>((is_long ? 127 : 126) | mask_bit);
    for (int shift = is_long ? 56 : 8; shift >= 0; shift -= 8) {
      out += static_cast<char>((static_cast<std::uint64_t>(payload.size()) >> shift) & 0xFFU);
    }
  }
  constexpr std::string_view kMask = "\x11\x22\x33\x44";
  if (form.is_masked) out += kMask;
  for (std::size_t i = 0; i < payload.size(); ++i) {
    out += form.is_masked ? static_cast<char>(payload[i] ^ kMask[i % 4]) : payload[i];
  }
  return out;
}

/// The payload of a close frame.
inline std::string close_payload(int code) {
  return {static_cast<char>(code >> 8), static_cast<char>(code & 0xFF)};
}

/// What a server sent; opcode -1: it closed, or nothing came in time.
struct ServerFrame {
  int opcode = -1;
  std::string payload;

  /// Of a close frame; 0: none.
  [[nodiscard]] int close_code() const {
    if (opcode != 8 || payload.size() < 2) return 0;
    return (static_cast<unsigned char>(payload[0]) << 8) | static_cast<unsigned char>(payload[1]);
  }
};

/// A WebSocket client that says raw frames.
class WsClient : public StreamClient {
 public:
  explicit WsClient(std::uint16_t port, std::string_view headers = "")
      : StreamClient(port, upgrade_request(headers)) {
    head = take_until("\r\n\r\n");
  }

  void say(std::string_view text) { send(ws_frame(text)); }
  ServerFrame next_frame() {
    std::string head_bytes = take(2);
    if (head_bytes.size() < 2) return {};
    ServerFrame frame{head_bytes[0] & 0x0F, {}};
    std::size_t size = static_cast<unsigned char>(head_bytes[1]);
    if (size >= 126) {
      std::size_t more = size == 126 ? 2 : 8;
      size = 0;
      for (char byte : take(more)) size = size << 8U | static_cast<unsigned char>(byte);
    }
    frame.payload = take(size);
    return frame;
  }
  std::string next_text() {
    ServerFrame frame = next_frame();
    EXPECT_EQ(frame.opcode, 1) << frame.close_code();
    return frame.payload;
  }

  std::string head;  ///< of the server's answer
};

}  // namespace league::transport::stream
