#include "common/transport/line/line_listener.h"

#include <gtest/gtest.h>

#include "common/transport/testing_peers.h"

namespace league::transport {
namespace {

using league::testing::echo;
using league::testing::FunctionHandler;
using league::testing::RawClient;

struct LineServed {
  explicit LineServed(FunctionHandler::Function function = echo, LineListenerOptions options = {})
      : handler(std::move(function)), listener(*LineListener::start(*hub, options, handler)) {}
  ~LineServed() { listener.reset(); }

  std::unique_ptr<Hub> hub = *Hub::start();
  FunctionHandler handler;
  std::unique_ptr<LineListener> listener;
};

TEST(LineListener, AnswersLineByLine) {
  LineServed served;
  RawClient client(served.listener->port());
  ASSERT_TRUE(client.send("{\"id\":1}\n{\"id\":2}\r\n\n"));
  client.finish_sending();
  EXPECT_EQ(client.read_all(), "{\"id\":1}\n{\"id\":2}\n");
}

}  // namespace
}  // namespace league::transport
