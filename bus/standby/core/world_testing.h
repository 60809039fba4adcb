#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "bus/standby/core/broker_model_testing.h"
#include "bus/standby/core/replica.h"

namespace league::league_manager::stream::testing {

/// Two or three managers of one league, their broker and the network, in virtual time and driven by
/// one seed; and what must hold whatever happens.
class World {
 public:
  World(std::uint64_t seed, const Rules& rules, int managers);

  void run_until(Time end);
  /// The first thing that must not happen, with its time; empty: nothing.
  [[nodiscard]] const std::string& violation() const { return violation_; }

  // What can go wrong.
  void kill(int manager, Time down);
  void freeze(int manager, Time duration);
  void cut_off(int manager, Time duration);
  void stop_broker(Time down, bool empties);
  void fill_store(Time duration);
  void random_fault();
  /// All faults end. Only the managers of `alive` (bits) live from now on.
  void heal(unsigned alive);

  [[nodiscard]] BrokerModel& broker() { return broker_; }
  [[nodiscard]] Dice& dice() { return dice_; }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] int managers() const { return static_cast<int>(managers_.size()); }
  [[nodiscard]] int leader() const;
  [[nodiscard]] Replica* replica(int manager) { return managers_[index(manager)].replica.get(); }
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_.size(); }
  /// Whether the newest stream has everything that was acknowledged.
  [[nodiscard]] bool is_stream_whole() const;
  /// Whether a living manager's journal has everything that was acknowledged.
  [[nodiscard]] bool is_a_manager_whole() const;
  /// Whether each living manager says for what it waits.
  [[nodiscard]] bool do_all_say_why() const;
  [[nodiscard]] std::string waits() const;
  /// The operator decides for the living manager with the longest journal. False: none asks for it.
  bool lose_after();
  void set_load(bool is_on) { has_load_ = is_on; }

 private:
  struct Manager {
    std::string name;
    std::unique_ptr<Replica> replica;  ///< null: it is dead
    int life = 0;
    bool is_cut_off = false;
    bool is_gone = false;  ///< for good
    Time frozen_until{0};
    std::vector<Fact> inbox;  ///< while it is frozen
    std::vector<core::Digest> digests;  ///< of the journal, as the process knows it
    std::vector<journal::EventRecord> records;  ///< likewise
    std::size_t durable = 0;
    int version = 0;  ///< of the journal, which a put-aside changes
    Knowledge knowledge;
    bool is_paused = false;
    Time started{0};
    Time flushes_at{0};
    std::uint64_t follows = 0;  ///< incarnation of the consumer
    Time delivers_at{0};
  };
  struct Timed {
    Time at;
    std::uint64_t number;
    std::function<void()> run;
    bool operator<(const Timed& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };

  static std::size_t index(int manager) { return static_cast<std::size_t>(manager); }
  void at(Time when, std::function<void()> run);
  void start(int manager);
  void tick(int manager, int life);
  void load();
  void hand_over(int manager, int life, Fact fact);
  void carry_out(int manager, const Effects& effects);
  void carry(int manager, const Store& store);
  void carry(int manager, const PutAside& aside);
  void carry(int manager, const Heartbeat& heartbeat);
  void carry(int manager, const Release& release);
  void carry(int manager, Publish publish);
  void carry(int manager, const Follow& follow);
  void check_lead(int manager);
  void check_end(int manager, const std::string& why);
  void deliver(int manager, std::uint64_t incarnation, std::uint64_t sequence);
  /// Runs `serve` at the broker, after delays and perhaps twice or never.
  void request(int manager, std::function<Fact()> serve);
  [[nodiscard]] bool is_cut(int manager) const;
  [[nodiscard]] Time delay();
  void trace(const std::string& name, const Effect& effect) const;
  void note_damage();
  [[nodiscard]] bool is_whole(const Manager& it) const;
  void violate(const std::string& what);

  Dice dice_;
  const Rules rules_;
  BrokerModel broker_;
  bool is_broker_up_ = true;
  bool is_healed_ = false;
  std::vector<Manager> managers_;
  std::priority_queue<Timed> events_;
  std::uint64_t numbers_ = 0;
  Time now_{0};
  int losses_ = 0;  ///< per thousand
  int late_ = 0;
  bool has_load_ = true;
  std::uint64_t payloads_ = 0;
  std::vector<core::Digest> acknowledged_;  ///< chained, of all entries that were answered
  std::array<Time, 3> wrote_{Time(-1), Time(-1), Time(-1)};  ///< when each last stored a message
  std::set<std::uint64_t> damaged_;  ///< streams, by their creation
  Time replaced_{-1};  ///< when a stream changed last without a manager, or by a late message
  std::string violation_;
  const bool is_traced_ = std::getenv("STREAM_TRACE") != nullptr;  // NOLINT(concurrency-mt-unsafe)
};

/// One schedule: faults at random, then peace for the managers that are left. The violation, or an
/// empty text. `was_stuck` tells whether the league waits although a living manager has everything.
[[nodiscard]] std::string play(std::uint64_t seed, const Rules& rules, bool* was_stuck = nullptr);

}  // namespace league::league_manager::stream::testing
