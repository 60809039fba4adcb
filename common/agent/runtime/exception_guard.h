#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "common/transport/link/message_handler.h"

namespace league::agent::runtime {

/// Tells the operator that handling a message failed with an exception, which is always a fault of
/// ours: its text, and the conversation in which the log has the message.
void log_exception(const rpc::MessageNotes& notes, std::string_view what);

/// The same for anything else that failed; `name` is what people call it: `the page /metrics`.
void log_failure(const std::string& name, std::string_view what);

/// Does that with each exception that it gets: for a task::Scope, whose tasks are called `name`.
std::function<void(const std::exception_ptr&)> failures_logged(std::string name);

/// What `call` does, but every exception is logged before it is passed on.
template <typename Result, typename... Arguments>
std::function<Result(Arguments...)> guarded(std::function<Result(Arguments...)> call,
                                            std::string name) {
  return [call = std::move(call), name = std::move(name)](Arguments... arguments) {
    try {
      return call(std::forward<Arguments>(arguments)...);
    } catch (const std::exception& thrown) {
      log_failure(name, thrown.what());
      throw;
    }
  };
}

/// Logs every exception of a handler and rethrows it, so that the transport can clean up.
/// Thread-safe if the handler is.
class ExceptionGuard final : public transport::link::HandlerDecorator {
 public:
  using HandlerDecorator::HandlerDecorator;
  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;
};

}  // namespace league::agent::runtime
