#include <gtest/gtest.h>

#include "common/mcp/server_testing.h"

namespace league::mcp {
namespace {

using nlohmann::json;

class Listening : public ::testing::Test {
 protected:
  std::shared_ptr<RecordingChannel> listen(int id, json wanted) {
    auto channel = std::make_shared<RecordingChannel>("listen " + std::to_string(id));
    json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                 {"io.modelcontextprotocol/clientCapabilities", json::object()}};
    answer_ = under_.begin(
        request(id, "subscriptions/listen", {{"_meta", meta}, {"notifications", wanted}}).dump(),
        {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "subscriptions/listen"}}, channel);
    return channel;
  }
  ServerUnderTest under_;
  std::shared_ptr<std::optional<ServerUnderTest::Answer>> answer_;
};

TEST_F(Listening, AcknowledgesAndTagsWhatWasAskedFor) {
  auto tools = listen(4, {{"toolsListChanged", true}, {"promptsListChanged", true}});
  auto table = listen(5, {{"resourceSubscriptions", json::array({"test://a", "test://never"})}});
  ASSERT_EQ(tools->messages.size(), 1U);
  EXPECT_EQ(tools->messages[0]["method"], "notifications/subscriptions/acknowledged");
  // Prompts of this server never change, so they are not promised.
  EXPECT_EQ(tools->messages[0]["params"]["notifications"], (json{{"toolsListChanged", true}}));
  EXPECT_EQ(table->messages[0]["params"]["notifications"],
            (json{{"resourceSubscriptions", {"test://a"}}}));
  under_.server.notify_list_changed(Registry::List::kTools);
  under_.server.notify_list_changed(Registry::List::kPrompts);
  under_.server.notify_resource_updated("test://a");
  ASSERT_EQ(tools->messages.size(), 2U);
  EXPECT_EQ(tools->messages[1]["method"], "notifications/tools/list_changed");
  EXPECT_EQ(tools->messages[1]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 4);
  ASSERT_EQ(table->messages.size(), 2U);
  EXPECT_EQ(table->messages[1]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);
  EXPECT_FALSE(answer_->has_value());
}

TEST_F(Listening, EndsWithItsStream) {
  auto tools = listen(4, {{"toolsListChanged", true}});
  under_.server.on_channel_closed(*tools);
  ASSERT_TRUE(answer_->has_value());
  under_.server.notify_list_changed(Registry::List::kTools);
  EXPECT_EQ(tools->messages.size(), 1U);
}

}  // namespace
}  // namespace league::mcp
