#include <algorithm>
#include <utility>

#include "bus/standby/core/replica.h"

namespace league::league_manager::stream {

void Replica::follow(std::uint64_t incarnation) {
  role_ = Role::kFollowing;
  cursor_ = {incarnation, 0, {}};
  publisher_.begin_after(cursor_);
  read_ = {};
  staged_.clear();
  complete_ = 0;
  is_confirmed_ = false;
  may_put_aside_ = false;
  is_loss_decided_ = false;
  stream_term_ = 0;
  tail_writer_.clear();
  lost_at_.reset();
  claim_at_.reset();
  leader_heard_ = now_;
  highest_ = std::max(highest_, incarnation);
  read_on();
}

void Replica::read_on() {
  delivered_ = now_;
  effects_.push_back(Follow{cursor_.incarnation, cursor_.sequence + 1});
}

void Replica::on(const Delivered& delivery) {
  if (role_ != Role::kFollowing || delivery.incarnation != cursor_.incarnation ||
      delivery.sequence <= cursor_.sequence)
    return;
  if (delivery.sequence != cursor_.sequence + 1) {
    if (now_ - delivered_ >= timing_.heartbeat) read_on();
    return;
  }
  delivered_ = now_;
  const Message& message = delivery.message;
  const bool is_first = message.kind == MessageKind::kOpen;
  if (message.previous != cursor_.id || message.id != message_id(message) ||
      is_first != (cursor_.sequence == 0))
    return lose_stream("message " + std::to_string(delivery.sequence) + " does not continue it");
  cursor_.sequence = delivery.sequence;
  cursor_.id = message.id;
  tail_writer_ = message.writer;
  leader_heard_ = now_;
  claim_at_.reset();
  stream_term_ = std::max(stream_term_, message.term);
  highest_term_ = std::max(highest_term_, message.term);
  switch (message.kind) {
    case MessageKind::kOpen:
      return;
    case MessageKind::kEntries:
      return read_entries(message);
    case MessageKind::kClaim:
      // The writer does not know an unfinished batch.
      if (rules_.ignores_unfinished) staged_.resize(complete_);
      return;
    case MessageKind::kAffirm:
      return read_affirm(message);
  }
}

void Replica::read_entries(const Message& message) {
  if (message.first != read_.sequence + staged_.size() + 1)
    return lose_stream("entry " + std::to_string(message.first) + " is out of order in it");
  staged_.insert(staged_.end(), message.records.begin(), message.records.end());
  if (!message.has_more || !rules_.ignores_unfinished) complete_ = staged_.size();
  take_complete();
}

/// Appends what counts to the local journal. Nothing counts before the incarnation has a leader:
/// who opened it may have been too late.
void Replica::take_complete() {
  if (!is_confirmed_ || complete_ == 0) return;
  Store store{0, {}};
  for (std::size_t i = 0; i < complete_; ++i) {
    const auto& record = staged_[i];
    read_ = {read_.sequence + 1, journal::chained(read_.digest, record)};
    if (read_.sequence <= entries_.size()) {
      if (entries_[read_.sequence - 1].digest == read_.digest) continue;
      if (!put_aside_after(read_.sequence - 1)) return;
    }
    if (store.records.empty()) store.first = read_.sequence;
    entries_.push_back({read_.digest,
                        static_cast<std::uint32_t>(record.type.size() + record.payload.size()),
                        i + 1 == complete_});
    store.records.push_back(record);
  }
  staged_.erase(staged_.begin(), staged_.begin() + static_cast<std::ptrdiff_t>(complete_));
  complete_ = 0;
  if (!store.records.empty()) effects_.push_back(std::move(store));
  note_kept();
}

void Replica::read_affirm(const Message& message) {
  is_confirmed_ = true;
  const bool is_new = message.term > knowledge_.term ||
                      cursor_.incarnation > knowledge_.incarnation ||
                      (message.term == knowledge_.term && message.writer != knowledge_.leader);
  if (is_new) {
    may_put_aside_ = message.writer != options_.name;
    is_loss_decided_ = message.lose_after.has_value();
  }
  take_complete();
  if (!is_new || role_ != Role::kFollowing) return;
  // The leader publishes next what it has and the stream does not: we may have that from an earlier
  // leader, and must keep it until then.
  std::uint64_t kept = read_.sequence;
  if (message.last > entries_.size()) kept = entries_.size();
  if (message.last > kept && position_at(message.last).digest == message.digest)
    kept = message.last;
  if (!is_loss_decided_) kept = std::max(kept, knowledge_.kept);
  if (may_put_aside_ && entries_.size() > kept && !put_aside_after(kept)) return;
  knowledge_.incarnation = cursor_.incarnation;
  knowledge_.term = message.term;
  knowledge_.leader = leader_ = message.writer;
  remember();
}

void Replica::note_kept() {
  const JournalPosition& acknowledged = knowledge_.acknowledged;
  if (acknowledged == position_at(acknowledged.sequence))
    knowledge_.kept = std::max(knowledge_.kept, acknowledged.sequence);
  if (knowledge_.kept > 0 && remembered_.kept == 0) remember();
}

/// What we have and a new leader does not was never acknowledged, or the operator gave it up.
/// False: it was acknowledged, or there is no new leader, or the leader is another league's, since
/// only one manager begins a league.
bool Replica::put_aside_after(std::uint64_t sequence) {
  if (!rules_.puts_tail_aside) return true;
  if (!may_put_aside_ || sequence == 0 || (knowledge_.kept > sequence && !is_loss_decided_)) {
    lose_stream("it contradicts entry " + std::to_string(sequence + 1) +
                " of this journal, and is perhaps another league's");
    return false;
  }
  if (knowledge_.kept > sequence) knowledge_.acknowledged = position_at(sequence);
  knowledge_.kept = std::min(knowledge_.kept, sequence);
  effects_.push_back(PutAside{sequence});
  say("entries " + std::to_string(sequence + 1) + " to " + std::to_string(entries_.size()) +
      " of this journal were never acknowledged and are put aside");
  entries_.resize(sequence);
  if (sequence > 0) entries_.back().ends_batch = true;
  flushed_ = std::min(flushed_, sequence);
  for (auto& [name, peer] : peers_) peer.confirmed = std::min(peer.confirmed, sequence);
  return true;
}

void Replica::hear_leader(const Heartbeat& heard) {
  const bool is_newer = heard.incarnation > cursor_.incarnation;
  if (is_publishing() || has_led_) {
    if (!rules_.newer_ends_older) return;
    const bool is_higher =
        heard.incarnation == cursor_.incarnation && heard.term > knowledge_.term && has_led_;
    if (is_newer || is_higher)
      end(heard.name + " leads, in incarnation " + std::to_string(heard.incarnation));
    return;
  }
  if (heard.incarnation < cursor_.incarnation || heard.term < knowledge_.term) return;
  leader_heard_ = now_;
  claim_at_.reset();
  leader_ = heard.name;
  for (const auto& [name, sent, is_in_sync] : heard.heard) {
    if (name != options_.name || !is_in_sync || sent > now_ || sent <= doubt_since_) continue;
    listed_ = std::max(listed_, sent);
    if (now_ - sent < timing_.doubt) is_in_doubt_ = false;
  }
}

void Replica::claim_if_silent(double random) {
  const auto stream = std::ranges::find(seen_, cursor_.incarnation, &StreamInfo::incarnation);
  const bool is_at_end = stream != seen_.end() && stream->last == cursor_.sequence;
  if (!has_league() || cursor_.sequence == 0 || !is_at_end || now_ - contact_ > timing_.again)
    return;
  // After a restart, nobody else can be the leader that wrote last.
  const bool is_ours = tail_writer_ == options_.name;
  if (!claim_at_)
    claim_at_ =
        leader_heard_ +
        (is_ours ? timing_.present
                 : timing_.silence + std::chrono::duration_cast<Time>(random * timing_.jitter));
  if (now_ < *claim_at_ && rules_.waits_for_silence) return;
  if (!is_confirmed_) return lose_stream("who opened it has not finished");
  const bool is_term_missing = std::ranges::any_of(peers_, [this](const auto& peer) {
    return peer.second.last.term > stream_term_ && now_ - peer.second.heard < timing_.present;
  });
  if (is_term_missing || knowledge_.acknowledged.sequence > read_.sequence ||
      (entries_.size() > read_.sequence && knowledge_.leader != options_.name))
    return lose_stream("it ends before entries that were read in it");
  decided_on_ = seen_;
  term_ = highest_term_ + 1;
  begin_publishing(Role::kClaiming, cursor_, read_.sequence + 1);
}

}  // namespace league::league_manager::stream
