#include "bus/standby/core/publisher.h"

#include <utility>

#include "common/journal/journal_mark.h"

namespace league::league_manager::stream {

core::Digest message_id(const Message& message) {
  std::string text = std::to_string(static_cast<int>(message.kind));
  for (const std::uint64_t number :
       {message.term, message.first, message.last, message.lose_after.value_or(0),
        std::uint64_t{message.has_more}})
    text.append(" ").append(std::to_string(number));
  text.append(" ").append(core::to_hex(message.digest));
  return journal::chained(message.previous, {message.writer, text});
}

void Publisher::begin_after(const StreamPosition& position) {
  position_ = position;
  message_.reset();
  is_reading_ = false;
  is_full_ = false;
  trouble_.clear();
}

void Publisher::publish(Time now, Message message, Effects& effects) {
  message.previous = position_.id;
  message.id = message_id(message);
  message_ = std::move(message);
  sent_ = now;
  send(now, effects);
}

void Publisher::send(Time now, Effects& effects) {
  tried_ = now;
  if (is_reading_) {
    effects.push_back(Read{position_.incarnation, position_.sequence + 1});
    return;
  }
  Publish publish{position_.incarnation, std::nullopt, rules_.expects_id, *message_};
  if (rules_.expects_sequence) publish.expected_sequence = position_.sequence;
  effects.push_back(std::move(publish));
}

void Publisher::on_tick(Time now, Effects& effects) {
  if (!message_ || now - tried_ < timing_.again || !rules_.publishes_again) return;
  if (!rules_.keeps_id) message_->id[0] ^= 0x55;
  // A read that finds nothing proves nothing: the stream's leader may be behind. So both are tried
  // in turn.
  is_reading_ = false;
  send(now, effects);
}

Publisher::Outcome Publisher::store(std::uint64_t sequence) {
  position_ = {position_.incarnation, sequence, message_->id};
  Stored stored{std::move(*message_), sent_};
  message_.reset();
  is_reading_ = false;
  is_full_ = false;
  trouble_.clear();
  return stored;
}

Publisher::Outcome Publisher::on_published(Time now, const Published& answer, Effects& effects) {
  // The answer to a repetition of an earlier message may be late.
  if (!message_ || answer.incarnation != position_.incarnation || answer.id != message_->id)
    return {};
  switch (answer.status) {
    case Published::Status::kStored:
      // At another place it would be another message with our id; no message has two places.
      if (rules_.expects_sequence && answer.sequence != position_.sequence + 1) return {};
      return store(answer.sequence);
    case Published::Status::kConflict:
      if (!rules_.reads_after_conflict) return Refused{"another manager", true};
      is_reading_ = true;
      send(now, effects);
      return {};
    case Published::Status::kFull:
    case Published::Status::kFailed:
      is_full_ = answer.status == Published::Status::kFull;
      trouble_ = answer.why;
      if (!rules_.only_conflict_ends) return Refused{answer.why, true};
      return {};
  }
  return {};
}

Publisher::Outcome Publisher::on_read(const ReadDone& answer, Effects& effects) {
  if (!message_ || !is_reading_ || answer.incarnation != position_.incarnation) return {};
  if (answer.sequence == position_.sequence) {  // is our last message still there?
    if (answer.message && answer.message->id != position_.id)
      return Refused{answer.message->writer, false};
    return {};
  }
  if (answer.sequence != position_.sequence + 1) return {};
  if (!answer.message) {
    if (position_.sequence > 0) effects.push_back(Read{position_.incarnation, position_.sequence});
    return {};
  }
  const Message& found = *answer.message;
  if (found.id == message_->id) return store(answer.sequence);
  if (!rules_.ends_at_others_message) {  // it writes behind the other's message
    position_ = {position_.incarnation, answer.sequence, found.id};
    is_reading_ = false;
    message_->previous = position_.id;
    message_->id = message_id(*message_);
    return {};
  }
  return Refused{found.writer, found.previous == message_->previous};
}

}  // namespace league::league_manager::stream
