#include "tools/bench/bench_bots.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/rpc/frame_peek.h"
#include "common/rpc/json_object.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "common/transport/bus/nats_bus.h"
#include "common/transport/link/subject.h"
#include "game/registry.h"
#include "tools/league/up/table_text.h"

namespace league::tools::bench {
namespace {

using nlohmann::json;
using transport::bus::BusMessage;

constexpr std::chrono::seconds kPatience{5};
constexpr int kAttempts = 12;
constexpr std::chrono::milliseconds kPause{200};  // before a question without a responder is
                                                  // repeated

std::string utc_now() { return core::SystemClock().utc_now().to_wire(); }

/// Publishes messages after a delay, which is the same for all of them.
class LatePost {
 public:
  LatePost(transport::bus::Bus& bus, std::chrono::milliseconds delay)
      : bus_(bus), delay_(delay), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void post(BusMessage message) {
    if (delay_ == delay_.zero()) {
      (void)bus_.publish(message);
      return;
    }
    auto due = std::chrono::steady_clock::now() + delay_;
    std::lock_guard lock(mutex_);
    waiting_.emplace_back(due, std::move(message));
    if (waiting_.size() == 1) changed_.notify_one();
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
      auto due = waiting_.front().first;
      if (due > std::chrono::steady_clock::now()) {
        // The first message stays the first, since all have the same delay.
        changed_.wait_until(lock, stop, due, [] { return false; });
        if (stop.stop_requested()) return;
        continue;
      }
      BusMessage message = std::move(waiting_.front().second);
      waiting_.pop_front();
      lock.unlock();
      (void)bus_.publish(message);
      lock.lock();
    }
  }

  transport::bus::Bus& bus_;
  const std::chrono::milliseconds delay_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::pair<std::chrono::steady_clock::time_point, BusMessage>> waiting_;
  std::jthread thread_;  // last, since it uses all members above
};

/// One question at a time, answered at an inbox.
class Asker {
 public:
  Asker(transport::bus::Bus& bus, core::RandomSource& random, transport::link::StopSignal& stop)
      : bus_(bus),
        stop_(stop),
        stem_(transport::link::session_inbox(transport::link::BusSession::make(random), "a")) {}

  core::Result<void> open() {
    auto made = bus_.subscribe(stem_ + ".*", "",
                               [this](BusMessage answer) { on_answer(std::move(answer)); });
    if (!made) return made.error();
    subscription_ = *std::move(made);
    return {};
  }

  /// The `result` of an answer; fails with its `error`, or if no answer arrived in time after
  /// several attempts.
  core::Result<json> ask(const std::string& subject, const BusMessage& question) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      std::future<BusMessage> answer;
      BusMessage message = question;
      message.subject = subject;
      {
        std::lock_guard lock(mutex_);
        promise_ = {};
        answer = promise_.get_future();
        message.reply = stem_ + "." + std::to_string(++number_);
        awaited_ = message.reply;
      }
      if (auto sent = bus_.publish(message); !sent) return sent.error();
      if (answer.wait_for(kPatience) != std::future_status::ready) continue;
      BusMessage came = answer.get();
      if (came.is_no_responders) {
        if (stop_.wait_for(kPause) >= 0)
          return core::Error{core::ErrorCode::kShuttingDown, "stopped before all were registered",
                             ""};
        continue;
      }
      return result_of(came.payload);
    }
    return core::Error{core::ErrorCode::kConnectionError, "nobody answers at " + subject, ""};
  }

 private:
  static core::Result<json> result_of(const std::string& payload) {
    json frame = json::parse(payload, nullptr, false);
    if (frame.is_object() && frame.contains("result")) return std::move(frame["result"]);
    return core::Error{core::ErrorCode::kInvalidFieldValue, "refused: " + payload, ""};
  }

  void on_answer(BusMessage answer) {
    std::lock_guard lock(mutex_);
    if (answer.subject != awaited_) return;
    awaited_.clear();
    promise_.set_value(std::move(answer));
  }

  transport::bus::Bus& bus_;
  transport::link::StopSignal& stop_;
  const std::string stem_;
  std::mutex mutex_;
  std::promise<BusMessage> promise_;
  std::string awaited_;
  std::uint64_t number_ = 0;
  std::unique_ptr<transport::bus::Bus::Subscription> subscription_;
};

/// One bot. Answers on threads of the bus once it is registered.
class BenchBot {
 public:
  BenchBot(std::string name, std::string_view choice, transport::bus::Bus& bus, LatePost& post,
           core::RandomSource& random)
      : bus_(bus),
        post_(post),
        name_(std::move(name)),
        choice_(choice),
        session_(transport::link::BusSession::make(random)) {}

  core::Result<void> enter(Asker& asker, const std::string& league) {
    auto made = bus_.subscribe(transport::link::session_out(session_), "",
                               [this](const BusMessage& call) { on_call(call); });
    if (!made) return made.error();
    subscription_ = *std::move(made);
    BusMessage attach;
    attach.headers = {{"Mcp-Session-Id", session_.str()}};
    if (!league.empty()) attach.headers.emplace_back("League-Id", league);
    attach.payload = R"({"jsonrpc":"2.0","id":1,"method":"session/attach"})";
    auto attached = asker.ask(std::string(transport::link::kDiscoverySubject), attach);
    if (!attached) return attached.error();
    return enlist(asker);
  }

 private:
  core::Result<void> enlist(Asker& asker) {
    json meta = {{"display_name", name_},
                 {"version", "1.0.0"},
                 {"game_types", {"even_odd"}},
                 {"contact_endpoint", "nats:" + session_.str()},
                 {"hears_events", true}};
    json params = {{"protocol", "league.v2"},           {"message_type", "LEAGUE_REGISTER_REQUEST"},
                   {"sender", "player:" + name_},       {"timestamp", utc_now()},
                   {"conversation_id", "convregister"}, {"registration_nonce", session_.str()},
                   {"player_meta", std::move(meta)}};
    json frame = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "register_player"}, {"params", params}};
    BusMessage message;
    message.headers = {{"Mcp-Session-Id", session_.str()}};
    message.payload = frame.dump();
    auto result = asker.ask(transport::link::session_in(session_), message);
    if (!result) return result.error();
    if (schema::text_at(*result, "status") != "ACCEPTED") {
      return core::Error{core::ErrorCode::kInvalidFieldValue, "refused: " + result->dump(), ""};
    }
    std::lock_guard lock(mutex_);
    id_ = schema::text_at(*result, "player_id");
    league_ = schema::text_at(*result, "league_id");
    token_ = schema::text_at(*result, "auth_token");
    return {};
  }

  void on_call(const BusMessage& call) {
    auto frame = rpc::peek_frame(call.payload);
    // Answer only to inboxes: with another reply subject, a caller could make the bot publish to
    // any subject.
    if (!call.reply.starts_with("_INBOX.") || frame.kind != rpc::FrameKind::kRequest) return;
    std::string text = R"({"jsonrpc":"2.0","id":)";
    frame.id.append_to(text);
    text += R"(,"result":)";
    bool is_invitation = frame.method == "handle_game_invitation";
    if (!is_invitation && frame.method != "choose_parity") {  // everything else is a notification
      (void)bus_.publish({call.reply, "", {}, text + R"({"status":"ok"}})"});
      return;
    }
    json request = json::parse(call.payload, nullptr, false);
    append_answer(text, is_invitation, request.is_object() ? request["params"] : request);
    post_.post({call.reply, "", {}, std::move(text)});
  }

  void append_answer(std::string& text, bool is_invitation, const json& params) {
    std::lock_guard lock(mutex_);
    std::string now = utc_now();
    rpc::JsonObject answer(text);
    answer.text("protocol", "league.v2")
        .text("message_type", is_invitation ? "GAME_JOIN_ACK" : "CHOOSE_PARITY_RESPONSE")
        .text("sender", "player:" + id_)
        .text("timestamp", now)
        .text("player_id", id_)
        .text("auth_token", token_)
        .text("league_id", league_);
    for (std::string_view field : {"conversation_id", "round_id", "match_id"}) {
      auto found = params.find(field);
      if (found == params.end()) continue;
      answer.name(field);
      rpc::append_json(text, *found);
    }
    if (is_invitation) {
      answer.flag("accept", true).text("arrival_timestamp", now);
    } else {
      answer.text("parity_choice", choice_);
    }
    answer.end();
    text += '}';
  }

  transport::bus::Bus& bus_;
  LatePost& post_;
  const std::string name_;
  const std::string choice_;
  const transport::link::BusSession session_;
  std::mutex mutex_;  // guards the identity that the league gave us
  std::string id_, league_, token_;
  std::unique_ptr<transport::bus::Bus::Subscription> subscription_;  // last, since its callbacks
                                                                     // use this object
};

core::Result<void> play(const BenchBotsOptions& options, transport::link::StopSignal& stop) {
  auto bus = transport::bus::NatsBus::connect({.urls = options.bus, .name = "bench-bots"});
  if (!bus) return bus.error();
  core::CryptoRandom random;
  LatePost post(**bus, options.think);
  Asker asker(**bus, random, stop);
  if (auto opened = asker.open(); !opened) return opened;
  const auto words = (*game::standard_games().find("even_odd"))->choices();
  std::vector<std::unique_ptr<BenchBot>> bots;
  for (int i = 1; i <= options.count; ++i) {
    const auto place = static_cast<std::size_t>(i) % words.size();
    bots.push_back(std::make_unique<BenchBot>(options.name + std::to_string(i), words[place], **bus,
                                              post, random));
    if (auto entered = bots.back()->enter(asker, options.league); !entered) return entered;
  }
  std::cout << "ready" << std::endl;
  stop.wait();
  return {};
}

}  // namespace

int run_bench_bots(const BenchBotsOptions& options, transport::link::StopSignal& stop) {
  auto played = play(options, stop);
  if (!played) std::cerr << "error: " << safe_text(played.error().message) << '\n';
  return played ? 0 : 2;
}

}  // namespace league::tools::bench
