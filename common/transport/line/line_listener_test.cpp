#include "common/transport/line/line_listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <deque>

#include "common/transport/line/line_connector.h"
#include "tests/support/memory/links_testing.h"
#include "tests/support/memory/peers_testing.h"

namespace league::transport::line {
namespace {

using league::testing::echo;
using league::testing::eventually;
using league::testing::FunctionHandler;
using league::testing::NotingReceiver;
using league::testing::outbound;
using league::testing::RawClient;
using league::testing::reply_with;
using std::chrono::milliseconds;

LineListenerOptions impatient() {
  LineListenerOptions options;
  options.limits.max_line = 1000;
  options.limits.line_timeout = milliseconds(50);
  options.limits.write_timeout = milliseconds(100);
  options.limits.close_timeout = milliseconds(200);
  return options;
}

struct LineServed {
  explicit LineServed(FunctionHandler::Function function = echo,
                      const LineListenerOptions& options = {})
      : handler(std::move(function)), listener(*LineListener::start(*loop, options, handler)) {}

  std::unique_ptr<link::EventLoop> loop = *link::EventLoop::start();
  FunctionHandler handler;
  std::unique_ptr<LineListener> listener;
};

TEST(LineListener, AnswersLineByLine) {
  LineServed served;
  RawClient client(served.listener->port());
  ASSERT_TRUE(client.send("{\"id\":1}\n{\"id\":2}\r\n\n{\"id\":3}"));
  client.finish_sending();
  EXPECT_EQ(client.read_all(), "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n");
}

TEST(LineListener, TellsTheContext) {
  std::optional<rpc::MessageContext> context;
  std::string channel;
  LineServed served([&](link::Inbound message, link::ReplySlot reply) {
    context = message.context;
    channel = message.channel->id();
    reply.send(reply_with("{}"));
  });
  RawClient client(served.listener->port());
  ASSERT_TRUE(client.send("{}\n"));
  client.finish_sending();
  EXPECT_EQ(client.read_all(), "{}\n");
  ASSERT_TRUE(context && context->transport.connection);
  EXPECT_EQ(context->transport.type, rpc::TransportType::kTcp);
  EXPECT_EQ(context->direction, rpc::MessageDirection::kClientToServer);
  EXPECT_EQ(context->transport.connection->local_address,
            "127.0.0.1:" + std::to_string(served.listener->port()));
  EXPECT_TRUE(context->transport.connection->remote_address.starts_with("127.0.0.1:"));
  EXPECT_EQ(context->transport.connection->connection_id, channel);
}

TEST(LineListener, RefusesALongLineAndGoesOn) {
  LineServed served(echo);
  RawClient client(served.listener->port());
  const std::string large(1'000'000, 'x');
  client.send("{}\n" + large + "\n" + R"({"jsonrpc":"2.0","id":7,"method":"a","params":[")" +
              large + "\"]}\n" + R"({"jsonrpc":"2.0","method":"a","params":[")" + large +
              "\"]}\n[]\n");
  client.finish_sending();
  std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("{}\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\n[]\n")) << answer;
  const auto of_nothing = answer.find("\"id\":null");
  const auto of_request = answer.find("\"id\":7");
  EXPECT_LT(of_nothing, of_request);
  EXPECT_NE(of_request, std::string::npos) << answer;
  EXPECT_NE(answer.find("longer than 262144 bytes"), std::string::npos) << answer;
  EXPECT_EQ(std::count(answer.begin(), answer.end(), '\n'), 4) << "a notification has no answer";
}

TEST(LineListener, DropsAHalfLineAndNotASilentPeer) {
  LineServed served(echo, impatient());
  RawClient silent(served.listener->port());
  RawClient half(served.listener->port());
  half.send("{\"id\"");
  EXPECT_NE(half.read_all().find("not ended within 50 ms"), std::string::npos);
  ASSERT_TRUE(silent.send("{}\n"));
  silent.finish_sending();
  EXPECT_EQ(silent.read_all(), "{}\n");
}

TEST(LineListener, DropsWhoFloodsWithoutReading) {
  std::atomic<int> handled = 0;
  auto options = impatient();
  options.limits.max_queued = 1 << 20;
  LineServed served(
      [&](link::Inbound, link::ReplySlot reply) {
        ++handled;
        reply.send(reply_with(std::string(100'000, '1')));
      },
      options);
  RawClient flooder(served.listener->port());
  RawClient honest(served.listener->port());
  for (int i = 0; i < 2000 && flooder.send("{}\n{}\n{}\n{}\n"); ++i) {
  }
  EXPECT_TRUE(eventually([&] { return served.listener->connections() == 1; }));
  EXPECT_LT(handled.load(), 2000) << "it is dropped for what waits, not for what it says";
  honest.send("{}\n");
  honest.finish_sending();
  EXPECT_EQ(honest.read_all().size(), 100'001U);
}

TEST(LineListener, ReadsNoMoreThanItHasInWork) {
  std::mutex mutex;
  std::deque<link::ReplySlot> kept;
  auto options = LineListenerOptions{};
  options.max_in_work = 4;
  LineServed served(
      [&](link::Inbound, link::ReplySlot reply) {
        std::lock_guard lock(mutex);
        kept.push_back(std::move(reply));
      },
      options);
  RawClient client(served.listener->port());
  std::string many;
  for (int i = 0; i < 100; ++i) many += "{}\n";
  ASSERT_TRUE(client.send(many));
  auto waiting = [&] {
    std::lock_guard lock(mutex);
    return kept.size();
  };
  EXPECT_TRUE(eventually([&] { return waiting() == 4; }));
  for (int answered = 0; answered < 100; ++answered) {
    ASSERT_TRUE(eventually([&] { return waiting() > 0; }));
    std::unique_lock lock(mutex);
    EXPECT_LE(kept.size(), 4U);
    auto slot = std::move(kept.front());
    kept.pop_front();
    lock.unlock();
    slot.send(reply_with("{}"));
  }
  client.finish_sending();
  EXPECT_EQ(client.read_all().size(), 300U);
}

TEST(LineListener, StopsAfterWhatRunsIsAnswered) {
  std::mutex mutex;
  std::optional<link::ReplySlot> kept;
  LineServed served([&](link::Inbound, link::ReplySlot reply) {
    std::lock_guard lock(mutex);
    kept.emplace(std::move(reply));
  });
  RawClient client(served.listener->port());
  client.send("{}\n");
  ASSERT_TRUE(eventually([&] {
    std::lock_guard lock(mutex);
    return kept.has_value();
  }));
  served.listener->begin_stop();
  kept->send(reply_with("\"late\""));
  EXPECT_EQ(client.read_all(), "\"late\"\n");
  served.listener->stop();
  EXPECT_EQ(served.listener->connections(), 0U);
}

TEST(LineListener, StopsHardAfterItsGrace) {
  std::vector<link::ReplySlot> kept;
  LineServed served(
      [&](link::Inbound, link::ReplySlot reply) { kept.push_back(std::move(reply)); });
  RawClient client(served.listener->port());
  client.send("{}\n");
  ASSERT_TRUE(eventually([&] { return served.listener->connections() == 1; }));
  served.listener->stop(milliseconds(20));
  EXPECT_EQ(served.listener->connections(), 0U);
  EXPECT_EQ(client.read_all(), "");
  kept.clear();  // answers into nothing
}

TEST(LineListener, ThousandConnectionsAtOnce) {
  link::raise_file_limit();
  LineServed served;
  std::deque<RawClient> clients;
  for (int i = 0; i < 1000; ++i) clients.emplace_back(served.listener->port());
  for (auto& client : clients) ASSERT_TRUE(client.send("{}\n"));
  EXPECT_TRUE(eventually([&] { return served.listener->connections() == 1000U; }));
  for (auto& client : clients) client.finish_sending();
  for (auto& client : clients) ASSERT_EQ(client.read_all(), "{}\n");
  EXPECT_TRUE(eventually([&] { return served.listener->connections() == 0; }));
}

TEST(LineListener, TakesNoMoreConnectionsThanItMay) {
  auto options = LineListenerOptions{};
  options.max_connections = 2;
  LineServed served(echo, options);
  RawClient first(served.listener->port());
  RawClient second(served.listener->port());
  ASSERT_TRUE(eventually([&] { return served.listener->connections() == 2; }));
  RawClient third(served.listener->port());
  EXPECT_EQ(third.read_all(), "");
}

class UnixListener : public ::testing::Test {
 protected:
  void TearDown() override { ::unlink(path_.c_str()); }
  LineListenerOptions options() const {
    LineListenerOptions options;
    options.unix_path = path_;
    return options;
  }
  std::string path_ = ::testing::TempDir() + "league-" + std::to_string(::getpid()) + ".sock";
};

TEST_F(UnixListener, IsForItsOwnerAndCleansUp) {
  LineServed served(echo, options());
  EXPECT_EQ(served.listener->url(), "unix:" + path_);
  struct stat found {};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  LineConnector connector(*served.loop);
  auto receiver = std::make_shared<NotingReceiver>();
  connector.connect(*link::parse_endpoint(served.listener->url()), core::Clock::Steady::max(),
                    [&](auto connection) {
                      (*connection)->start(receiver);
                      (*connection)->send(outbound("{\"a\":\n1}"));
                      (*connection)->close();
                    });
  EXPECT_EQ(receiver->wait_for_end()->code, core::ErrorCode::kShuttingDown);
  served.listener->stop();
  EXPECT_NE(::stat(path_.c_str(), &found), 0);
}

TEST_F(UnixListener, ReplacesOnlyADeadSocket) {
  {
    LineServed served(echo, options());
    auto again = LineListener::start(*served.loop, options(), served.handler);
    ASSERT_FALSE(again);
    EXPECT_NE(again.error().message.find("another program already listens"), std::string::npos);
    ASSERT_EQ(::link(path_.c_str(), (path_ + "2").c_str()), 0);
  }
  ASSERT_EQ(::rename((path_ + "2").c_str(), path_.c_str()), 0);  // as a crash leaves it
  { LineServed served(echo, options()); }
  core::FileDescriptor file(::open(path_.c_str(), O_CREAT | O_WRONLY, 0600));
  auto loop = *link::EventLoop::start();
  FunctionHandler handler(echo);
  auto refused = LineListener::start(*loop, options(), handler);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("not a socket"), std::string::npos);
}

}  // namespace
}  // namespace league::transport::line
