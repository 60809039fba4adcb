#include "common/agent/host/suggestion.h"

#include <gtest/gtest.h>

namespace league::agent::host {
namespace {

TEST(Suggestion, FindsWhatWasMeant) {
  std::vector<std::string> names{"up", "audit", "status", "start"};
  EXPECT_EQ(nearest("staus", names), "status");
  EXPECT_EQ(nearest("upp", names), "up");
  EXPECT_EQ(nearest("adit", names), "audit");
}

TEST(Suggestion, DoesNotGuessWildly) {
  std::vector<std::string> names{"up", "audit"};
  EXPECT_EQ(nearest("xy", names), std::nullopt);
  EXPECT_EQ(nearest("tournament", names), std::nullopt);
  EXPECT_EQ(nearest(std::string(100000, 'a'), names), std::nullopt);
}

}  // namespace
}  // namespace league::agent::host
