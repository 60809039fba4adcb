#pragma once

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"
#include "tests/support/scripted_random.h"
#include "tools/gateway/gateway.h"

namespace league::tools::gateway::testing {

using nlohmann::json;

/// A backend that keeps what it gets.
class RecordingBackend final : public GatewayBackend {
 public:
  Cancel forward(GatewayCall call, Answered answered) override {
    calls.push_back(std::move(call));
    answers.push_back(std::move(answered));
    if (immediate) answers.back()(rpc::make_result(calls.back().request.id, *immediate));
    return [this] { ++cancelled; };
  }
  void describe(const GatewayCall& call, Answered answered) override {
    answered(rpc::make_result(call.request.id,
                              {{"capabilities", json::object()}, {"serverInfo", {{"name", "b"}}}}));
  }
  core::Result<void> begin(GatewayClient client) override {
    if (is_full) return core::Error{core::ErrorCode::kOverloaded, "full", {}};
    clients.push_back(std::move(client));
    return {};
  }
  void end(const std::string& owner) override { ended.push_back(owner); }
  void notify(const std::string& owner, const rpc::Notification& note) override {
    notes.emplace_back(owner, note.method);
  }
  [[nodiscard]] bool takes(std::string_view method) const override {
    return method == "resources/list" || (listens && method == "subscriptions/listen");
  }
  [[nodiscard]] bool ends_with_client() const override { return true; }

  std::vector<GatewayCall> calls;
  std::vector<Answered> answers;
  std::vector<GatewayClient> clients;
  std::vector<std::string> ended;
  std::vector<std::pair<std::string, std::string>> notes;
  bool is_full = false;
  bool listens = false;
  std::optional<json> immediate;
  int cancelled = 0;
};

class NamedChannel final : public transport::link::PeerChannel {
 public:
  explicit NamedChannel(std::string id) : id_(std::move(id)) {}
  bool push(std::shared_ptr<const std::string> bytes) override {
    if (is_deaf || is_closed) return false;
    pushed.push_back(json::parse(*bytes));
    return true;
  }
  void close() override { is_closed = true; }
  [[nodiscard]] bool is_open() const override { return !is_closed; }
  [[nodiscard]] const std::string& id() const override { return id_; }
  std::vector<json> pushed;
  bool is_closed = false;
  bool is_deaf = false;  ///< the client takes no events

 private:
  std::string id_;
};

class GatewayTest : public ::testing::Test {
 protected:
  struct Reply {
    bool came = false;
    int status = 0;
    json body;
    std::vector<std::pair<std::string, std::string>> headers;
  };

  Gateway& gateway() {
    if (!gateway_) gateway_ = std::make_unique<Gateway>(options_, backend_, time_, random_);
    return *gateway_;
  }
  std::shared_ptr<Reply> send(const std::string& bytes, rpc::HeaderMap headers = {},
                              std::shared_ptr<transport::link::PeerChannel> channel = nullptr) {
    auto reply = std::make_shared<Reply>();
    transport::link::Inbound in;
    in.bytes = bytes;
    in.context.transport =
        rpc::TransportContext::http(std::make_shared<const rpc::HeaderMap>(std::move(headers)),
                                    "POST", rpc::SharedText::literal("/mcp"));
    in.channel = std::move(channel);
    gateway().on_message(
        std::move(in), transport::link::ReplySlot([reply](transport::link::OutboundReply out) {
          EXPECT_FALSE(reply->came) << "twice";
          *reply = {true, out.http_status, out.bytes.empty() ? json() : json::parse(out.bytes),
                    out.headers};
        }));
    return reply;
  }
  std::shared_ptr<Reply> ask(const std::string& method, const json& params = json::object(),
                             rpc::HeaderMap headers = {},
                             std::shared_ptr<transport::link::PeerChannel> channel = nullptr) {
    return send(json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}.dump(),
                std::move(headers), std::move(channel));
  }

  GatewayOptions options_;
  RecordingBackend backend_;
  league::testing::FakeTime time_;
  core::CryptoRandom random_;
  std::unique_ptr<Gateway> gateway_;
};

inline json modern(json params = json::object(), const char* version = "2026-07-28") {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", version},
                     {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  return params;
}

inline rpc::HeaderMap modern_headers(const char* method, const char* name = nullptr,
                                     const char* version = "2026-07-28") {
  rpc::HeaderMap headers{{"mcp-protocol-version", version}, {"mcp-method", method}};
  if (name != nullptr) headers.emplace("mcp-name", name);
  return headers;
}

}  // namespace league::tools::gateway::testing
