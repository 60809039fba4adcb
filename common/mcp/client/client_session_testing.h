#pragma once

#include <gtest/gtest.h>

#include "common/mcp/client/client_session.h"
#include "common/mcp/client/client_testing.h"
#include "tests/support/fake_clock.h"

namespace league::mcp::client::testing {

/// A session with a server that a script plays.
class ClientSessionTest : public ::testing::Test {
 protected:
  std::shared_ptr<ClientSession> session(const std::string& url = "tcp://127.0.0.1:9",
                                         SessionOptions options = {}) {
    auto made = ClientSession::create({connector_, time_, time_},
                                      *transport::link::parse_endpoint(url), std::move(options));
    made->connect(deadline(), [this](core::Result<Negotiated> result) {
      EXPECT_FALSE(connected_) << "twice";
      connected_ = std::move(result);
    });
    return made;
  }
  core::Clock::Steady deadline(std::chrono::seconds after = std::chrono::seconds(10)) {
    return time_.steady_now() + after;
  }
  SessionAnswer ask(ClientSession& session, const std::string& method) {
    std::optional<SessionAnswer> got;
    session.request({.method = method, .deadline = deadline()}, [&](SessionAnswer answer) {
      EXPECT_FALSE(got) << "twice";
      got = std::move(answer);
    });
    EXPECT_TRUE(got);
    return got ? std::move(*got) : SessionAnswer{};
  }
  /// Shakes hands and answers everything else with what it was asked.
  void serve_echo(const std::string& revision = "2025-06-18") {
    connector_.script = [this, revision](ScriptedConnection& server, const nlohmann::json& message,
                                         const Headers& headers) {
      seen_.push_back(message);
      seen_headers_.push_back(headers);
      if (answer_handshake(server, message, revision)) return;
      bool is_request = message.contains("id") && message.contains("method");
      if (is_request) server.result(message, {{"method", message["method"]}});
    };
  }
  std::vector<std::string> methods() const {
    std::vector<std::string> names;
    for (const auto& message : seen_) names.push_back(message.value("method", "response"));
    return names;
  }

  league::testing::FakeTime time_;
  const core::Clock::Steady start_ = time_.steady_now();
  ScriptedConnector connector_;
  std::optional<core::Result<Negotiated>> connected_;
  std::vector<nlohmann::json> seen_;
  std::vector<Headers> seen_headers_;
};

}  // namespace league::mcp::client::testing
