#include "bus/standby/core/replica.h"

#include <gtest/gtest.h>

#include "bus/standby/core/broker_model_testing.h"

namespace league::league_manager::stream {
namespace {

using namespace std::chrono_literals;

/// One manager with a broker that answers at once, and a journal that is flushed when the test
/// says.
class Bench {
 public:
  explicit Bench(std::string name, bool begins = true)
      : replica_({.name = std::move(name), .begins_leagues = begins}, {}, 0ms) {}

  template <typename T>
  [[nodiscard]] std::vector<T> all() const {
    std::vector<T> found;
    for (const Effect& effect : done_)
      if (const T* each = std::get_if<T>(&effect)) found.push_back(*each);
    return found;
  }
  void give(const Fact& fact) { carry_out(replica_.handle(now_, fact)); }
  void append(std::vector<journal::EventRecord> records) {
    carry_out(replica_.append(now_, std::move(records)));
  }
  void wait(Time duration) {
    for (const Time end = now_ + duration; now_ < end; now_ += 100ms) give(Tick{0});
  }
  void lead() {
    wait(700ms);
    EXPECT_EQ(all<Lead>().size(), 1U);
  }
  /// The heartbeat of a stand-by `name` that has heard ours.
  [[nodiscard]] Heartbeat standby(const std::string& name, const JournalPosition& journal) const {
    return {name, 1, 1, false, journal, {}, {}, now_, {{"A", now_, false}}};
  }
  [[nodiscard]] std::uint64_t released() const {
    const auto all_released = all<Release>();
    return all_released.empty() ? 0 : all_released.back().sequence;
  }

  testing::BrokerModel broker_;
  Time now_{0};
  bool is_silent_ = false;
  std::vector<Effect> done_;
  std::vector<journal::EventRecord> journal_;
  Replica replica_;

 private:
  void carry_out(const Effects& effects) {
    for (const Effect& effect : effects) {
      done_.push_back(effect);
      if (const auto* store = std::get_if<Store>(&effect))
        journal_.insert(journal_.end(), store->records.begin(), store->records.end());
      if (is_silent_) continue;
      if (const auto* sent = std::get_if<Publish>(&effect)) {
        Publish filled = *sent;
        for (auto i = filled.message.first; i > 0 && i <= filled.message.last; ++i)
          filled.message.records.push_back(journal_.at(i - 1));
        give(broker_.publish(filled));
      }
      if (const auto* read = std::get_if<Read>(&effect)) give(broker_.read(*read));
      if (const auto* look = std::get_if<Inspect>(&effect))
        give(Inspected{look->sent, broker_.streams()});
      if (const auto* follow = std::get_if<Follow>(&effect))
        for (std::uint64_t i = follow->sequence;; ++i) {
          const auto found = broker_.read({follow->incarnation, i});
          if (!found.message) break;
          give(Delivered{follow->incarnation, i, *found.message});
        }
    }
  }
};

JournalPosition position(const std::vector<journal::EventRecord>& records) {
  JournalPosition at;
  for (const auto& record : records) at = {at.sequence + 1, journal::chained(at.digest, record)};
  return at;
}

TEST(Replica, BeginsALeagueWithAnIncarnationThatItLeads) {
  Bench a("A");
  a.lead();
  ASSERT_NE(a.broker_.messages(1), nullptr);
  EXPECT_EQ(a.broker_.messages(1)->at(0).kind, MessageKind::kOpen);
  EXPECT_EQ(a.replica_.status(a.now_).leader, "A");
}

TEST(Replica, AStandbyBeginsNone) {
  Bench b("B", false);
  b.wait(20s);
  EXPECT_TRUE(b.all<Publish>().empty());
  EXPECT_NE(b.replica_.status(b.now_).waits_for, "");
}

TEST(Replica, AnswersWhenFlushedAndStored) {
  Bench a("A");
  a.lead();
  a.append({{"E", "1"}, {"E", "2"}});
  EXPECT_EQ(a.released(), 0U);
  a.give(Flushed{2});
  EXPECT_EQ(a.released(), 2U);

  a.is_silent_ = true;
  a.append({{"E", "3"}});
  a.give(Flushed{3});
  EXPECT_EQ(a.released(), 2U);
}

TEST(Replica, WaitsForAStandbyInSyncAndNotForASilentOne) {
  Bench a("A");
  a.lead();
  a.give(a.standby("B", {}));
  a.append({{"E", "1"}});
  a.give(Flushed{1});
  EXPECT_EQ(a.released(), 0U);
  EXPECT_NE(a.replica_.status(a.now_).waits_for.find("B"), std::string::npos);
  a.give(a.standby("B", position(a.journal_)));
  EXPECT_EQ(a.released(), 1U);

  a.append({{"E", "2"}});
  a.give(Flushed{2});
  a.wait(9s);
  EXPECT_EQ(a.released(), 1U);
  a.wait(4s);
  EXPECT_EQ(a.released(), 2U);
}

TEST(Replica, ABigBatchGoesInPieces) {
  Bench a("A");
  a.lead();
  a.append({{"E", std::string(400'000, 'x')}, {"E", std::string(400'000, 'y')}});
  const auto& messages = *a.broker_.messages(1);
  EXPECT_TRUE(messages.at(messages.size() - 2).has_more);
  EXPECT_FALSE(messages.back().has_more);
  EXPECT_EQ(messages.back().last, 2U);
}

TEST(Replica, AFullStorePausesTheLeague) {
  Bench a("A");
  a.lead();
  a.broker_.set_full(true);
  a.append({{"E", "1"}});
  ASSERT_EQ(a.all<Pause>().size(), 1U);
  EXPECT_TRUE(a.all<Pause>().back().is_paused);
  a.wait(1s);
  EXPECT_NE(a.replica_.status(a.now_).waits_for.find("full"), std::string::npos);
  EXPECT_TRUE(a.all<End>().empty());
  a.broker_.set_full(false);
  a.wait(2s);
  EXPECT_FALSE(a.all<Pause>().back().is_paused);
}

TEST(Replica, EndsWhenAnotherLeads) {
  Bench a("A");
  a.lead();
  Message other{.kind = MessageKind::kClaim, .writer = "B", .term = 2};
  other.previous = a.broker_.messages(1)->back().id;
  other.id = message_id(other);
  (void)a.broker_.publish({1, a.broker_.messages(1)->size(), true, other});
  a.append({{"E", "1"}});
  ASSERT_EQ(a.all<End>().size(), 1U);
  a.give(Flushed{1});
  EXPECT_EQ(a.released(), 0U);
}

TEST(Replica, RecoversAnEmptiedStreamInANewIncarnation) {
  Bench a("A");
  a.lead();
  a.append({{"E", "1"}});
  a.give(Flushed{1});
  a.wait(2s);
  a.broker_.empty();
  a.wait(2s);
  ASSERT_NE(a.broker_.messages(2), nullptr);
  EXPECT_EQ(a.broker_.messages(2)->at(1).records, a.journal_);
  EXPECT_EQ(a.broker_.messages(1), nullptr);
  EXPECT_TRUE(a.replica_.is_leading());
}

TEST(Replica, AFollowerTakesOverWhenTheLeaderIsSilent) {
  Bench a("A");
  a.lead();
  a.append({{"E", "1"}});
  Bench b("B", false);
  b.broker_ = a.broker_;
  b.wait(1s);
  EXPECT_EQ(b.journal_, a.journal_);
  b.wait(4s);
  EXPECT_TRUE(b.all<Lead>().empty());
  b.wait(2s);
  EXPECT_EQ(b.all<Lead>().size(), 1U);
}

TEST(Replica, AFollowerIgnoresAnUnfinishedBatch) {
  Bench a("A");
  a.lead();
  Message piece{.writer = "A", .term = 1, .first = 1, .last = 1, .records = {{"E", "1"}}};
  piece.has_more = true;
  piece.previous = a.broker_.messages(1)->back().id;
  piece.id = message_id(piece);
  (void)a.broker_.publish({1, a.broker_.messages(1)->size(), true, piece});
  Bench b("B");
  b.broker_ = a.broker_;
  b.wait(8s);
  EXPECT_TRUE(b.replica_.is_leading());
  EXPECT_TRUE(b.journal_.empty());
}

TEST(Replica, WaitsForTheManagerThatMayHaveMoreUntilTheOperatorDecides) {
  Bench a("A");
  a.lead();
  a.append({{"E", "1"}});
  Bench b("B", false);
  b.broker_ = a.broker_;
  b.give(a.standby("A", {}));
  b.wait(1s);
  b.give(Flushed{1});
  b.broker_.empty();
  b.wait(15s);
  EXPECT_TRUE(b.all<Publish>().empty());
  EXPECT_NE(b.replica_.status(b.now_).waits_for.find("waits for A"), std::string::npos);
  b.give(LoseAfter{7});
  EXPECT_TRUE(b.all<Publish>().empty());
  b.give(LoseAfter{1});
  b.wait(1s);
  EXPECT_TRUE(b.replica_.is_leading());
  EXPECT_EQ(b.broker_.messages(2)->back().lose_after, 1U);
}

}  // namespace
}  // namespace league::league_manager::stream
