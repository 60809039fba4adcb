#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/agent/dialects/request_dialect.h"
#include "common/agent/peers/plain_mcp_sessions.h"
#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/task/signal.h"
#include "common/task/task.h"
#include "common/transport/caller/endpoint_caller.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_handler.h"

namespace league::tools::connection {

/// Passes calls to a bot at an endpoint, as they are, and its answers back. A bot that is not there
/// is called again until the call is useless. One that is a plain MCP server gets the message as
/// the arguments of a tool; its result, or its error, is the answer. Thread-safe.
class BotLine final : public transport::link::MessageHandler {
 public:
  struct Context {
    transport::link::EventLoop& loop;
    core::Timer& timer;
    const core::Clock& clock;
  };
  /// Says to the user, in one line, that the bot is not there, is there again, or refuses.
  using Say = std::function<void(const std::string& what)>;

  /// The references outlive it. Fails as EndpointCaller::create.
  [[nodiscard]] static core::Result<std::unique_ptr<BotLine>> open(const Context& context, Say say);
  /// Ends what is under way; the bot's processes have a moment to end.
  ~BotLine() override;

  /// From now on calls go there. Before, they wait.
  void set_bot(transport::link::Endpoint bot);
  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;
  /// Tells the bot who it is: the manager's answer to its registration. A bot without
  /// `notify_registration` ignores that.
  void tell_registration(const std::string& answer);

 private:
  struct Passing {
    std::string bytes;  ///< of the request
    rpc::Id id;
    core::Clock::Steady until{};  ///< its answer is useless afterwards
  };
  /// What the bot has turned out to be.
  enum class Kind { kUnknown, kLeague, kPlainMcp };

  BotLine(const Context& context, std::unique_ptr<transport::caller::EndpointCaller> caller,
          Say say);
  task::Task<void> pass(Passing call, std::function<void(std::string answer)> answered);
  task::Task<std::optional<std::string>> answer(Passing call, transport::link::Endpoint bot);
  /// The answer of a plain MCP server; nothing: the bot has turned out to be none.
  task::Task<std::optional<std::string>> call_tool(Passing call, transport::link::Endpoint bot);
  /// Calls the bot, again and again while it is not there. In a session or as it is.
  task::Task<transport::link::CallOutcome> reach(Passing call, transport::link::Endpoint bot,
                                                 bool in_session);
  void note(const transport::link::CallOutcome& outcome, const std::string& bot);
  void note_refusal(const std::string& answer);

  const Context context_;
  const Say say_;
  const agent::dialects::RequestReader reader_;
  std::unique_ptr<transport::caller::EndpointCaller> caller_;
  std::unique_ptr<agent::peers::PlainMcpSessions> sessions_;
  // On the executor only, down to the scope.
  std::optional<transport::link::Endpoint> bot_;
  task::Signal<bool> named_;  ///< the bot is known
  Kind kind_ = Kind::kUnknown;
  std::set<rpc::Id> pending_;
  std::int64_t next_id_ = 0;
  bool is_missed_ = false;  ///< the user knows that the bot is not there
  bool is_refusing_ = false;  ///< ... that it refuses
  task::Scope scope_;
};

}  // namespace league::tools::connection
