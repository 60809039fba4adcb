#include "league_manager/spectators/pages.h"

#include <gtest/gtest.h>

#include "common/journal/memory_journal_testing.h"
#include "league_manager/core/league_testing.h"
#include "tests/support/fake_clock.h"

namespace league::league_manager::spectators {
namespace {

TEST(HealthPages, SayWhetherMatchesMayStart) {
  league::testing::FakeTime time;
  journal::MemoryJournal journal;
  files::Ledger ledger(testing::settings(4, 1), journal, time);
  Metrics metrics;
  std::string trouble;
  const auto pages =
      health_pages(metrics, ledger,
                   {.figures = [] { return MetricFigures{.log_queue_bytes = 7, .spectators = 3}; },
                    .trouble = [&trouble] { return trouble; }});
  const auto get = [&](std::string_view path) {
    for (const auto& page : pages)
      if (page.is_at(path)) return page.handler({});
    return transport::http::HttpPage{.status = 404};
  };
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/readyz").status, 200);
  trouble = "the disk of the conversation log is full";
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/readyz").body, trouble + "\n");
  EXPECT_EQ(get("/healthz").status, 200);
  const auto text = get("/metrics");
  EXPECT_EQ(text.status, 200);
  EXPECT_NE(text.body.find("\nleague_log_queue_bytes 7\n"), std::string::npos);
  EXPECT_NE(text.body.find("\nleague_spectators 3\n"), std::string::npos);
}

}  // namespace
}  // namespace league::league_manager::spectators
