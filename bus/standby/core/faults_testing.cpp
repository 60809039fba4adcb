#include <algorithm>
#include <iostream>
#include <utility>

#include "bus/standby/core/world_testing.h"

namespace league::league_manager::stream::testing {

using namespace std::chrono_literals;

void World::kill(int manager, Time down) {
  Manager& it = managers_[index(manager)];
  if (!it.replica) return;
  // Not at once: it may be what is running.
  at(now_, [this, replica = std::shared_ptr<Replica>(std::move(it.replica))] { (void)this; });
  ++it.life;
  ++it.version;
  it.frozen_until = Time(0);
  at(now_ + down, [this, manager] { start(manager); });
}

void World::freeze(int manager, Time duration) {
  Time& until = managers_[index(manager)].frozen_until;
  until = std::max(until, now_ + duration);
}

void World::cut_off(int manager, Time duration) {
  managers_[index(manager)].is_cut_off = true;
  at(now_ + duration, [this, manager] { managers_[index(manager)].is_cut_off = false; });
}

void World::stop_broker(Time down, bool empties) {
  if (is_healed_) return;
  is_broker_up_ = false;
  for (Manager& each : managers_) each.follows = 0;
  if (empties) broker_.empty();
  at(now_ + down, [this] { is_broker_up_ = true; });
}

void World::fill_store(Time duration) {
  broker_.set_full(true);
  at(now_ + duration, [this] { broker_.set_full(false); });
}

int World::leader() const {
  for (int i = 0; i < managers(); ++i)
    if (managers_[index(i)].replica && managers_[index(i)].replica->is_leading()) return i;
  return -1;
}

void World::note_damage() {
  replaced_ = now_;
  if (const auto streams = broker_.streams(); !streams.empty())
    damaged_.insert(streams.back().created);
}

void World::random_fault() {
  const int someone = std::max(0, dice_.one_in(2) ? leader() : dice_.below(managers()));
  switch (dice_.below(13)) {
    case 0:
    case 1:
      return kill(someone, dice_.between(200, 9000));
    case 2:
    case 3:
      return freeze(someone, dice_.between(1000, 14'000));
    case 4:
      return cut_off(someone, dice_.between(500, 10'000));
    case 5:
      return stop_broker(dice_.between(100, 3000), false);
    case 6: {
      Time when = now_;
      for (int i = 1 + dice_.below(4); i > 0; --i, when += dice_.between(500, 5000))
        at(when, [this, down = dice_.between(50, 1500)] { stop_broker(down, true); });
      return;
    }
    case 7:
      stop_broker(dice_.between(100, 4000), true);
      return kill(someone, dice_.between(200, 9000));
    case 8:
      note_damage();
      return broker_.purge();
    case 9:
      return broker_.remove();
    case 10:
      // A stream that was restored from an older copy is like one that has had no more: only who
      // has read more can know. So somebody must be left who has.
      if (!std::ranges::all_of(managers_, [this](const Manager& it) {
            return it.replica && it.frozen_until <= now_ && !it.is_cut_off && is_whole(it);
          }))
        return;
      note_damage();
      return broker_.shorten(1 + static_cast<std::uint64_t>(dice_.below(6)));
    case 11:
      if (dice_.one_in(2)) return fill_store(dice_.between(1000, 6000));
      // With as many messages, the numbers fit and only the ids do not.
      broker_.replace(dice_.one_in(2) || broker_.streams().empty()
                          ? static_cast<std::uint64_t>(dice_.below(300))
                          : broker_.streams().back().last);
      return note_damage();
    default:
      for (int i = 0; i < managers(); ++i) kill(i, dice_.between(200, 4000));
      if (dice_.one_in(2)) stop_broker(dice_.between(100, 3000), dice_.one_in(2));
      return;
  }
}

void World::heal(unsigned alive) {
  if (is_traced_) std::cerr << now_.count() << " heals: alive " << alive << "\n";
  is_healed_ = true;
  losses_ = 0;
  late_ = 0;
  broker_.set_full(false);
  is_broker_up_ = true;
  for (int i = 0; i < managers(); ++i) {
    Manager& it = managers_[index(i)];
    it.is_cut_off = false;
    it.is_gone = (alive >> i & 1U) == 0;
    if (it.is_gone) kill(i, 0ms);
    if (!it.is_gone && !it.replica) start(i);
    if (it.frozen_until <= now_) continue;
    it.frozen_until = now_;
    for (Fact& each : std::exchange(it.inbox, {})) hand_over(i, it.life, std::move(each));
  }
}

bool World::is_stream_whole() const {
  const auto streams = broker_.streams();
  if (streams.empty() || damaged_.contains(streams.back().created)) return false;
  bool has_leader = false;
  std::size_t complete = 0;
  std::vector<core::Digest> digests{{}};
  for (const Message& message : *broker_.messages(streams.back().incarnation)) {
    has_leader = has_leader || message.kind == MessageKind::kAffirm;
    if (message.kind == MessageKind::kClaim) digests.resize(complete + 1);
    for (const auto& record : message.records)
      digests.push_back(journal::chained(digests.back(), record));
    if (message.kind == MessageKind::kEntries && !message.has_more) complete = digests.size() - 1;
  }
  return has_leader && complete >= acknowledged_.size() &&
         (acknowledged_.empty() || digests[acknowledged_.size()] == acknowledged_.back());
}

bool World::is_whole(const Manager& it) const {
  return it.durable >= acknowledged_.size() &&
         (acknowledged_.empty() || it.digests[acknowledged_.size() - 1] == acknowledged_.back());
}

bool World::is_a_manager_whole() const {
  return std::ranges::any_of(managers_,
                             [this](const Manager& it) { return !it.is_gone && is_whole(it); });
}

bool World::do_all_say_why() const {
  return std::ranges::all_of(managers_, [this](const Manager& it) {
    return it.is_gone || (it.replica && !it.replica->status(now_).waits_for.empty());
  });
}

std::string World::waits() const {
  std::string all;
  for (const Manager& it : managers_)
    if (it.replica) all += "; " + it.name + ": " + it.replica->status(now_).waits_for;
  return all;
}

bool World::lose_after() {
  int longest = -1;
  for (int i = 0; i < managers(); ++i) {
    const Manager& it = managers_[index(i)];
    const bool may = it.replica && it.replica->status(now_).waits_for.ends_with(
                                       "--lose-after " + std::to_string(it.durable) + "`");
    if (may && (longest < 0 || it.durable > managers_[index(longest)].durable)) longest = i;
  }
  if (longest < 0) return false;
  Manager& it = managers_[index(longest)];
  std::size_t same = std::min(acknowledged_.size(), it.durable);
  while (same > 0 && acknowledged_[same - 1] != it.digests[same - 1]) --same;
  acknowledged_.resize(same);
  hand_over(longest, it.life, LoseAfter{it.durable});
  return true;
}

std::string play(std::uint64_t seed, const Rules& rules, bool* was_stuck) {
  World world(seed, rules, 2 + static_cast<int>(seed % 2));
  Dice& dice = world.dice();
  world.run_until(4s);
  for (int faults = 1 + dice.below(7); faults > 0; --faults) {
    world.random_fault();
    world.run_until(world.now() + (dice.one_in(3) ? dice.between(0, 500) : dice.between(0, 7000)));
  }
  const unsigned everybody = (1U << world.managers()) - 1;
  const unsigned some = 1 + static_cast<unsigned>(dice.below(static_cast<int>(everybody)));
  const unsigned alive = dice.one_in(2) ? everybody : some;
  world.heal(alive);
  const bool must_go_on =
      alive == everybody || (world.acknowledged() > 0 && world.is_stream_whole());
  const auto goes_on = [&] {
    const std::uint64_t before = world.acknowledged();
    const Time end = world.now() + 15s;
    while (world.violation().empty() && world.acknowledged() <= before && world.now() < end)
      world.run_until(world.now() + 500ms);
    return world.acknowledged() > before;
  };
  if (goes_on()) {
    world.run_until(world.now() + 2s);
  } else if (world.violation().empty()) {
    if (must_go_on) return "the league does not go on" + world.waits();
    if (!world.do_all_say_why()) return "a manager waits and does not say for whom" + world.waits();
    if (was_stuck != nullptr) *was_stuck = world.is_a_manager_whole();
    if (world.lose_after() && !goes_on() && world.violation().empty())
      return "the operator's decision does not help" + world.waits();
  }
  return world.violation();
}

}  // namespace league::league_manager::stream::testing
