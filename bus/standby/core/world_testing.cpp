#include "bus/standby/core/world_testing.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

namespace league::league_manager::stream::testing {

using namespace std::chrono_literals;

World::World(std::uint64_t seed, const Rules& rules, int managers) : dice_(seed), rules_(rules) {
  losses_ = dice_.one_in(2) ? 0 : dice_.below(60);
  late_ = dice_.one_in(2) ? 0 : dice_.below(40);
  managers_.resize(index(managers));
  for (int i = 0; i < managers; ++i) {
    managers_[index(i)].name = std::string(1, static_cast<char>('A' + i));
    at(dice_.between(0, 200), [this, i] { start(i); });
  }
  at(500ms, [this] { load(); });
}

void World::at(Time when, std::function<void()> run) {
  events_.push({when, ++numbers_, std::move(run)});
}

void World::run_until(Time end) {
  while (violation_.empty() && !events_.empty() && events_.top().at <= end) {
    now_ = events_.top().at;
    if (numbers_ > 300'000) return violate("managers do not come to rest");
    auto run = std::move(const_cast<Timed&>(events_.top()).run);  // NOLINT: popped next
    events_.pop();
    run();
  }
  now_ = end;
}

void World::start(int manager) {
  Manager& it = managers_[index(manager)];
  if (it.is_gone || it.replica) return;
  ++it.life;
  ++it.version;
  it.digests.resize(it.durable);
  it.records.resize(it.durable);
  it.inbox.clear();
  it.is_paused = false;
  it.started = now_;
  it.flushes_at = now_;
  it.follows = 0;
  ReplicaOptions options{.name = it.name, .begins_leagues = manager == 0, .rules = rules_};
  options.timing.piece = 200;
  it.replica = std::make_unique<Replica>(options, RestoredReplica{it.knowledge, it.digests}, now_);
  tick(manager, it.life);
}

void World::tick(int manager, int life) {
  Manager& it = managers_[index(manager)];
  if (it.life != life || !it.replica) return;
  at(now_ + 250ms, [this, manager, life] { tick(manager, life); });
  if (it.frozen_until <= now_) hand_over(manager, life, Tick{dice_.unit()});
  const auto is_sure = [this](const Manager& each) {
    return each.replica && each.replica->sure_until() >= now_;
  };
  if (std::ranges::count_if(managers_, is_sure) > 1) violate("two managers are sure to lead");
}

void World::load() {
  at(now_ + dice_.between(50, 400), [this] { load(); });
  for (int i = 0; i < managers(); ++i) {
    Manager& it = managers_[index(i)];
    if (!has_load_ || !it.replica || it.frozen_until > now_ || it.is_paused ||
        !it.replica->is_leading())
      continue;
    const int size = 1 + dice_.below(4);
    std::vector<journal::EventRecord> batch;
    for (int k = 1; k <= size; ++k)
      batch.push_back({k == size ? "END" : "PART",
                       std::to_string(++payloads_) + std::string(index(dice_.below(150)), '.')});
    carry_out(i, it.replica->append(now_, std::move(batch)));
  }
}

void World::hand_over(int manager, int life, Fact fact) {
  Manager& it = managers_[index(manager)];
  if (it.life != life || !it.replica) return;
  if (it.frozen_until > now_) {
    if (it.inbox.empty())
      at(it.frozen_until, [this, manager, life] {
        if (managers_[index(manager)].life != life) return;
        for (Fact& each : std::exchange(managers_[index(manager)].inbox, {}))
          hand_over(manager, life, std::move(each));
      });
    it.inbox.push_back(std::move(fact));
    return;
  }
  carry_out(manager, it.replica->handle(now_, fact));
}

void World::carry_out(int manager, const Effects& effects) {
  Manager& it = managers_[index(manager)];
  for (const Effect& effect : effects) {
    if (!violation_.empty() || !it.replica) return;
    if (is_traced_) trace(it.name, effect);
    if (const auto* publish_it = std::get_if<Publish>(&effect)) carry(manager, *publish_it);
    if (const auto* follow = std::get_if<Follow>(&effect)) carry(manager, *follow);
    if (const auto* store = std::get_if<Store>(&effect)) carry(manager, *store);
    if (const auto* aside = std::get_if<PutAside>(&effect)) carry(manager, *aside);
    if (const auto* remember = std::get_if<Remember>(&effect)) it.knowledge = remember->knowledge;
    if (const auto* pause = std::get_if<Pause>(&effect)) it.is_paused = pause->is_paused;
    if (const auto* beat = std::get_if<Heartbeat>(&effect)) carry(manager, *beat);
    if (const auto* released = std::get_if<Release>(&effect)) carry(manager, *released);
    if (std::holds_alternative<Lead>(effect)) check_lead(manager);
    if (const auto* read = std::get_if<Read>(&effect))
      request(manager, [this, read = *read]() -> Fact { return broker_.read(read); });
    if (const auto* look = std::get_if<Inspect>(&effect))
      request(manager, [this, sent = look->sent]() -> Fact {
        return Inspected{sent, broker_.streams()};
      });
    if (const auto* ends = std::get_if<End>(&effect)) {
      check_end(manager, ends->why);
      return kill(manager, 500ms);
    }
  }
}

void World::carry(int manager, const Store& store) {
  Manager& it = managers_[index(manager)];
  for (const auto& record : store.records) {
    it.digests.push_back(
        journal::chained(it.digests.empty() ? core::Digest{} : it.digests.back(), record));
    it.records.push_back(record);
  }
  if (store.first + store.records.size() - 1 != it.digests.size())
    return violate(it.name + " stores entry " + std::to_string(store.first) + " at another place");
  it.flushes_at = std::max(it.flushes_at, now_) + dice_.between(1, dice_.one_in(30) ? 200 : 8);
  const std::size_t size = it.digests.size();
  at(it.flushes_at, [this, manager, size, version = it.version] {
    Manager& same = managers_[index(manager)];
    if (same.version != version) return;
    same.durable = size;
    hand_over(manager, same.life, Flushed{size});
  });
}

void World::carry(int manager, const PutAside& aside) {
  Manager& it = managers_[index(manager)];
  ++it.version;
  it.digests.resize(aside.after);
  it.records.resize(aside.after);
  it.durable = std::min<std::size_t>(it.durable, aside.after);
  if (it.durable < it.digests.size()) {  // what was being flushed before is still flushed
    it.durable = it.digests.size();
    at(now_, [this, manager, life = it.life, size = it.durable] {
      hand_over(manager, life, Flushed{size});
    });
  }
}

void World::carry(int manager, const Heartbeat& heartbeat) {
  if (is_cut(manager)) return;
  for (int i = 0; i < managers(); ++i) {
    if (i == manager || dice_.below(1000) < losses_) continue;
    at(now_ + delay(), [this, i, heartbeat] {
      if (!is_cut(i)) hand_over(i, managers_[index(i)].life, heartbeat);
    });
  }
}

void World::carry(int manager, const Release& release) {
  Manager& it = managers_[index(manager)];
  const std::uint64_t common = std::min<std::uint64_t>(release.sequence, acknowledged_.size());
  if (release.sequence > it.digests.size()) return violate(it.name + " answers without an entry");
  if (common > 0 && it.digests[common - 1] != acknowledged_[common - 1])
    return violate(it.name + " acknowledges entry " + std::to_string(release.sequence) +
                   ", but not after what was acknowledged before");
  for (std::size_t i = common; i < release.sequence; ++i) acknowledged_.push_back(it.digests[i]);
}

void World::check_lead(int manager) {
  const Manager& it = managers_[index(manager)];
  if (it.digests.size() < acknowledged_.size() ||
      (!acknowledged_.empty() && it.digests[acknowledged_.size() - 1] != acknowledged_.back()))
    return violate(it.name + " leads without acknowledged entries");
  if (!it.records.empty() && it.records.back().type != "END")
    violate(it.name + " leads with a part of a batch");
}

void World::check_end(int manager, const std::string& why) {
  const Manager& it = managers_[index(manager)];
  bool has_cause = replaced_ >= it.started;
  for (int i = 0; i < managers(); ++i)
    has_cause = has_cause || (i != manager && wrote_[index(i)] >= it.started - 15s);
  if (!has_cause) violate(it.name + " ends although nobody else has written: " + why);
}

void World::carry(int manager, Publish publish) {
  const auto& records = managers_[index(manager)].records;
  for (std::uint64_t i = publish.message.first; i <= publish.message.last && i > 0; ++i)
    publish.message.records.push_back(records[i - 1]);
  request(manager, [this, manager, publish]() -> Fact {
    const auto* before = broker_.messages(publish.incarnation);
    const std::size_t size = before == nullptr ? 0 : before->size();
    const Published answer = broker_.publish(publish);
    const auto* after = broker_.messages(publish.incarnation);
    if (after != nullptr && after->size() > size) {
      wrote_[index(manager)] = now_;
      // Of its own late message in an older stream, a manager cannot know whose it is.
      if (managers_[index(manager)].knowledge.incarnation > publish.incarnation) replaced_ = now_;
      for (int i = 0; i < managers(); ++i)
        if (managers_[index(i)].follows == publish.incarnation)
          deliver(i, publish.incarnation, after->size());
    }
    return answer;
  });
}

void World::carry(int manager, const Follow& follow) {
  if (is_cut(manager)) return;
  const int life = managers_[index(manager)].life;
  at(now_ + delay(), [this, manager, life, follow] {
    Manager& it = managers_[index(manager)];
    const auto* messages = broker_.messages(follow.incarnation);
    if (is_cut(manager) || it.life != life || messages == nullptr) return;
    it.follows = follow.incarnation;
    const std::uint64_t first = std::max(follow.sequence, broker_.first(follow.incarnation));
    for (std::uint64_t i = first; i <= messages->size(); ++i) deliver(manager, it.follows, i);
  });
}

void World::deliver(int manager, std::uint64_t incarnation, std::uint64_t sequence) {
  Manager& it = managers_[index(manager)];
  if (is_cut(manager) || dice_.below(1000) < losses_) return;
  if (late_ == 0 || !dice_.one_in(50)) it.delivers_at = std::max(it.delivers_at, now_ + delay());
  const Message message = (*broker_.messages(incarnation))[sequence - 1];
  at(it.delivers_at, [this, manager, life = it.life, incarnation, sequence, message] {
    if (!is_cut(manager)) hand_over(manager, life, Delivered{incarnation, sequence, message});
  });
}

void World::request(int manager, std::function<Fact()> serve) {
  const int life = managers_[index(manager)].life;
  const int times = dice_.below(1000) < losses_ ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    if (is_cut(manager) || dice_.below(1000) < losses_) continue;
    at(now_ + delay(), [this, manager, life, serve] {
      if (!is_broker_up_) return;
      Fact answer = serve();
      if (is_cut(manager) || dice_.below(1000) < losses_) return;
      at(now_ + delay(), [this, manager, life, answer = std::move(answer)] {
        if (!managers_[index(manager)].is_cut_off) hand_over(manager, life, answer);
      });
    });
  }
}

bool World::is_cut(int manager) const {
  return !is_broker_up_ || managers_[index(manager)].is_cut_off;
}

Time World::delay() {
  return dice_.below(1000) < late_ ? dice_.between(100, 2500) : dice_.between(1, 6);
}

/// What decides, for a person who looks for a fault.
void World::trace(const std::string& name, const Effect& effect) const {
  std::cerr << std::fixed << now_.count() << " " << name << " ";
  if (const auto* publish_it = std::get_if<Publish>(&effect))
    std::cerr << "publish " << publish_it->incarnation << "/"
              << publish_it->expected_sequence.value_or(0) + 1 << " kind "
              << static_cast<int>(publish_it->message.kind) << " term " << publish_it->message.term
              << " entries to " << publish_it->message.last;
  if (const auto* follow = std::get_if<Follow>(&effect))
    std::cerr << "follow " << follow->incarnation << "/" << follow->sequence;
  if (const auto* store = std::get_if<Store>(&effect)) std::cerr << "store " << store->first;
  if (const auto* aside = std::get_if<PutAside>(&effect)) std::cerr << "aside " << aside->after;
  if (const auto* released = std::get_if<Release>(&effect))
    std::cerr << "release " << released->sequence;
  if (const auto* lead = std::get_if<Lead>(&effect)) std::cerr << "lead " << lead->term;
  if (const auto* ends = std::get_if<End>(&effect)) std::cerr << "end " << ends->why;
  if (const auto* line = std::get_if<Say>(&effect)) std::cerr << "say " << line->line;
  std::cerr << "\n";
}

void World::violate(const std::string& what) {
  if (violation_.empty()) violation_ = "at " + std::to_string(now_.count()) + " ms: " + what;
}

}  // namespace league::league_manager::stream::testing
