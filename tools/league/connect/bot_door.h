#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/core/auth_token.h"
#include "common/core/clock.h"
#include "common/transport/front/http_server.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/message_handler.h"

namespace league::tools::connection {

/// Where a bot that registers itself finds its league manager: every message is passed on to the
/// manager, and its answer back. Only a registration is changed: its contact_endpoint becomes
/// `outward`. Thread-safe.
class BotDoor final : public transport::link::MessageHandler {
 public:
  struct Options {
    std::uint16_t port = 0;  ///< on the loopback interface
    transport::link::Endpoint manager;
    std::string name;  ///< the bot's name in the league; empty: as the bot says
    core::AuthToken code;  ///< for registrations without one; may be empty
  };
  /// The bot has been registered. Runs before the bot gets the answer.
  using Registered =
      std::function<void(const nlohmann::json& answer, const std::string& contact_endpoint)>;

  /// `caller` and `clock` outlive it. Fails as HttpServer::start.
  [[nodiscard]] static core::Result<std::unique_ptr<BotDoor>> open(Options options,
                                                                   transport::link::Caller& caller,
                                                                   const core::Clock& clock,
                                                                   Registered registered);
  ~BotDoor() override;

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;

 private:
  BotDoor(Options options, transport::link::Caller& caller, const core::Clock& clock,
          Registered registered);
  /// Changes the registration in `frame`; the contact_endpoint that it had. Nothing: it is none.
  std::optional<std::string> make_outward(nlohmann::json& frame) const;

  const Options options_;
  transport::link::Caller& caller_;
  const core::Clock& clock_;
  const Registered registered_;
  std::unique_ptr<transport::front::HttpRuntime> runtime_;
  std::unique_ptr<transport::front::HttpServer> server_;
};

}  // namespace league::tools::connection
