#include "common/agent/runtime/exception_guard.h"

#include <exception>
#include <memory>

#include "common/agent/runtime/log.h"
#include "common/core/text.h"

namespace league::agent::runtime {
namespace {
constexpr std::size_t kLongestText = 300;
}

void log_failure(const std::string& name, std::string_view what) {
  log::error("{} failed: {}", name, core::shown(what, kLongestText));
}

std::function<void(const std::exception_ptr&)> failures_logged(std::string name) {
  return [name = std::move(name)](const std::exception_ptr& exception) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& thrown) {
      log_failure(name, thrown.what());
    }
  };
}

void log_exception(const rpc::MessageNotes& notes, std::string_view what) {
  log::error("handling {} from {} failed, conversation {}: {}",
             notes.message_type.empty() ? "a message" : core::shown(notes.message_type),
             notes.peer.empty() ? "somebody" : core::shown(notes.peer),
             notes.conversation_id.empty() ? "unknown" : core::shown(notes.conversation_id, 100),
             core::shown(what, kLongestText));
}

void ExceptionGuard::on_message(transport::link::Inbound message,
                                transport::link::ReplySlot reply) {
  auto notes = message.notes;  // the handler fills them in
  try {
    handler().on_message(std::move(message), std::move(reply));
  } catch (const std::exception& thrown) {
    log_exception(*notes, thrown.what());
    throw;
  } catch (...) {
    log_exception(*notes, "an exception without a text");
    throw;
  }
}

}  // namespace league::agent::runtime
