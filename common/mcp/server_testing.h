#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/mcp/server.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_random.h"

namespace league::mcp {

/// The way to a client that keeps what it was given.
class RecordingChannel final : public transport::link::PeerChannel {
 public:
  explicit RecordingChannel(std::string id, bool takes_streams = true)
      : id_(std::move(id)), is_open_(takes_streams) {}

  void configure(const transport::link::StreamOptions& options) override { stream = options; }
  bool push(std::shared_ptr<const std::string> bytes) override {
    if (!is_open_) return false;
    messages.push_back(nlohmann::json::parse(*bytes));
    return true;
  }
  void close() override { is_open_ = false; }
  [[nodiscard]] bool is_open() const override { return is_open_; }
  [[nodiscard]] bool is_away() const override { return away; }
  [[nodiscard]] const std::string& id() const override { return id_; }

  std::vector<nlohmann::json> messages;
  transport::link::StreamOptions stream;
  bool away = false;

 private:
  const std::string id_;
  bool is_open_;
};

/// Answers whatever is no MCP with the method's name.
class RecordingApplication final : public Application {
 public:
  void on_document(nlohmann::json document, Arrival arrival,
                   transport::link::ReplySlot reply) override;
  std::vector<nlohmann::json> documents;
  std::vector<rpc::MessageContext> contexts;
};

/// A server with a tool, a resource, a template and a prompt, and clients without sockets. For one
/// thread.
class ServerUnderTest {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  struct Answer {
    int status = 0;
    std::string bytes;
    nlohmann::json json;  ///< of `bytes`; discarded where they are none
    std::map<std::string, std::string> headers;
    std::shared_ptr<rpc::MessageNotes> request_notes;
  };

  explicit ServerUnderTest(ServerSessions::Options sessions = {});

  /// A POST; nothing while it is not answered.
  std::shared_ptr<std::optional<Answer>> begin(
      const std::string& body, const Headers& headers = {},
      std::shared_ptr<transport::link::PeerChannel> channel = nullptr);
  /// One that is answered at once.
  Answer post(const std::string& body, const Headers& headers = {},
              std::shared_ptr<transport::link::PeerChannel> channel = nullptr);
  Answer call(const std::string& method, nlohmann::json params, const Headers& headers = {});
  /// A message on a connection, where there are no headers.
  std::shared_ptr<std::optional<Answer>> send(
      const nlohmann::json& message, std::shared_ptr<transport::link::PeerChannel> connection);
  /// Initialises; the headers of later requests.
  Headers initialize(const std::string& revision = "2025-06-18",
                     const nlohmann::json& capabilities = nlohmann::json::object());
  /// A GET for a stream.
  transport::link::StreamAnswer listen(const Headers& headers);
  std::optional<transport::link::StreamRefusal> end_session(const Headers& headers);

  testing::FakeTime time;
  testing::ScriptedRandom random{7};
  RecordingApplication application;
  std::deque<Responder> waiting;  ///< calls of the tool `waits`
  Server server;

 private:
  void add_tools();
  void add_others();
  [[nodiscard]] rpc::MessageContext http_context(const Headers& headers, const char* method) const;
};

[[nodiscard]] nlohmann::json request(int id, const std::string& method,
                                     nlohmann::json params = nullptr);

}  // namespace league::mcp
