#include "common/transport/link/request_budgets.h"

#include <gtest/gtest.h>

namespace league::transport::link::budget_tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const RequestBudgets::Instant kStart{std::chrono::hours{1}};
const RequestSender kAddress{Standing::kStranger, "10.0.0.1"};
const RequestSender kReferee{Standing::kStaff, "REF01"};

RequestBudgetOptions small() {
  RequestBudgetOptions options;
  options.burst = seconds(2);
  options.allowances.fill({10, 1000});
  return options;
}

/// How many requests of `sender` pass at once.
std::size_t passing(RequestBudgets& budgets, const RequestSender& sender,
                    RequestBudgets::Instant now) {
  std::size_t count = 0;
  while (count < 1000 && !budgets.charge(sender, 1, now).retry_after) ++count;
  return count;
}

TEST(RequestBudgets, PassABurstAndThenWhatTheRateAllows) {
  RequestBudgets budgets(small());
  EXPECT_EQ(passing(budgets, kAddress, kStart), 20U);
  EXPECT_EQ(budgets.charge(kAddress, 1, kStart).retry_after, milliseconds(100));
  EXPECT_EQ(passing(budgets, kAddress, kStart + seconds(1)), 10U);
  EXPECT_EQ(passing(budgets, kAddress, kStart + seconds(100)), 20U) << "no more is saved up";
}

TEST(RequestBudgets, AreEachSendersOwn) {
  RequestBudgets budgets(small());
  EXPECT_EQ(passing(budgets, kAddress, kStart), 20U);
  EXPECT_EQ(passing(budgets, {Standing::kStranger, "10.0.0.2"}, kStart), 20U);
  EXPECT_EQ(passing(budgets, {Standing::kNewcomer, "10.0.0.1"}, kStart), 20U)
      << "registrations have a share of their own";
  EXPECT_EQ(passing(budgets, kReferee, kStart), 20U);
}

TEST(RequestBudgets, WhatWasWrittenIsPaidOffBeforeTheNextRequestPasses) {
  RequestBudgets budgets(small());
  auto charge = budgets.charge(kAddress, 1, kStart);
  ASSERT_FALSE(charge.retry_after);
  charge.meter->add(2500);
  EXPECT_EQ(budgets.charge(kAddress, 1, kStart).retry_after, milliseconds(500));
  EXPECT_TRUE(budgets.charge(kAddress, 1, kStart + milliseconds(499)).retry_after);
  EXPECT_FALSE(budgets.charge(kAddress, 1, kStart + milliseconds(501)).retry_after);
}

TEST(RequestBudgets, ADebtIsBounded) {
  RequestBudgets budgets(small());
  budgets.charge(kAddress, 1, kStart).meter->add(1'000'000'000);
  EXPECT_EQ(budgets.charge(kAddress, 1, kStart).retry_after, seconds(2));
  EXPECT_FALSE(budgets.charge(kAddress, 100'000, kStart + seconds(3)).retry_after);
  EXPECT_EQ(budgets.charge(kAddress, 1, kStart + seconds(3)).retry_after, milliseconds(2100))
      << "nor does a batch lock its sender out";
}

TEST(RequestBudgets, WhatWasForgivenIsNotGivenBack) {
  RequestBudgets budgets(small());
  const auto meter = budgets.charge(kAddress, 1, kStart).meter;
  meter->add(1'000'000);
  EXPECT_EQ(budgets.charge(kAddress, 1, kStart).retry_after, seconds(2));
  meter->add(-500'000);  // half of it was not written, and the rest is still more than the limit
  EXPECT_EQ(budgets.charge(kAddress, 1, kStart).retry_after, seconds(2));
  EXPECT_FALSE(budgets.charge(kAddress, 1, kStart + seconds(10)).retry_after);
  meter->add(1500);
  meter->add(-1000);
  EXPECT_FALSE(budgets.charge(kAddress, 1, kStart + seconds(10)).retry_after)
      << "with a full budget, all is forgotten";
}

TEST(RequestBudgets, KnowWhoPressesOn) {
  RequestBudgets budgets(small());
  passing(budgets, kAddress, kStart);  // with the first refusal
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(budgets.charge(kAddress, 1, kStart).is_pressing) << i;
  EXPECT_TRUE(budgets.charge(kAddress, 1, kStart).is_pressing);
  const auto later = kStart + milliseconds(50);
  EXPECT_FALSE(budgets.charge(kAddress, 1, later).is_pressing);
  EXPECT_TRUE(budgets.charge(kAddress, 1, later).is_pressing);
}

TEST(RequestBudgets, SayWhoWasRefusedAndHowOftenOnce) {
  RequestBudgets budgets(small());
  passing(budgets, kAddress, kStart);
  for (int i = 0; i < 6; ++i) (void)budgets.charge(kAddress, 1, kStart);
  auto overruns = budgets.take_overruns();
  ASSERT_EQ(overruns.size(), 1U);
  EXPECT_EQ(overruns[0].sender, kAddress);
  EXPECT_EQ(overruns[0].refused, 7U);
  EXPECT_TRUE(budgets.take_overruns().empty());
}

TEST(RequestBudgets, AMillionAddressesTakeNoMemoryAndNoKnownSendersBudget) {
  auto options = small();
  options.max_addresses = 100;
  RequestBudgets budgets(options);
  ASSERT_FALSE(budgets.charge(kReferee, 1, kStart).retry_after);
  std::size_t passed = 0;
  for (int i = 0; i < 10'000; ++i) {
    RequestSender sender{Standing::kStranger, "10.0." + std::to_string(i)};
    if (!budgets.charge(sender, 1, kStart).retry_after) ++passed;
  }
  EXPECT_LE(budgets.senders(), 102U);
  EXPECT_LE(passed, 100U + 20U) << "those beyond share one budget";
  EXPECT_EQ(passing(budgets, kReferee, kStart), 19U);
  for (int i = 0; i < 200; ++i) {
    RequestSender player{Standing::kPlayer, "P" + std::to_string(i)};
    EXPECT_EQ(passing(budgets, player, kStart), 20U) << "agents are told apart, however many";
  }
  // Who has been quiet is forgotten, and others are told apart again.
  EXPECT_EQ(passing(budgets, {Standing::kStranger, "new"}, kStart + seconds(60)), 20U);
  EXPECT_LE(budgets.senders(), 203U);
}

TEST(RequestBudgets, NamesSendersForPeople) {
  EXPECT_EQ(shown_sender(kReferee), "REF01");
  EXPECT_EQ(shown_sender(kAddress), "address 10.0.0.1 (without a credential)");
  EXPECT_EQ(shown_sender({Standing::kNewcomer, "::/64"}), "address ::/64 (registrations)");
}

}  // namespace
}  // namespace league::transport::link::budget_tests
