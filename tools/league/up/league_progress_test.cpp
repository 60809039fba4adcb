#include "tools/league/up/league_progress.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace league::tools {
namespace {

using nlohmann::json;

json replicated() {
  return json::parse(R"({"league_id": "cup", "replication": {
      "leader": "alba-1f2e", "term": 3, "stream": 1, "acknowledged": 40, "written": 42,
      "standbys": [{"name": "bela-77aa", "entries": 42, "in_sync": true, "silent_seconds": 0.1},
                   {"name": "cora-0102", "entries": 7, "in_sync": false, "silent_seconds": 12.3}],
      "waits_for": "", "store_bytes": 100, "store_max_bytes": null}})");
}

TEST(ReplicationLine, SaysWhoLeadsAndHowFarTheOthersAre) {
  EXPECT_EQ(replication_line(replicated()),
            "managers: alba-1f2e leads in term 3, and 40 of its 42 events are acknowledged; "
            "stand-by bela-77aa is in sync; stand-by cora-0102 has 7 events and is silent for 12.3 "
            "s");
}

TEST(ReplicationLine, SaysWhatItWaitsFor) {
  auto status = replicated();
  status["replication"]["standbys"] = json::array();
  status["replication"]["waits_for"] = "the stream's store\n is full\x1b[2J";
  const std::string line = replication_line(status);
  EXPECT_NE(line.find("; there is no stand-by; waiting: the stream's store"), std::string::npos)
      << line;
  for (const char bad : {'\n', '\x1b'}) EXPECT_EQ(line.find(bad), std::string::npos) << line;
}

TEST(ReplicationLine, IsEmptyWithOneManagerAndSurvivesAnything) {
  EXPECT_EQ(replication_line(json::object()), "");
  EXPECT_EQ(replication_line(json()), "");
  EXPECT_EQ(replication_line({{"replication", nullptr}}), "");
  for (const char* odd : {"{}", R"({"standbys": 3, "leader": 7})", R"({"standbys": [1, "x", {}]})"})
    EXPECT_NE(replication_line({{"replication", json::parse(odd)}}), "") << odd;
}

}  // namespace
}  // namespace league::tools
