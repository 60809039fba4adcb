#include <algorithm>
#include <utility>

#include "bus/standby/core/replica.h"

namespace league::league_manager::stream {

Effects Replica::append(Time now, std::vector<journal::EventRecord> records) {
  now_ = now;
  effects_.clear();
  if (role_ == Role::kEnded || !has_led_) return {};
  Store store{entries_.size() + 1, {}};
  for (const auto& record : records) {
    const core::Digest before = entries_.empty() ? core::Digest{} : entries_.back().digest;
    entries_.push_back({journal::chained(before, record),
                        static_cast<std::uint32_t>(record.type.size() + record.payload.size()),
                        false});
  }
  entries_.back().ends_batch = true;
  store.records = std::move(records);
  effects_.push_back(std::move(store));
  if (role_ == Role::kLeading) pump();
  return std::exchange(effects_, {});
}

void Replica::begin_publishing(Role role, const StreamPosition& after, std::uint64_t next) {
  role_ = role;
  cursor_ = after;
  next_ = next;
  acknowledged_ = next - 1;
  publisher_.begin_after(after);
  pump();
}

void Replica::on_outcome(const Publisher::Outcome& outcome) {
  if (!is_publishing()) return;
  if (const auto* stored = std::get_if<Publisher::Stored>(&outcome)) on_stored(*stored);
  if (const auto* refused = std::get_if<Publisher::Refused>(&outcome)) on_refused(*refused);
}

void Replica::on_stored(const Publisher::Stored& stored) {
  cursor_ = publisher_.position();
  stored_sent_ = stored.sent;
  const Message& message = stored.message;
  switch (message.kind) {
    case MessageKind::kOpen:
      break;
    case MessageKind::kEntries:
      next_ = message.last + 1;
      if (!message.has_more) acknowledged_ = message.last;
      break;
    case MessageKind::kClaim:
      role_ = Role::kChecking;
      inspect();
      break;
    case MessageKind::kAffirm:
      // If the answer is late, another manager may lead by now: it writes again.
      if (role_ == Role::kAffirming && now_ - stored.sent < timing_.doubt) lead();
      break;
  }
  pump();
  release();
}

void Replica::pause_if_full() {
  if (!has_led_ || publisher_.is_full() == is_paused_) return;
  is_paused_ = publisher_.is_full();
  effects_.push_back(Pause{is_paused_});
}

void Replica::on_refused(const Publisher::Refused& refused) {
  if (has_led_ && refused.is_successor) return end(refused.writer + " leads instead");
  // The stream was deleted and made again.
  if (!refused.is_successor && cursor_.sequence > 0)
    return lose_stream("it was made again, and has messages of " + refused.writer);
  if (has_led_) return end(refused.writer + " leads instead");
  if (cursor_.sequence == 0) return follow(cursor_.incarnation);
  publisher_.begin_after(cursor_);
  role_ = Role::kFollowing;  // behind, or lost: it reads on
  leader_heard_ = now_;
  claim_at_.reset();
  read_on();
}

/// Publishes what is next.
void Replica::pump() {
  if (!publisher_.is_idle()) return;
  switch (role_) {
    case Role::kOpening:
      if (cursor_.sequence == 0) return publish_control(MessageKind::kOpen);
      if (next_ <= entries_.size()) return publish_entries();
      role_ = Role::kClaiming;
      return publish_control(MessageKind::kClaim);
    case Role::kClaiming:
      return publish_control(MessageKind::kClaim);
    case Role::kAffirming:
      return publish_control(MessageKind::kAffirm);
    case Role::kLeading:
      if (next_ <= entries_.size()) return publish_entries();
      if (now_ - publisher_.sent() >= timing_.affirm) publish_control(MessageKind::kAffirm);
      return;
    case Role::kFollowing:
    case Role::kLost:
    case Role::kChecking:
    case Role::kEnded:
      return;
  }
}

void Replica::publish_entries() {
  std::uint64_t last = 0;
  std::uint64_t whole = 0;  // up to the last end of a batch
  std::size_t bytes = 0;
  for (std::uint64_t next = next_; next <= entries_.size(); ++next) {
    const Entry& entry = entries_[next - 1];
    bytes += entry.bytes;
    if (bytes > timing_.piece && last != 0) break;
    last = next;
    if (entry.ends_batch) whole = next;
  }
  if (whole != 0) last = whole;
  Message message{.kind = MessageKind::kEntries, .writer = options_.name, .term = term_};
  message.first = next_;
  message.last = last;
  message.has_more = whole == 0;
  message.digest = entries_[last - 1].digest;
  publisher_.publish(now_, std::move(message), effects_);
}

void Replica::publish_control(MessageKind kind) {
  Message message{.kind = kind, .writer = options_.name, .term = term_};
  message.last = entries_.size();
  message.digest = position_at(message.last).digest;
  message.members = knowledge_.members;
  message.lose_after = lose_after_;
  publisher_.publish(now_, std::move(message), effects_);
}

void Replica::lead() {
  role_ = Role::kLeading;
  sure_ = stored_sent_;
  // The last leader listed stand-bys that may recover the journal for as long as that counts. We
  // are one of them, so we wait for the others as well.
  for (auto& [name, peer] : peers_) {
    peer.confirmed = 0;
    peer.listed = peer.heard;
    peer.progressed = now_;
    peer.is_in_sync =
        peer.is_in_sync || (now_ - peer.heard < timing_.patience && name != knowledge_.leader);
  }
  knowledge_.incarnation = cursor_.incarnation;
  knowledge_.term = term_;
  knowledge_.leader = leader_ = options_.name;
  remember();
  if (!std::exchange(has_led_, true)) {
    released_ = acknowledged_;
    effects_.push_back(Lead{term_});
  }
  beat();
}

/// The last entry that may be answered. Drops stand-bys that were silent for too long, once the
/// stream has taken a message that was sent afterwards: were it lost, such a stand-by might be the
/// one that recovers the journal, without the entries that it has not confirmed.
std::uint64_t Replica::release_limit() {
  std::uint64_t limit = entries_.size();
  if (rules_.waits_for_flush) limit = std::min(limit, flushed_);
  if (rules_.waits_for_stream) limit = std::min(limit, acknowledged_);
  for (auto& [name, peer] : peers_) {
    if (verified_ > std::min(peer.heard, peer.listed) + timing_.patience) peer.is_in_sync = false;
    if (peer.is_in_sync && rules_.waits_for_standbys) limit = std::min(limit, peer.confirmed);
  }
  return limit;
}

void Replica::release() {
  if (role_ != Role::kLeading) return;
  const std::uint64_t limit = release_limit();
  if (limit <= released_) return;
  released_ = limit;
  knowledge_.acknowledged = position_at(limit);
  note_kept();
  effects_.push_back(Release{limit});
}

}  // namespace league::league_manager::stream
