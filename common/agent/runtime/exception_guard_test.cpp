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

/// What `act` writes to the log.
std::string logged(const std::function<void()>& act) {
  std::ostringstream out;
  auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out)));
  act();
  spdlog::set_default_logger(before);
  return out.str();
}

TEST(ExceptionGuard, SaysWhatFailedAndInWhichConversation) {
  Failing failing;
  ExceptionGuard guard(failing);
  int status = 0;
  const std::string out = logged([&] {
    EXPECT_THROW(
        guard.on_message({}, transport::link::ReplySlot([&](transport::link::OutboundReply reply) {
                           status = reply.http_status;
                         })),
        std::logic_error);
  });
  EXPECT_EQ(status, 500) << "nobody waits for a forgotten answer";
  EXPECT_NE(out.find("handling GAME_INVITATION from referee:REF01 failed, conversation "
                     "convr1m1001?[2J: broken?thing"),
            std::string::npos)
      << out;
}

TEST(ExceptionGuard, NamesAFunctionThatFails) {
  const std::function<int(int)> half = [](int number) {
    if (number % 2 != 0) throw std::logic_error("odd");
    return number / 2;
  };
  const auto guard = guarded(half, "the page /half");
  EXPECT_EQ(guard(4), 2);
  const std::string out = logged([&] { EXPECT_THROW(guard(3), std::logic_error); });
  EXPECT_NE(out.find("the page /half failed: odd"), std::string::npos) << out;
}

}  // namespace
}  // namespace league::agent::runtime
