// Hostile clients of MCP. The first byte says how the messages come, the lines behind it are the
// messages: each is answered exactly once, with JSON or with nothing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/mcp/server_testing.h"

namespace {

using namespace league;
using Headers = mcp::ServerUnderTest::Headers;
using nlohmann::json;

/// How a client presents itself, by the first byte modulo their number.
enum class Manner : std::uint8_t {
  kNoHeaders,
  kVersion,
  kSession,
  kSessionWithoutVersion,
  kSessionWithBatches,
  kUnknownSession,
  kModern,  ///< with the headers that the body asks for
  kModernVersionOnly,
  kConnection,
};
constexpr std::uint8_t kManners = 9;

std::string text_at(const json& object, const char* name) {
  if (!object.is_object()) return {};
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// As an honest client derives them from its own message.
Headers modern_headers(std::string_view body) {
  Headers headers{{"MCP-Protocol-Version", "2026-07-28"}};
  auto message = json::parse(body, nullptr, false);
  headers.emplace_back("Mcp-Method", text_at(message, "method"));
  auto params = message.is_object() ? message.find("params") : message.end();
  if (!message.is_object() || params == message.end()) return headers;
  auto name = text_at(*params, "name");
  headers.emplace_back("Mcp-Name", name.empty() ? text_at(*params, "uri") : name);
  return headers;
}

class Client {
 public:
  explicit Client(std::uint8_t first)
      : manner_(static_cast<Manner>(first % kManners)),
        channel_(std::make_shared<mcp::RecordingChannel>("channel", (first / kManners) % 2 == 0)) {
    if (manner_ == Manner::kSession) headers_ = under_.initialize("2025-11-25");
    if (manner_ == Manner::kSessionWithBatches) headers_ = under_.initialize("2025-03-26");
    if (manner_ == Manner::kSessionWithoutVersion)
      headers_ = {under_.initialize("2025-06-18").front()};
    if (manner_ == Manner::kVersion) headers_ = {{"MCP-Protocol-Version", "2025-06-18"}};
    if (manner_ == Manner::kUnknownSession) headers_ = {{"Mcp-Session-Id", "nobody"}};
    if (manner_ == Manner::kModernVersionOnly) headers_ = {{"MCP-Protocol-Version", "2026-07-28"}};
  }

  void say(std::string_view body) {
    transport::link::Inbound message;
    message.bytes = std::string(body);
    message.channel = channel_;
    message.context =
        rpc::MessageContext::now(under_.time, rpc::MessageDirection::kUnknown, how(body));
    answers_.push_back(0);
    under_.server.on_message(std::move(message),
                             transport::link::ReplySlot([this, which = answers_.size() - 1](
                                                            transport::link::OutboundReply reply) {
                               ++answers_[which];
                               check(reply);
                             }));
  }

  /// Ends what still waits, and counts.
  void leave() {
    under_.server.notify_resource_updated("test://a");
    under_.server.notify_list_changed(mcp::Registry::List::kTools);
    for (auto& reply : under_.waiting) reply.send({{"content", json::array()}});
    under_.waiting.clear();
    channel_->close();
    under_.server.on_channel_closed(*channel_);
    under_.time.clear();
    for (int count : answers_) {
      if (count != 1) std::abort();
    }
  }

 private:
  rpc::TransportContext how(std::string_view body) {
    if (manner_ == Manner::kConnection)
      return rpc::TransportContext::socket(rpc::TransportType::kTcp);
    auto map = std::make_shared<rpc::HeaderMap>();
    for (const auto& [name, value] : manner_ == Manner::kModern ? modern_headers(body) : headers_)
      map->emplace(name, value);
    return rpc::TransportContext::http(map, "POST", rpc::SharedText::literal("/mcp"));
  }

  static void check(const transport::link::OutboundReply& reply) {
    if (reply.bytes.empty() && reply.http_status != 200) return;
    if (!json::accept(reply.bytes)) std::abort();
  }

  const Manner manner_;
  std::shared_ptr<mcp::RecordingChannel> channel_;
  mcp::ServerUnderTest::Headers headers_;
  std::vector<int> answers_;
  mcp::ServerUnderTest under_;  // last: its slots refer to the rest
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Client client(data[0]);
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (int messages = 0; messages < 16 && !rest.empty(); ++messages) {
    auto line = rest.substr(0, rest.find('\n'));
    client.say(line);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  client.leave();
  return 0;
}
