#pragma once

#include <memory>
#include <string>

#include "common/transport/client/client_testing.h"
#include "common/transport/client/streamable_http_connection.h"

namespace league::transport::client {

inline const std::string kRequest = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
inline const std::string kAnswer = R"({"jsonrpc":"2.0","id":1,"result":{}})";

/// A connection to a server that follows a script.
struct Streamable {
  explicit Streamable(ScriptedServer::Script script, StreamableHttpOptions options = quick())
      : server(std::move(script)), loop(*link::EventLoop::start()) {
    connection = make_streamable_http_connection(*loop, endpoint_at("http", server.port(), "/mcp"),
                                                 std::move(options));
    connection->start(receiver);
  }
  ~Streamable() {
    connection->close();
    receiver->wait_closed();
  }
  static StreamableHttpOptions quick() {
    StreamableHttpOptions options;
    options.retry = milliseconds(1);
    return options;
  }

  ScriptedServer server;
  std::unique_ptr<link::EventLoop> loop;
  std::shared_ptr<Collector> receiver = std::make_shared<Collector>();
  std::shared_ptr<StreamableHttpConnection> connection;
};

/// Answers every request on a connection alike.
inline ScriptedServer::Script each(std::string answer) {
  return [answer](ScriptedServer::Connection& connection, int) {
    while (!connection.read_request().empty()) connection.send(answer);
  };
}

/// Answers one request, then closes.
inline ScriptedServer::Script once(std::string answer) {
  return [answer](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(answer);
  };
}

inline link::SendOutcome outcome_of(const ScriptedServer::Script& script,
                                    milliseconds limit = kPatience) {
  Streamable peer(script);
  Sent sent;
  peer.connection->send(sent.message(kRequest, in(limit)));
  return sent.outcome();
}

}  // namespace league::transport::client
