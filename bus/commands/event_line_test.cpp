#include "bus/commands/event_readers.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/agent/bus/event_signature.h"

namespace league::tools {
namespace {

using nlohmann::json;

std::string signed_event(const core::SigningKey& key) {
  json params = {{"message_type", "ROUND_COMPLETED"},
                 {"timestamp", "2026-01-01T00:00:00Z"},
                 {"round_id", 3},
                 {"signature", ""}};
  return agent::bus::sign_event(json{{"jsonrpc", "2.0"}, {"params", params}}.dump(), key);
}

TEST(EventLine, SaysWhatHappenedAndWhetherItIsTheManagers) {
  auto key = core::SigningKey::from_seed({1});
  auto payload = signed_event(key);
  EXPECT_EQ(event_line(7, payload, {}), "7  2026-01-01T00:00:00Z  ROUND_COMPLETED  round 3");
  EXPECT_TRUE(event_line(7, payload, {.key = key.public_key()}).ends_with("(signed)"));
  auto forged = core::SigningKey::from_seed({2}).public_key();
  EXPECT_NE(event_line(7, payload, {.key = forged}).find("NOT SIGNED"), std::string::npos);
}

TEST(EventLine, ForMachines) {
  auto key = core::SigningKey::from_seed({1});
  auto payload = signed_event(key);
  auto line = json::parse(event_line(7, payload, {.key = key.public_key(), .is_json = true}));
  EXPECT_EQ(line["sequence"], 7);
  EXPECT_EQ(line["verified"], true);
  EXPECT_EQ(line["event"], json::parse(payload));
  auto bare = json::parse(event_line(0, payload, {.key = {}, .is_json = true}));
  EXPECT_TRUE(bare["sequence"].is_null());
  EXPECT_TRUE(bare["verified"].is_null());
}

TEST(EventLine, NothingThatComesCanHurtATerminal) {
  for (std::string bad : {std::string("no JSON \x1b[31m"), std::string("[]"), std::string(),
                          std::string(R"({"params":{"message_type":"\u001b[31m"}})")}) {
    auto line = event_line(1, bad, {});
    EXPECT_EQ(line.find('\x1b'), std::string::npos) << bad;
    EXPECT_TRUE(json::accept(event_line(1, bad, {.key = {}, .is_json = true})));
  }
}

}  // namespace
}  // namespace league::tools
