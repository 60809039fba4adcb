#include "bus/standby/core/replica.h"

#include <algorithm>
#include <utility>

namespace league::league_manager::stream {

Replica::Replica(ReplicaOptions options, RestoredReplica restored, Time now)
    : options_(std::move(options)),
      now_(now),
      flushed_(restored.digests.size()),
      knowledge_(restored.knowledge),
      remembered_(std::move(restored.knowledge)),
      contact_(now),
      doubt_since_(now),
      leader_heard_(now),
      publisher_(options_.rules, options_.timing) {
  // Where batches end is not stored: everything is one, since it was flushed together or is in a
  // stream already.
  for (const core::Digest& digest : restored.digests) entries_.push_back({digest, 1024, false});
  if (!entries_.empty()) entries_.back().ends_batch = true;
  cursor_.incarnation = highest_ = knowledge_.incarnation;
  highest_term_ = knowledge_.term;
  // Until they are heard, they may be what an earlier leader has told them.
  for (const std::string& name : knowledge_.members) peers_[name].heard = now;
}

Effects Replica::handle(Time now, const Fact& fact) {
  now_ = now;
  effects_.clear();
  if (role_ == Role::kEnded) return {};
  notice_gap();
  std::visit([this](const auto& each) { on(each); }, fact);
  return std::exchange(effects_, {});
}

/// Whoever was cut off from the broker, or frozen, may have missed that another manager led.
void Replica::notice_gap() {
  if (now_ - contact_ <= timing_.doubt) return;
  is_in_doubt_ = rules_.doubts_after_silence;
  doubt_since_ = now_;
  // Others may have gone on, so what was decided is no longer certain.
  if (role_ == Role::kOpening && rules_.doubts_after_silence)
    lose_stream("this manager was cut off while it opened it");
}

void Replica::on(const Published& answer) {
  on_outcome(publisher_.on_published(now_, answer, effects_));
  pause_if_full();
}

void Replica::on(const ReadDone& answer) { on_outcome(publisher_.on_read(answer, effects_)); }

void Replica::on(const Flushed& flushed) {
  flushed_ = std::max(flushed_, flushed.sequence);
  if (is_publishing()) return release();
  beat();  // answers may wait for it
}

void Replica::on(const Heartbeat& heard) {
  if (heard.name == options_.name) return;
  std::vector<std::string> names = heard.members;
  names.push_back(heard.name);
  for (const std::string& name : names) {
    auto& members = knowledge_.members;
    const auto place = std::ranges::lower_bound(members, name);
    if (name != options_.name && (place == members.end() || *place != name))
      members.insert(place, name);
  }
  if (heard.term > knowledge_.term ||
      (heard.term == knowledge_.term &&
       heard.acknowledged.sequence > knowledge_.acknowledged.sequence))
    knowledge_.acknowledged = heard.acknowledged;
  note_kept();
  if (knowledge_.members != remembered_.members) remember();
  highest_ = std::max(highest_, heard.incarnation);
  highest_term_ = std::max(highest_term_, heard.term);
  Peer& peer = peers_[heard.name];
  peer.heard = now_;
  if (heard.sent >= peer.last.sent || heard.term > peer.last.term) peer.last = heard;
  // Of another term, it may still put entries aside.
  if (is_publishing() && heard.term == knowledge_.term &&
      heard.incarnation == cursor_.incarnation &&
      heard.journal == position_at(heard.journal.sequence)) {
    if (heard.journal.sequence > peer.confirmed || heard.journal.sequence >= acknowledged_)
      peer.progressed = now_;
    peer.confirmed = std::max(peer.confirmed, heard.journal.sequence);
  }
  for (const auto& [name, sent, is_in_sync] : heard.heard)
    if (name == options_.name && sent <= now_) peer.answered = std::max(peer.answered, sent);
  if (heard.is_leading) hear_leader(heard);
  if (role_ == Role::kLeading) {
    if (!peer.is_in_sync && heard.incarnation == cursor_.incarnation &&
        peer.confirmed >= released_) {  // from here on, answers wait for it
      peer.is_in_sync = true;
      peer.listed = now_;
    }
    release();
  }
}

void Replica::on(const Tick& tick) {
  publisher_.on_tick(now_, effects_);
  if (now_ - beat_at_ >= timing_.heartbeat) beat();
  const Time since = now_ - inspected_;
  if (since >= (is_inspecting_ ? timing_.again : timing_.heartbeat)) inspect();
  if (role_ == Role::kFollowing) claim_if_silent(tick.random);
  if (role_ == Role::kLeading) pump();
  if (now_ - remembered_at_ >= timing_.again && knowledge_ != remembered_) remember();
  if (const std::string why = trouble(); !why.empty()) say(why);
}

void Replica::end(const std::string& why) {
  role_ = Role::kEnded;
  effects_.push_back(End{why});
}

void Replica::say(const std::string& line) {
  if (line == said_ && now_ - said_at_ < timing_.notice) return;
  said_ = line;
  said_at_ = now_;
  effects_.push_back(Say{line});
}

void Replica::remember() {
  remembered_ = knowledge_;
  remembered_at_ = now_;
  effects_.push_back(Remember{knowledge_});
}

JournalPosition Replica::position_at(std::uint64_t sequence) const {
  if (sequence == 0 || sequence > entries_.size()) return {};
  return {sequence, entries_[sequence - 1].digest};
}

void Replica::beat() {
  beat_at_ = now_;
  Heartbeat heartbeat{.name = options_.name,
                      .incarnation = cursor_.incarnation,
                      .term = knowledge_.term,
                      .is_leading = is_publishing() && cursor_.sequence > 0 &&
                                    (has_led_ || role_ == Role::kOpening),
                      .journal = position_at(flushed_),
                      .acknowledged = knowledge_.acknowledged,
                      .members = knowledge_.members,
                      .sent = now_,
                      .heard = {}};
  for (auto& [name, peer] : peers_) {
    // One that does not get on is told so, and later not waited for.
    const bool is_listed = role_ == Role::kLeading && peer.is_in_sync &&
                           peer.confirmed >= released_ &&
                           now_ - peer.progressed < 2 * timing_.again;
    if (is_listed) peer.listed = now_;
    heartbeat.heard.push_back({name, peer.last.sent, is_listed});
  }
  effects_.push_back(std::move(heartbeat));
}

void Replica::inspect() {
  is_inspecting_ = true;
  inspected_ = now_;
  asked_at_ = cursor_;
  covers_ = stored_sent_;
  effects_.push_back(Inspect{now_});
}

/// Why the league does not go on, for the operator.
std::string Replica::trouble() const {
  const Time unanswered = now_ - contact_;
  if (unanswered > timing_.doubt)
    return "the broker does not answer, and nothing is confirmed until it does: check that it runs";
  if (is_publishing() && !publisher_.is_idle() && !publisher_.trouble().empty())
    return (publisher_.is_full()
                ? "the stream's store is full, so the league is paused: enlarge it "
                  "or remove other streams ("
                : "the stream does not take the journal, which is tried again (") +
           publisher_.trouble() + ")";
  if (role_ == Role::kLost && has_league() && now_ - *lost_at_ > 2 * timing_.again)
    return "stream " + std::to_string(cursor_.incarnation) +
           " has lost messages, and this manager, which has entries up to " +
           std::to_string(flushed_) + ", waits for " + missing_managers() +
           ", which may have acknowledged more: start it, or run `league admin lead --lose-after " +
           std::to_string(flushed_) + "`";
  if (!has_league() && now_ - leader_heard_ >= timing_.again)
    return "there is no league to follow yet: start its leader";
  return {};
}

ReplicaStatus Replica::status(Time now) const {
  ReplicaStatus status{leader_,         cursor_.incarnation,
                       knowledge_.term, knowledge_.acknowledged.sequence,
                       flushed_,        {},
                       trouble()};
  if (role_ != Role::kLeading) return status;
  std::string silent;
  for (const auto& [name, peer] : peers_) {
    status.standbys.push_back({name, peer.confirmed, peer.is_in_sync, now - peer.heard});
    if (peer.is_in_sync && peer.confirmed < std::min(flushed_, acknowledged_)) silent = name;
  }
  if (status.waits_for.empty() && !silent.empty())
    status.waits_for = "answers wait for the stand-by " + silent + ", for " +
                       std::to_string(timing_.patience.count() / 1000) + " s at most";
  return status;
}

}  // namespace league::league_manager::stream
