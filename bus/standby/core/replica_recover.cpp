#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "bus/standby/core/replica.h"

namespace league::league_manager::stream {
namespace {

const StreamInfo* find(const std::vector<StreamInfo>& streams, std::uint64_t incarnation) {
  const auto found = std::ranges::find(streams, incarnation, &StreamInfo::incarnation);
  return found == streams.end() ? nullptr : &*found;
}

std::uint64_t newest(const std::vector<StreamInfo>& streams) {
  std::uint64_t number = 0;
  for (const StreamInfo& each : streams)
    if (each.last > 0) number = std::max(number, each.incarnation);
  return number;
}

}  // namespace

void Replica::on(const Inspected& seen) {
  contact_ = std::max(contact_, seen.sent);
  notice_gap();
  if (seen.sent != inspected_) return;
  is_inspecting_ = false;
  seen_ = seen.streams;
  if (is_publishing()) return look_while_publishing(seen);
  look_while_reading(seen);
}

/// Whether our stream lacks messages that we knew when we asked, or older ones.
bool Replica::is_damaged(const std::vector<StreamInfo>& streams) const {
  const StreamInfo* ours = find(streams, cursor_.incarnation);
  if (asked_at_.incarnation != cursor_.incarnation) return false;
  // Before its first message is stored, a new one may be missing or empty.
  if (is_publishing() && asked_at_.sequence == 0)
    return ours != nullptr && ours->messages < ours->last;
  if (ours == nullptr) return cursor_.incarnation > 0;
  return ours->last < asked_at_.sequence || ours->messages < ours->last || ours->last == 0;
}

/// Whether no other stream has changed since we decided to publish.
bool Replica::is_alone(const std::vector<StreamInfo>& streams) const {
  return std::ranges::all_of(streams, [this](const StreamInfo& each) {
    const StreamInfo* then = find(decided_on_, each.incarnation);
    return each.incarnation == cursor_.incarnation || each.messages == 0 ||
           (then != nullptr && *then == each);
  });
}

void Replica::look_while_publishing(const Inspected& seen) {
  if (newest(seen.streams) > cursor_.incarnation && rules_.newer_ends_older)
    return end("incarnation " + std::to_string(newest(seen.streams)) + " of the journal is newer");
  if (is_damaged(seen.streams) && rules_.opens_incarnation)
    return lose_stream("it was emptied, shortened or deleted");
  verified_ = covers_;
  if (role_ == Role::kChecking) {
    if (rules_.newer_ends_older && !is_alone(seen.streams))
      return end("another manager has published the journal as well");
    role_ = Role::kAffirming;
    pump();
  }
  if (role_ != Role::kLeading) return;
  sure_ = std::max(sure_, verified_);
  // A full store takes nothing, from others neither.
  const StreamInfo* ours = find(seen.streams, cursor_.incarnation);
  if (publisher_.is_full() && ours != nullptr && ours->last == cursor_.sequence)
    sure_ = std::max(sure_, seen.sent);
  // The stream took what we sent after we had been cut off, so nobody had taken the lead.
  if (verified_ > doubt_since_) is_in_doubt_ = false;
  release();
}

void Replica::look_while_reading(const Inspected& seen) {
  const std::uint64_t number = newest(seen.streams);
  if (number > cursor_.incarnation) {
    if (has_led_) return end("incarnation " + std::to_string(number) + " of the journal is newer");
    return follow(number);
  }
  if (role_ == Role::kLost) {
    // Who opened ours was only slow; or another has recovered the journal, and knew fewer
    // incarnations.
    for (const auto& [name, peer] : peers_) {
      const bool leads = peer.last.is_leading && now_ - peer.heard < timing_.present;
      const bool is_gone = peer.last.incarnation == cursor_.incarnation && is_damaged(seen.streams);
      if (leads && !has_led_ && !is_gone && peer.last.term >= knowledge_.term &&
          find(seen.streams, peer.last.incarnation) != nullptr)
        return follow(peer.last.incarnation);
    }
    return recover_if_whole();
  }
  if (cursor_.incarnation == 0) {
    if (entries_.empty() && options_.begins_leagues) return open();
    if (!entries_.empty()) lose_stream("there is none");
    return;
  }
  if (is_damaged(seen.streams)) return lose_stream("it was emptied, shortened or deleted");
  const StreamInfo* ours = find(seen.streams, cursor_.incarnation);
  // The consumer may have been lost.
  if (ours != nullptr && ours->last > cursor_.sequence &&
      (now_ - delivered_ >= timing_.again || cursor_.sequence == 0))
    read_on();
}

void Replica::lose_stream(const std::string& why) {
  const std::string stream = "stream " + std::to_string(cursor_.incarnation);
  say(stream + " of the journal cannot be used: " + why);
  role_ = Role::kLost;
  lost_at_ = now_;
  publisher_.begin_after(cursor_);
}

void Replica::recover_if_whole() {
  if (!has_league()) return;
  if (!rules_.recovers_only_whole || is_whole_alone() || missing_managers().empty()) open();
}

/// Whether this manager certainly has every entry that was acknowledged, whatever became of the
/// others: it has led until its stream was lost, or the leader waited for it, and it was never cut
/// off from the broker.
bool Replica::is_whole_alone() const {
  if (is_in_doubt_) return false;
  if (has_led_) return true;
  // The leader goes first, if it is still there. It stops waiting for us `patience` after listed_;
  // a successor, which has heard us at about the same time, may do so a little earlier.
  const Time margin = 2 * timing_.again;
  return *lost_at_ < listed_ + timing_.patience - margin &&
         now_ > std::max(leader_heard_, listed_) + timing_.silence;
}

/// The managers without which we cannot know that our journal is whole: those that we do not hear,
/// or one that has more. Empty: everybody is there, and we are the one to go on.
std::string Replica::missing_managers() const {
  std::string missing;
  // Of those that have the same, the leader goes first.
  const auto rank = [this](std::string_view name, std::uint64_t term, std::uint64_t sequence) {
    return std::tuple(sequence > 0 ? term : 0, sequence, name == knowledge_.leader);
  };
  const auto ours = rank(options_.name, knowledge_.term, flushed_);
  for (const std::string& name : knowledge_.members) {
    const auto peer = peers_.find(name);
    // It answers: a heartbeat alone may be an old one.
    const bool is_present = peer != peers_.end() && peer->second.answered > *lost_at_ &&
                            now_ - peer->second.answered < timing_.present;
    const auto theirs =
        is_present ? rank(name, peer->second.last.term, peer->second.last.journal.sequence) : ours;
    const bool is_ahead = is_present && (peer->second.last.is_leading || theirs > ours ||
                                         (theirs == ours && flushed_ > 0 && name < options_.name));
    if (!is_present || is_ahead) missing += (missing.empty() ? "" : ", ") + name;
  }
  return missing;
}

void Replica::open() {
  decided_on_ = seen_;
  for (const StreamInfo& each : seen_) highest_ = std::max(highest_, each.incarnation);
  if (rules_.opens_incarnation || highest_ == 0) ++highest_;
  term_ = std::max(highest_term_, term_) + 1;
  // A league begins once, even if nothing of it is left.
  if (knowledge_.incarnation == 0) {
    knowledge_.incarnation = highest_;
    remember();
  }
  begin_publishing(Role::kOpening, {highest_, 0, {}}, 1);
}

void Replica::on(const LoseAfter& decision) {
  if (role_ != Role::kLost || decision.sequence != flushed_)
    return say("lose-after " + std::to_string(decision.sequence) + " is refused: " +
               (role_ == Role::kLost ? "this manager has entries up to " + std::to_string(flushed_)
                                     : "this manager waits for nobody"));
  lose_after_ = flushed_;
  knowledge_.acknowledged = position_at(flushed_);
  knowledge_.kept = flushed_;
  open();
}

}  // namespace league::league_manager::stream
