#include "league_manager/standby/standby_takeover.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/agent/runtime/log.h"
#include "common/core/await.h"
#include "common/core/crypto.h"
#include "common/transport/link/signals.h"
#include "common/transport/link/subject.h"

namespace league::league_manager::standby {
namespace {

using namespace std::chrono_literals;
using core::ErrorCode;
using transport::bus::PublishAck;

constexpr std::chrono::milliseconds kBrokerPatience = 2s;
/// How long a stand-by waits for a message before it checks the lease and signals.
constexpr std::chrono::milliseconds kLook = 100ms;
constexpr std::chrono::milliseconds kFlush = 3s;

/// Such as `manager-1 4711 9f3c`, readable for people who inspect the broker.
std::string holder_name(core::RandomSource& random) {
  char host[64] = {};
  if (::gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  return std::string(host) + " " + std::to_string(::getpid()) + " " +
         core::to_hex(random.bytes<4>());
}

bool is_for_good(const core::Error& error) { return error.code != ErrorCode::kConnectionError; }

}  // namespace

StandbyTakeover::StandbyTakeover(StandbyTakeoverDependencies dependencies,
                                 StandbyTakeoverOptions options)
    : deps_(std::move(dependencies)), options_(std::move(options)) {}

StandbyTakeover::~StandbyTakeover() {
  if (journal_) journal_->close();
  if (lease_) lease_->end();
  streams_.reset();  // before the other members, which its completions use
}

void StandbyTakeover::say(const std::string& what) {
  if (std::exchange(said_, what) != what) agent::runtime::log::info("{}", what);
}

core::Result<transport::bus::StreamState> StandbyTakeover::ensure(
    transport::bus::StreamConfig config) {
  config.replicas = options_.replicas;
  return core::await<core::Result<transport::bus::StreamState>>([&](auto done) {
    streams_->ensure_stream(config, deps_.clock.steady_now() + kBrokerPatience, done);
  });
}

core::Result<void> StandbyTakeover::prepare() {
  if (!streams_) {
    auto made = transport::bus::JetStream::create(deps_.bus, deps_.session, deps_.clock,
                                                  deps_.timer, deps_.random);
    if (!made) return made.error();
    streams_ = std::move(*made);
    if (auto prepared = prepare_lease(); !prepared) return prepared;
  }
  if (auto lease = ensure(lease_stream(options_.league, options_.lease)); !lease)
    return lease.error();
  auto journal = ensure(journal_stream(options_.league, options_.journal_max_mib));
  return journal ? core::Result<void>() : core::Result<void>(journal.error());
}

core::Result<void> StandbyTakeover::prepare_lease() {
  LeaseOptions lease;
  lease.league = options_.league;
  lease.holder = holder_name(deps_.random);
  lease.length = options_.lease;
  lease.on_lost = [this](const std::string& why) { fence(why); };
  if (!options_.holder_file.empty()) {
    auto holders = HolderFile::open(options_.holder_file, lease.holder);
    if (!holders) return holders.error();
    lease.gone = holders->former();
    holders_ = std::move(*holders);
  }
  lease_ = std::make_unique<Lease>(*streams_, deps_.clock, deps_.timer, std::move(lease));
  return {};
}

core::Result<bool> StandbyTakeover::lead(journal::Journal& local,
                                         transport::link::StopSignal& stop) {
  for (;;) {
    auto ready = prepare();
    if (ready) break;
    if (is_for_good(ready.error())) return ready.error();
    say("looking for the streams of the league: " + ready.error().message);
    if (stop.wait_for(kLook) >= 0) return false;
  }
  JournalFollower follower(local, deps_.bus, *streams_, deps_.clock,
                           {options_.league, options_.check_record});
  if (auto begun = follower.begin(); !begun) return begun.error();
  auto turn = wait_for_turn(follower, stop);
  if (!turn || !*turn) return turn;
  lease_->keep();
  if (auto taken = take_over(follower, local, stop); !taken) {
    lease_->give_back(kBrokerPatience);
    if (taken.error().code == ErrorCode::kShuttingDown) return false;
    return taken.error();
  }
  return true;
}

core::Result<transport::bus::StreamState> StandbyTakeover::look_at_journal() {
  return core::await<core::Result<transport::bus::StreamState>>([this](auto done) {
    streams_->stream_state(transport::link::league_stream("JOURNAL", options_.league),
                           deps_.clock.steady_now() + kBrokerPatience, done);
  });
}

core::Result<bool> StandbyTakeover::is_league_there() {
  auto state = look_at_journal();
  if (!state) return state.error();
  return state->messages > 0;
}

core::Result<void> StandbyTakeover::check_follower() {
  if (std::exchange(is_follower_checked_, true) || !options_.check_follower) return {};
  return options_.check_follower();
}

core::Result<bool> StandbyTakeover::try_to_lead(const JournalFollower& follower) {
  if (!options_.begins_leagues && follower.written() == 0) {
    auto is_there = is_league_there();
    if (!is_there) return is_there;
    if (!*is_there) {
      say("there is no league " + options_.league + " to stand by for, yet");
      return false;
    }
  }
  auto taken = lease_->try_take(std::min(kBrokerPatience, options_.lease / 2));
  if (!taken) return taken.error();
  lease_number_ = taken->number;
  if (taken->is_ours) return true;
  is_there_another_ = true;
  say("league " + options_.league + " is led by '" + taken->other + "'; this manager stands by");
  return false;
}

core::Result<bool> StandbyTakeover::wait_for_turn(JournalFollower& follower,
                                                  transport::link::StopSignal& stop) {
  const auto pause = std::clamp<std::chrono::milliseconds>(options_.lease / 12, kLook, 500ms);
  auto next_look = deps_.clock.steady_now();
  is_there_another_ = !options_.begins_leagues;
  while (stop.wait_for(0ms) < 0) {
    if (!deps_.bus.is_connected()) {
      say("connecting to the broker at " + deps_.bus.url());
      if (stop.wait_for(kLook) >= 0) return false;
      continue;
    }
    if (is_there_another_) {
      if (auto checked = check_follower(); !checked) return checked.error();
    }
    if (deps_.clock.steady_now() >= next_look) {
      auto leads = try_to_lead(follower);
      if (leads && *leads) return true;
      if (!leads) {
        say("the broker does not say who leads: " + leads.error().message);
        (void)prepare();  // the broker may have lost its streams
      }
      next_look = deps_.clock.steady_now() + pause;
      continue;
    }
    // Without another manager there is nothing to follow: the stream's old content may be purged.
    auto followed = is_there_another_ ? follower.take(kLook) : core::Result<void>();
    if (!followed && is_for_good(followed.error())) return followed.error();
    if (!followed) (void)prepare();
    if ((!followed || !is_there_another_) && stop.wait_for(kLook) >= 0) return false;
  }
  return false;
}

core::Result<void> StandbyTakeover::purge() {
  auto state = look_at_journal();
  if (!state) return state.error();
  // Only up to the current end, since the request can be executed twice, or late.
  return core::await<core::Result<void>>([&](auto done) {
    streams_->purge(transport::link::league_stream("JOURNAL", options_.league), "",
                    state->last_sequence + 1, deps_.clock.steady_now() + options_.lease, done);
  });
}

core::Result<void> StandbyTakeover::take_over(JournalFollower& follower, journal::Journal& local,
                                              transport::link::StopSignal& stop) {
  if (options_.starts_anew && !is_there_another_) {
    if (auto purged = purge(); !purged) return purged;
  } else if (follower.written() == 0) {
    auto is_there = is_league_there();
    if (!is_there) return is_there.error();
    if (*is_there) {
      if (auto checked = check_follower(); !checked) return checked;
    }
  }
  if (auto begun = begin_term(follower, stop); !begun) return begun;
  if (auto settled = follower.settle(); !settled) return settled;
  ReplicatedJournalOptions options;
  options.league = options_.league;
  options.term = term_;
  options.replication = replication_;
  options.stream_sequence = stream_sequence_;
  options.published = follower.verified();
  options.packed = follower.packed();
  options.is_leading = [this] { return lease_->is_held(); };
  options.on_fenced = [this](const std::string& why) { fence(why); };
  options.on_notice = [](const std::string& notice) { agent::runtime::log::warn("{}", notice); };
  journal_ = std::make_unique<ReplicatedJournal>(local, deps_.bus, *streams_, deps_.clock,
                                                 deps_.timer, std::move(options));
  if (auto begun = journal_->begin(); !begun) return begun;
  agent::runtime::log::info("this manager leads league {} in term {}; event {} is the last",
                            options_.league, term_, follower.written());
  if (!options_.replication && replication_ == Replication::kSync)
    agent::runtime::log::info(
        "it goes on with --replicate sync, as the manager before: start another one with "
        "--standby, or nothing is answered");
  return {};
}

core::Result<void> StandbyTakeover::begin_term(JournalFollower& follower,
                                               transport::link::StopSignal& stop) {
  while (lease_->is_held()) {
    if (stop.wait_for(0ms) >= 0)
      return core::Error{ErrorCode::kShuttingDown, "this manager was asked to stop", ""};
    auto deadline = deps_.clock.steady_now() + options_.lease;
    auto read = follower.read_to_end(deadline);
    if (!read && is_for_good(read.error())) return read;
    if (!read) {
      say("the journal cannot be read: " + read.error().message);
      continue;
    }
    // Not just the lease's number: a broker that has lost its leases counts from 1 again.
    term_ = std::max(static_cast<int>(lease_number_), follower.last_term() + 1);
    replication_ =
        options_.replication.value_or(follower.replication().value_or(Replication::kAsync));
    JournalPiece beginning{term_, follower.verified() + 1, {}, false, false, replication_};
    auto message = write_piece(options_.league, beginning);
    transport::bus::PublishCondition condition;
    condition.last_sequence = follower.stream_sequence();
    const auto ack = core::await<PublishAck>(
        [&](auto done) { streams_->publish(std::move(message), condition, deadline, done); });
    stream_sequence_ = ack.sequence;
    if (ack.status == PublishAck::Status::kStored) return {};
    if (ack.status == PublishAck::Status::kFailed && is_for_good(ack.why)) return ack.why;
    if (ack.status != PublishAck::Status::kConflict)
      say("the journal cannot be written: " + ack.why.message);
    // After a conflict: the previous manager was still publishing; read its records and try again.
  }
  return core::Error{ErrorCode::kInternalError,
                     "this manager was to lead league " + options_.league +
                         ", but lost the lead again before it had begun",
                     ""};
}

void StandbyTakeover::serve() { journal_->follow(); }

bool StandbyTakeover::is_leading() const { return lease_->is_held(); }

void StandbyTakeover::fence(const std::string& why) {
  if (options_.on_fenced) options_.on_fenced(why);
}

void StandbyTakeover::finish() {
  if (!streams_) return;
  if (journal_) {
    if (journal_->flush(kFlush)) {
      lease_->give_back(kBrokerPatience);
    } else {
      agent::runtime::log::warn(
          "the broker has not accepted the last events of league {}: restart this manager, or the "
          "next one continues without them",
          options_.league);
    }
    journal_->close();
  }
  lease_->end();
  streams_.reset();
}

}  // namespace league::league_manager::standby
