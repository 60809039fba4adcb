#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bus/standby/core/effects.h"
#include "bus/standby/core/publisher.h"

namespace league::league_manager::stream {

struct ReplicaOptions {
  std::string name;  ///< of this manager; no other has it, and it keeps it after a restart
  bool begins_leagues = true;  ///< false: it waits until there is a league to follow
  Rules rules = {};
  Timing timing = {};
};

/// What the data directory has after a restart.
struct RestoredReplica {
  Knowledge knowledge;
  std::vector<core::Digest> digests;  ///< of all entries of the local journal, in order
};

struct ReplicaStatus {
  std::string leader;  ///< empty: none that we know of
  std::uint64_t incarnation = 0;
  std::uint64_t term = 0;
  std::uint64_t acknowledged = 0;  ///< the last entry of which we know it
  std::uint64_t flushed = 0;  ///< the last entry of the local journal
  struct Standby {
    std::string name;
    std::uint64_t sequence = 0;  ///< the last entry that its journal has
    bool is_in_sync = false;  ///< answers wait for it
    Time silent{0};  ///< since its last heartbeat
  };
  std::vector<Standby> standbys;  ///< of a leader
  std::string waits_for;  ///< why the league does not go on, and what to do; empty: it goes on
};

/// One of several managers of a league, of which one leads: decides what to publish, what to answer
/// and who leads. A pure state machine: it takes facts with their time and returns effects, to be
/// carried out in order. After End nothing has an effect. Not thread-safe.
/// Source: design, the stream is the journal.
class Replica {
 public:
  Replica(ReplicaOptions options, RestoredReplica restored, Time now);
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// The leader's next batch, which all managers will have completely, or not at all. Store it, and
  /// answer after its Release. `records` is not empty. Only after Lead.
  [[nodiscard]] Effects append(Time now, std::vector<journal::EventRecord> records);
  [[nodiscard]] Effects handle(Time now, const Fact& fact);

  [[nodiscard]] bool is_leading() const { return role_ == Role::kLeading; }
  /// Until then nobody else leads: what needs no entry, such as a refusal, may be answered, too.
  [[nodiscard]] Time sure_until() const { return is_leading() ? sure_ + timing_.doubt : Time(-1); }
  [[nodiscard]] ReplicaStatus status(Time now) const;

 private:
  enum class Role : std::uint8_t {
    kFollowing,  ///< reads a stream, or waits for one
    kLost,  ///< its stream has lost messages; the league needs a new incarnation
    kOpening,  ///< publishes its journal into a new incarnation
    kClaiming,  ///< has claimed the lead
    kChecking,  ///< looks whether somebody else has, too
    kAffirming,  ///< writes that it leads
    kLeading,
    kEnded,
  };
  struct Entry {
    core::Digest digest{};
    std::uint32_t bytes = 0;
    bool ends_batch = false;
  };
  struct Peer {
    Heartbeat last;
    Time heard{0};
    Time answered{-1};  ///< it had heard the heartbeat that we sent then
    std::uint64_t confirmed = 0;  ///< its journal equals ours up to here
    Time progressed{0};  ///< when `confirmed` grew last, or had everything
    Time listed{0};  ///< when we last told it that answers wait for it
    bool is_in_sync = false;  ///< answers wait for it
  };

  void on(const Published& answer);
  void on(const ReadDone& answer);
  void on(const Inspected& seen);
  void on(const Delivered& delivery);
  void on(const Flushed& flushed);
  void on(const Heartbeat& heard);
  void on(const Tick& tick);
  void on(const LoseAfter& decision);

  // replica.cpp
  void notice_gap();
  void end(const std::string& why);
  void say(const std::string& line);
  void remember();
  void beat();
  void inspect();
  [[nodiscard]] std::string trouble() const;
  [[nodiscard]] JournalPosition position_at(std::uint64_t sequence) const;
  /// Otherwise there is nothing to lead.
  [[nodiscard]] bool has_league() const { return options_.begins_leagues || !entries_.empty(); }
  [[nodiscard]] bool is_publishing() const {
    return role_ >= Role::kOpening && role_ <= Role::kLeading;
  }

  // replica_follow.cpp
  void follow(std::uint64_t incarnation);
  void read_on();
  void note_kept();
  void read_entries(const Message& message);
  void take_complete();
  void read_affirm(const Message& message);
  [[nodiscard]] bool put_aside_after(std::uint64_t sequence);
  void hear_leader(const Heartbeat& heard);
  void claim_if_silent(double random);

  // replica_lead.cpp
  void begin_publishing(Role role, const StreamPosition& after, std::uint64_t next);
  void on_outcome(const Publisher::Outcome& outcome);
  void on_stored(const Publisher::Stored& stored);
  void on_refused(const Publisher::Refused& refused);
  void pump();
  void publish_entries();
  void publish_control(MessageKind kind);
  void lead();
  void release();
  void pause_if_full();
  [[nodiscard]] std::uint64_t release_limit();

  // replica_recover.cpp
  [[nodiscard]] bool is_damaged(const std::vector<StreamInfo>& streams) const;
  [[nodiscard]] bool is_alone(const std::vector<StreamInfo>& streams) const;
  void look_while_publishing(const Inspected& seen);
  void look_while_reading(const Inspected& seen);
  void lose_stream(const std::string& why);
  void recover_if_whole();
  [[nodiscard]] bool is_whole_alone() const;
  [[nodiscard]] std::string missing_managers() const;
  void open();

  const ReplicaOptions options_;
  const Rules& rules_ = options_.rules;
  const Timing& timing_ = options_.timing;
  Time now_{0};
  Effects effects_;  ///< of the fact in hand
  Role role_ = Role::kFollowing;

  std::vector<Entry> entries_;  ///< of the local journal, from sequence number 1
  std::uint64_t flushed_ = 0;
  Knowledge knowledge_;
  Knowledge remembered_;
  Time remembered_at_{0};
  std::map<std::string, Peer, std::less<>> peers_;
  Time beat_at_{0};
  Time said_at_{0};
  std::string said_;

  // Looking at the streams.
  Time inspected_{0};  ///< when the last Inspect was sent
  bool is_inspecting_ = false;
  StreamPosition asked_at_;  ///< cursor_ at that time
  Time covers_{0};  ///< that Inspect came after this publish was stored
  std::vector<StreamInfo> seen_;
  Time contact_{0};  ///< the broker has answered what was sent then
  Time doubt_since_{0};  ///< when we last noticed that we had been cut off
  bool is_in_doubt_ = true;
  std::optional<Time> lost_at_;

  std::uint64_t highest_ = 0;  ///< incarnation that anybody has spoken of

  std::uint64_t highest_term_ = 0;  ///< likewise

  // Reading.
  StreamPosition cursor_;  ///< the last message read, or stored by ourselves
  JournalPosition read_;  ///< the last entry of the stream that counts
  std::vector<journal::EventRecord> staged_;  ///< those after it, which do not count yet
  std::size_t complete_ = 0;  ///< of `staged_`, in complete batches
  bool is_confirmed_ = false;  ///< the incarnation has a leader, or had one
  bool may_put_aside_ = false;  ///< a new leader may not have our last entries
  bool is_loss_decided_ = false;  ///< by the operator, even acknowledged ones
  std::uint64_t stream_term_ = 0;  ///< the highest term in it
  std::string leader_;  ///< as far as we know
  std::string tail_writer_;  ///< of the stream's last message
  Time delivered_{0};  ///< the last message, or request for messages
  Time leader_heard_{0};  ///< the last sign of life of any leader
  Time listed_{0};  ///< the leader has heard the heartbeat that we sent then, and waits for us
  std::optional<Time> claim_at_;

  // Publishing.
  Publisher publisher_;
  bool has_led_ = false;
  bool is_paused_ = false;
  std::uint64_t term_ = 0;
  std::uint64_t next_ = 1;  ///< sequence number of the next entry to be published
  std::uint64_t acknowledged_ = 0;  ///< by the stream
  std::uint64_t released_ = 0;
  Time stored_sent_{0};  ///< when the last stored message was sent
  Time verified_{0};  ///< as stored_sent_, of one after which no newer incarnation was seen
  Time sure_{0};  ///< nobody else had taken the lead then
  std::vector<StreamInfo> decided_on_;  ///< the streams when we decided to publish
  std::optional<std::uint64_t> lose_after_;
};

}  // namespace league::league_manager::stream
