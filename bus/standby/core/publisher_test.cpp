#include "bus/standby/core/publisher.h"

#include <gtest/gtest.h>

namespace league::league_manager::stream {
namespace {

using namespace std::chrono_literals;
using Status = Published::Status;

/// A publisher behind message 7 of incarnation 2, which publishes one message at 0 ms.
class PublisherTest : public ::testing::Test {
 protected:
  PublisherTest() {
    publisher_.begin_after({2, 7, core::sha256("before")});
    publisher_.publish(0ms, {.writer = "A", .first = 1, .last = 1}, effects_);
    sent_ = std::get<Publish>(effects_.at(0));
    effects_.clear();
  }
  Publisher::Outcome answer(Status status, std::uint64_t sequence = 0) {
    return publisher_.on_published(5ms, {2, sent_.message.id, status, sequence, "broker's words"},
                                   effects_);
  }
  Publisher::Outcome found(std::uint64_t sequence, std::optional<Message> message) {
    return publisher_.on_read({2, sequence, std::move(message)}, effects_);
  }
  Message successor(const std::string& writer) const {
    Message message{
        .kind = MessageKind::kClaim, .writer = writer, .previous = sent_.message.previous};
    message.id = message_id(message);
    return message;
  }

  Publisher publisher_{Rules{}, Timing{}};
  Effects effects_;
  Publish sent_;
};

TEST_F(PublisherTest, NamesSequenceAndIdThatItExpects) {
  EXPECT_EQ(sent_.expected_sequence, 7U);
  EXPECT_EQ(sent_.message.previous, core::sha256("before"));
  EXPECT_EQ(sent_.message.id, message_id(sent_.message));
}

TEST_F(PublisherTest, IsDoneWhenStored) {
  EXPECT_TRUE(std::holds_alternative<Publisher::Stored>(answer(Status::kStored, 8)));
  EXPECT_TRUE(publisher_.is_idle());
  EXPECT_EQ(publisher_.position(), (StreamPosition{2, 8, sent_.message.id}));
}

TEST_F(PublisherTest, PublishesTheSameAgainAfterSilenceOrAnyOtherError) {
  for (const Status status : {Status::kFailed, Status::kFull}) {
    EXPECT_TRUE(std::holds_alternative<std::monostate>(answer(status)));
    EXPECT_EQ(publisher_.trouble(), "broker's words");
    EXPECT_EQ(publisher_.is_full(), status == Status::kFull);
  }
  publisher_.on_tick(999ms, effects_);
  EXPECT_TRUE(effects_.empty());
  publisher_.on_tick(1000ms, effects_);
  const auto& again = std::get<Publish>(effects_.at(0));
  EXPECT_EQ(again.message, sent_.message);
  EXPECT_EQ(again.expected_sequence, sent_.expected_sequence);
}

TEST_F(PublisherTest, ReadsAfterAConflictAndFindsItsOwnMessage) {
  EXPECT_TRUE(std::holds_alternative<std::monostate>(answer(Status::kConflict)));
  EXPECT_EQ(std::get<Read>(effects_.at(0)).sequence, 8U);
  EXPECT_TRUE(std::holds_alternative<Publisher::Stored>(found(8, sent_.message)));
}

TEST_F(PublisherTest, IsRefusedByAnothersMessage) {
  (void)answer(Status::kConflict);
  const auto outcome = found(8, successor("B"));
  EXPECT_EQ(std::get<Publisher::Refused>(outcome).writer, "B");
  EXPECT_TRUE(std::get<Publisher::Refused>(outcome).is_successor);
}

TEST_F(PublisherTest, SeesThatTheStreamWasMadeAgainWithAsManyMessages) {
  (void)answer(Status::kConflict);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(found(8, std::nullopt)));
  EXPECT_EQ(std::get<Read>(effects_.back()).sequence, 7U);
  const auto outcome = found(7, successor("stranger"));
  EXPECT_FALSE(std::get<Publisher::Refused>(outcome).is_successor);
}

TEST_F(PublisherTest, DecidesNothingWhenNothingIsFound) {
  (void)answer(Status::kConflict);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(found(8, std::nullopt)));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(found(7, std::nullopt)));
  EXPECT_FALSE(publisher_.is_idle());
}

TEST_F(PublisherTest, IgnoresAnswersToOtherMessages) {
  const Published other{2, core::sha256("other"), Status::kStored, 8, ""};
  EXPECT_TRUE(
      std::holds_alternative<std::monostate>(publisher_.on_published(5ms, other, effects_)));
  EXPECT_FALSE(publisher_.is_idle());
}

TEST(MessageId, CoversThePlaceOfTheMessage) {
  Message message{.writer = "A", .first = 1, .last = 2, .digest = core::sha256("entry 2")};
  const core::Digest first = message_id(message);
  message.previous = first;
  EXPECT_NE(message_id(message), first);
}

}  // namespace
}  // namespace league::league_manager::stream
