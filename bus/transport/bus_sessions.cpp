#include "bus/transport/bus_sessions.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bus/transport/bus.h"
#include "bus/transport/bus_listener.h"
#include "bus/transport/kept_tasks.h"
#include "common/core/error_code.h"
#include "common/rpc/frame_peek.h"
#include "common/rpc/http_headers.h"
#include "common/task/task.h"

namespace league::transport::bus {
namespace {

using nlohmann::json;
using Steady = core::Clock::Steady;

constexpr int kInvalidParams = -32602;
constexpr int kInternal = -32603;
constexpr std::string_view kInitialize = "initialize";
/// The number of keep-alives that may be missing: a break of nine seconds costs at most two at the
/// default interval.
constexpr int kMissed = 3;
/// A session that has been silent this long may be dropped to make room for another.
constexpr std::chrono::minutes kForgotten{10};
/// The same for a session that has never sent anything, because attaching alone reserves no place.
constexpr std::chrono::minutes kNeverHeard{1};

class LeagueSessions final : public BusSessions {
 public:
  LeagueSessions(Bus& bus, link::MessageHandler& handler, const core::Clock& clock,
                 core::Timer& timer, core::RandomSource& random, BusSessionsOptions options)
      : bus_(bus),
        handler_(handler),
        clock_(clock),
        timer_(timer),
        random_(random),
        options_(std::move(options)) {}
  ~LeagueSessions() override { stop(std::chrono::milliseconds(0)); }
  LeagueSessions(const LeagueSessions&) = delete;
  LeagueSessions& operator=(const LeagueSessions&) = delete;

  core::Result<void> begin() {
    for (std::string_view subject : {link::kDiscoverySubject, link::kSessionDiscoveries}) {
      auto heard = hear(bus_, std::string(subject), "manager." + options_.league_id, false);
      if (!heard) return heard;
    }
    for (const auto& session : options_.served_first) {
      auto heard = hear(*options_.first_bus, link::session_discovery(session), "", true);
      if (heard) heard = attach(session);
      if (!heard) return heard;
    }
    if (options_.keep_alive.count() > 0) {
      watch_ = bus_.watch([this](bool is_connected) {
        if (!is_connected) was_cut_off_ = true;
      });
      pulses_.spawn(pulse());
    }
    return {};
  }
  core::Result<void> attach(const link::BusSession& session) override {
    std::shared_ptr<Attached> replaced;  // one whose channel was closed
    {
      std::lock_guard lock(mutex_);
      if (is_stopping_) return stopping();
      if (auto found = sessions_.find(session); found != sessions_.end()) {
        if (found->second->listener->is_listening()) return {};
        replaced = std::move(found->second);
        sessions_.erase(found);
      }
    }
    if (replaced) replaced->listener->stop(std::chrono::milliseconds(0));
    if (!is_first(session)) {
      if (auto room = make_room(); !room) return room;
    }
    auto attached = std::make_shared<Attached>();
    BusListenerOptions listening;
    listening.side = BusSide::kServer;
    listening.on_sign_of_life = [this, session](bool is_keep_alive) {
      on_sign_of_life(session, is_keep_alive);
    };
    listening.limiter = options_.limiter;
    listening.timer = &timer_;
    auto listener =
        BusListener::start(bus_of(session), session, handler_, clock_, std::move(listening));
    if (!listener) return listener.error();
    attached->listener = std::move(*listener);
    attached->last_heard = clock_.steady_now() - (kForgotten - kNeverHeard);
    std::lock_guard lock(mutex_);
    if (is_stopping_) return stopping();
    // If another request attached the session first, this one is destroyed after the lock is
    // released: `attached` is declared before it.
    sessions_.try_emplace(session, attached);
    return {};
  }
  [[nodiscard]] std::size_t size() const override {
    std::lock_guard lock(mutex_);
    return sessions_.size();
  }
  void begin_stop() override {
    pulses_.stop();
    std::vector<std::unique_ptr<Bus::Subscription>> discoveries;
    std::unique_ptr<Bus::Subscription> watch;
    std::map<link::BusSession, std::shared_ptr<Attached>> sessions;
    {
      std::lock_guard lock(mutex_);
      is_stopping_ = true;
      discoveries.swap(discoveries_);
      watch.swap(watch_);
    }
    discoveries.clear();
    watch.reset();
    {
      std::lock_guard lock(mutex_);
      sessions = sessions_;
    }
    for (auto& [session, attached] : sessions) attached->listener->begin_stop();
  }
  void stop(std::chrono::milliseconds grace) override {
    begin_stop();
    std::map<link::BusSession, std::shared_ptr<Attached>> sessions;
    {
      std::lock_guard lock(mutex_);
      sessions.swap(sessions_);
    }
    const auto end = clock_.steady_now() + grace;
    for (auto& [session, attached] : sessions) {
      auto left = std::max(end - clock_.steady_now(), Steady::duration::zero());
      attached->listener->stop(std::chrono::duration_cast<std::chrono::milliseconds>(left));
    }
    end_on(pulses_.executor(), [] {});  // waits for on_gone, where it is running
  }

 private:
  struct Attached {
    std::shared_ptr<BusListener> listener;
    Steady last_heard{};
    bool is_watched = false;  ///< it has sent keep-alives on its own
    bool is_gone = false;
  };

  static core::Error stopping() {
    return {core::ErrorCode::kShuttingDown, "the manager is stopping", {}};
  }
  [[nodiscard]] bool is_first(const link::BusSession& session) const {
    return options_.first_bus != nullptr && options_.served_first.contains(session);
  }
  /// The bus that serves the session.
  [[nodiscard]] Bus& bus_of(const link::BusSession& session) const {
    return is_first(session) ? *options_.first_bus : bus_;
  }
  core::Result<void> hear(Bus& bus, const std::string& subject, const std::string& queue,
                          bool is_for_first) {
    auto discovery = bus.subscribe(subject, queue, [this, is_for_first](const BusMessage& message) {
      on_discovery(message, is_for_first);
    });
    if (!discovery) return discovery.error();
    std::lock_guard lock(mutex_);
    discoveries_.push_back(std::move(*discovery));
    return {};
  }
  /// The session that a request at `mcp.discovery` is about: the one in the subject, to which only
  /// its user may publish if the broker has users; otherwise the one in the header, or the one at
  /// whose `.out` the answer is expected, or a new one.
  [[nodiscard]] std::optional<link::BusSession> session_of(const BusMessage& message) {
    auto named = bus_header(message, rpc::kSessionHeader);
    if (message.subject == link::kDiscoverySubject) {
      if (!named.empty()) return link::BusSession::parse(named);
      auto addressed = link::session_of_out(message.reply);
      return addressed ? addressed : link::BusSession::make(random_);
    }
    auto own = message.subject.substr(link::kDiscoverySubject.size() + 1);
    return named.empty() || named == own ? link::BusSession::parse(own) : std::nullopt;
  }
  void on_discovery(const BusMessage& message, bool is_for_first) {
    auto league = bus_header(message, kLeagueHeader);
    if (!league.empty() && league != options_.league_id) return;
    auto frame = rpc::peek_frame(message.payload);
    if (frame.kind != rpc::FrameKind::kRequest) return;
    const bool is_own = message.subject != link::kDiscoverySubject;
    auto session = session_of(message);
    if (session && options_.limiter &&
        options_.limiter->admit({}, link::budget_name(*session)).retry_after)
      return;
    // Sessions that are served first are handled on the other bus.
    if (session && is_own && is_first(*session) != is_for_first) return;
    bool may_answer = session && is_own
                          ? link::is_own_answer(message.reply, *session)
                          : link::is_answerable(message.reply, session ? &*session : nullptr);
    if (!may_answer) return;
    json answer = {{"jsonrpc", "2.0"}, {"id", frame.id}};
    if (!session) {
      answer["error"] = {
          {"code", kInvalidParams},
          {"message",
           "Mcp-Session-Id: a session's name has 8 to 64 letters, digits, - and _, and at "
           "mcp.discovery.ID it is ID"}};
      return publish(message.reply, link::BusSession::make(random_), answer);
    }
    if (auto attached = attach(*session); !attached) {
      const auto& info = core::error_info(attached.error().code);
      answer["error"] = {{"code", kInternal},
                         {"message", attached.error().message},
                         {"data", {{"error_code", info.wire_code}, {"error_name", info.name}}}};
      return publish(message.reply, *session, answer);
    }
    tell_attached(*session);
    if (frame.method == kInitialize) return hand_over(*session, message);
    answer["result"] = {{"league_id", options_.league_id},
                        {"session_id", session->str()},
                        {"in", link::session_in(*session)},
                        {"out", link::session_out(*session)},
                        {"keep_alive_ms", options_.keep_alive.count()}};
    publish(message.reply, *session, answer);
  }
  /// For referees, and for our own callers: what they have asked this agent, it may never have got.
  void tell_attached(const link::BusSession& session) {
    (void)bus_of(session).publish(bus_message(link::session_attached(session), {}, session,
                                              rpc::MessageDirection::kServerToClient));
  }
  /// Passes an MCP handshake on to the session that it has just attached.
  void hand_over(const link::BusSession& session, const BusMessage& message) {
    std::shared_ptr<Attached> attached;
    {
      std::lock_guard lock(mutex_);
      auto found = sessions_.find(session);
      if (found != sessions_.end()) attached = found->second;
    }
    if (attached) attached->listener->take(message);
  }
  void publish(const std::string& subject, const link::BusSession& session, const json& answer) {
    (void)bus_of(session).publish(
        bus_message(subject, answer.dump(-1, ' ', false, json::error_handler_t::replace), session,
                    rpc::MessageDirection::kServerToClient));
  }
  static core::Error full() {
    return {core::ErrorCode::kOverloaded,
            "this league's manager has reached its limit of sessions",
            {}};
  }
  /// Forgets the session that has been silent longest, if there are too many.
  core::Result<void> make_room() {
    std::shared_ptr<Attached> forgotten;
    {
      std::lock_guard lock(mutex_);
      if (sessions_.size() < options_.max_sessions) return {};
      auto now = clock_.steady_now();
      if (now < full_until_) return full();
      auto oldest = std::min_element(sessions_.begin(), sessions_.end(),
                                     [this](const auto& a, const auto& b) {
                                       return std::pair(is_first(a.first), a.second->last_heard) <
                                              std::pair(is_first(b.first), b.second->last_heard);
                                     });
      if (is_first(oldest->first)) return full();
      full_until_ = oldest->second->last_heard + kForgotten;
      if (now < full_until_) return full();
      forgotten = std::move(oldest->second);
      sessions_.erase(oldest);
    }
    // Not left to the destructor, which may run when a pulse lets go of it.
    forgotten->listener->stop(std::chrono::milliseconds(0));
    return {};
  }
  void on_sign_of_life(const link::BusSession& session, bool is_keep_alive) {
    bool is_back = false;
    {
      std::lock_guard lock(mutex_);
      auto found = sessions_.find(session);
      if (found == sessions_.end()) return;
      found->second->last_heard = clock_.steady_now();
      is_back = std::exchange(found->second->is_gone, false);
      if (is_keep_alive) found->second->is_watched = true;
    }
    if (is_back && options_.on_back) options_.on_back(session);
  }
  /// Sends keep-alives to all sessions, and checks which ones have sent theirs.
  task::Task<void> pulse() {
    for (;;) {
      const auto wanted = clock_.steady_now() + options_.keep_alive;
      co_await task::sleep_for(timer_, options_.keep_alive);
      std::vector<std::shared_ptr<Attached>> sessions;
      std::vector<link::BusSession> gone;
      look_at_all(wanted, sessions, gone);
      for (const auto& attached : sessions) attached->listener->send_keep_alive();
      for (const auto& session : gone) {
        if (options_.on_gone) options_.on_gone(session);
      }
    }
  }
  void look_at_all(Steady wanted, std::vector<std::shared_ptr<Attached>>& all,
                   std::vector<link::BusSession>& gone) {
    std::lock_guard lock(mutex_);
    const auto now = clock_.steady_now();
    const bool was_held_up = now > wanted + options_.keep_alive / 2;
    const bool was_cut_off = was_cut_off_.exchange(false) || !bus_.is_connected();
    for (auto& [session, attached] : sessions_) {
      all.push_back(attached);
      if (was_held_up || was_cut_off) attached->last_heard = now;
      const bool is_silent = now >= attached->last_heard + kMissed * options_.keep_alive;
      if (attached->is_watched && is_silent && !std::exchange(attached->is_gone, true))
        gone.push_back(session);
    }
  }

  Bus& bus_;
  link::MessageHandler& handler_;
  const core::Clock& clock_;
  core::Timer& timer_;
  core::RandomSource& random_;
  const BusSessionsOptions options_;
  mutable std::mutex mutex_;  // guards the rest, never held while others are called
  std::map<link::BusSession, std::shared_ptr<Attached>> sessions_;
  std::vector<std::unique_ptr<Bus::Subscription>> discoveries_;
  std::unique_ptr<Bus::Subscription> watch_;
  std::atomic<bool> was_cut_off_ = false;  ///< the bus was lost since the last pulse
  Steady full_until_{};  ///< until then nobody can be forgotten: nobody was silent long enough
  bool is_stopping_ = false;
  // Last: it uses everything above. A fault ends the program, as one on the timer would.
  task::Scope pulses_{task::Executor(), [](const std::exception_ptr&) { std::terminate(); }};
};

}  // namespace

core::Result<std::unique_ptr<BusSessions>> BusSessions::start(
    Bus& bus, link::MessageHandler& handler, const core::Clock& clock, core::Timer& timer,
    core::RandomSource& random, BusSessionsOptions options) {
  auto sessions =
      std::make_unique<LeagueSessions>(bus, handler, clock, timer, random, std::move(options));
  if (auto begun = sessions->begin(); !begun) return begun.error();
  return std::unique_ptr<BusSessions>(std::move(sessions));
}

}  // namespace league::transport::bus
