#include "common/agent/runtime/exception_guard.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>
#include <stdexcept>

namespace league::agent::runtime {
namespace {

/// Notes what it reads, as an agent does, and fails.
class Failing final : public transport::link::MessageHandler {
 public:
  void on_message(transport::link::Inbound message, transport::link::ReplySlot /*reply*/) override {
    message.notes->conversation_id = "convr1m1001\x1b[2J";
    message.notes->message_type = "GAME_INVITATION";
    message.notes->peer = "referee:REF01";
    throw std::logic_error("broken\nthing");
  }
};

TEST(ExceptionGuard, SaysWhatFailedAndInWhichConversation) {
  std::ostringstream out;
  auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out)));
  Failing failing;
  ExceptionGuard guard(failing);
  int status = 0;
  EXPECT_THROW(
      guard.on_message({}, transport::link::ReplySlot([&](transport::link::OutboundReply reply) {
                         status = reply.http_status;
                       })),
      std::logic_error);
  spdlog::set_default_logger(before);
  EXPECT_EQ(status, 500) << "nobody waits for a forgotten answer";
  EXPECT_NE(out.str().find("handling GAME_INVITATION from referee:REF01 failed, conversation "
                           "convr1m1001?[2J: broken?thing"),
            std::string::npos)
      << out.str();
}

}  // namespace
}  // namespace league::agent::runtime
