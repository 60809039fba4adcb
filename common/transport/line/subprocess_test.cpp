#include "common/transport/line/subprocess.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "tests/support/memory/links_testing.h"

namespace league::transport::line {
namespace {

using league::testing::NotingReceiver;
using league::testing::outbound;
using std::chrono::milliseconds;

/// For children that end by themselves: a busy machine takes its time.
constexpr milliseconds kLong{10'000};

class Subprocess : public ::testing::Test {
 protected:
  std::shared_ptr<link::MessageConnection> start(const std::string& command,
                                                 milliseconds patience = milliseconds(100)) {
    SubprocessOptions options;
    options.patience = patience;
    options.on_stderr = [this](std::string_view name, std::string_view line) {
      std::lock_guard lock(mutex_);
      errors_.append(name).append(": ").append(line).append("\n");
    };
    auto child = start_subprocess(*loop_, command, options);
    EXPECT_TRUE(child) << child.error().message;
    (*child)->start(receiver_);
    return *child;
  }
  std::string errors() {
    std::lock_guard lock(mutex_);
    return errors_;
  }

  std::mutex mutex_;
  std::string errors_;
  std::shared_ptr<NotingReceiver> receiver_ = std::make_shared<NotingReceiver>();
  std::unique_ptr<link::EventLoop> loop_ = *link::EventLoop::start();  // last: it goes first
};

TEST_F(Subprocess, SpeaksLinesAndEndsWithItsInput) {
  auto child = start("cat", kLong);
  child->send(outbound("{\"a\":1}"));
  child->send(outbound("{\"b\":\n2}"));
  EXPECT_EQ(receiver_->wait_for(2), (std::vector<std::string>{"{\"a\":1}", "{\"b\": 2}"}));
  auto context = receiver_->last_context();
  EXPECT_EQ(context.transport.type, rpc::TransportType::kSubprocess);
  EXPECT_GT(std::get<rpc::StdioMetadata>(context.transport.metadata).process_id, 1);
  child->close();
  auto end = receiver_->wait_for_end();
  EXPECT_EQ(end->code, core::ErrorCode::kShuttingDown);
  EXPECT_NE(end->message.find("exit code 0"), std::string::npos) << end->message;
}

TEST_F(Subprocess, SaysHowItEndedAfterItsLastWords) {
  auto child = start("sh -c 'echo \"{}\"; echo oops >&2; exit 3'");
  auto end = receiver_->wait_for_end();
  EXPECT_EQ(end->code, core::ErrorCode::kConnectionError);
  EXPECT_NE(end->message.find("exit code 3"), std::string::npos) << end->message;
  EXPECT_EQ(receiver_->wait_for(1), (std::vector<std::string>{"{}"}));
  loop_->stop();
  EXPECT_NE(errors().find(": oops\n"), std::string::npos) << errors();
}

TEST_F(Subprocess, NoticesThatItWasKilled) {
  auto child = start("cat");
  auto context = child->current_context();
  ::kill(static_cast<pid_t>(std::get<rpc::StdioMetadata>(context.metadata).process_id), SIGKILL);
  EXPECT_NE(receiver_->wait_for_end()->message.find("signal 9"), std::string::npos);
}

TEST_F(Subprocess, TheLadderEndsWhoDoesNotListen) {
  auto child = start("sh -c 'trap \"\" TERM; echo 1; while :; do sleep 60; done'");
  receiver_->wait_for(1);
  child->close();
  auto end = receiver_->wait_for_end();
  EXPECT_EQ(end->code, core::ErrorCode::kShuttingDown);
  EXPECT_NE(end->message.find("signal 9"), std::string::npos) << end->message;
}

TEST_F(Subprocess, AClosedOutputIsTheEnd) {
  auto child = start("sh -c 'exec >&-; sleep 60'");
  auto end = receiver_->wait_for_end();
  EXPECT_EQ(end->code, core::ErrorCode::kConnectionError);
  EXPECT_NE(end->message.find("closed its output"), std::string::npos) << end->message;
}

TEST_F(Subprocess, SeesNothingOfOurSecrets) {
  ::setenv("LEAGUE_TEST_SECRET", "1234", 1);
  auto child = start("sh -c 'echo \"[$LEAGUE_TEST_SECRET,\\\"$PATH\\\"]\"; cat'");
  auto lines = receiver_->wait_for(1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("[,\"/")) << lines[0];
  child->close();
  receiver_->wait_for_end();
}

TEST_F(Subprocess, MissingProgramsAreErrors) {
  for (const char* command : {"/no/such/program", "no-such-program-anywhere x", "'open"}) {
    auto child = start_subprocess(*loop_, command);
    ASSERT_FALSE(child) << command;
  }
}

TEST_F(Subprocess, WhoIsLetGoIsEnded) {
  auto child = start("cat");
  child = nullptr;
  EXPECT_TRUE(receiver_->wait_for_end());
}

TEST_F(Subprocess, BotsInPythonWork) {
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  auto child = start(
      "python3 -u -c \"import sys, json\nfor l in sys.stdin: m = json.loads(l); "
      "print(json.dumps({'id': m['id'], 'result': {}}))\"",
      kLong);
  child->send(outbound(R"({"id":7,"method":"ping"})"));
  EXPECT_EQ(receiver_->wait_for(1)[0], R"({"id": 7, "result": {}})");
  child->close();
  EXPECT_NE(receiver_->wait_for_end()->message.find("exit code 0"), std::string::npos);
}

}  // namespace
}  // namespace league::transport::line
