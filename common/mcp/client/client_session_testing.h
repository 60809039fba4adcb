#pragma once

#include <gtest/gtest.h>

#include <stdexcept>

#include "common/mcp/client/client_session.h"
#include "common/mcp/client/client_testing.h"
#include "tests/support/fake_clock.h"

namespace league::mcp::client::testing {

/// A session with a server that a script plays.
class ClientSessionTest : public ::testing::Test {
 protected:
  std::shared_ptr<ClientSession> session(const std::string& url = "tcp://127.0.0.1:9",
                                         SessionOptions options = {}) {
    auto made = ClientSession::create({connector_, time_, time_}, scope_,
                                      *transport::link::parse_endpoint(url), std::move(options));
    scope_.spawn(connect(made, deadline()));
    return made;
  }
  core::Clock::Steady deadline(std::chrono::seconds after = std::chrono::seconds(10)) {
    return time_.steady_now() + after;
  }
  SessionAnswer ask(ClientSession& session, const std::string& method) {
    return now(session.ask({.method = method, .deadline = deadline()}));
  }
  /// What a task ends with that has nothing to wait for.
  template <typename T>
  T now(task::Task<T> task) {
    std::optional<T> got;
    scope_.spawn(keep(std::move(task), got));
    if (!got) throw std::runtime_error("the task waits");
    return std::move(*got);
  }
  task::Spawned request(const std::shared_ptr<ClientSession>& session, SessionRequest request,
                        std::function<void(SessionAnswer)> done) {
    return scope_.spawn(ask_and_tell(session, std::move(request), std::move(done)));
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

  task::Task<void> connect(std::shared_ptr<ClientSession> session, core::Clock::Steady until) {
    connected_ = co_await session->connect(until);
  }
  static task::Task<void> ask_and_tell(std::shared_ptr<ClientSession> session,
                                       SessionRequest request,
                                       std::function<void(SessionAnswer)> done) {
    done(co_await session->ask(std::move(request)));
  }
  template <typename T>
  static task::Task<void> keep(task::Task<T> task, std::optional<T>& got) {
    got = co_await std::move(task);
  }

  league::testing::FakeTime time_;
  const core::Clock::Steady start_ = time_.steady_now();
  ScriptedConnector connector_;
  std::optional<core::Result<Negotiated>> connected_;
  std::vector<nlohmann::json> seen_;
  std::vector<Headers> seen_headers_;
  task::Scope scope_{task::Executor(), [](const std::exception_ptr&) { ADD_FAILURE() << "threw"; }};
};

}  // namespace league::mcp::client::testing
