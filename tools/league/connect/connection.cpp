#include "tools/league/connect/connection.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "common/agent/seats/seat_caller.h"
#include "common/agent/seats/seat_client.h"
#include "common/core/crypto.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/schema/json_fields.h"
#include "common/transport/caller/endpoint_caller.h"
#include "common/transport/client/web_socket_connection.h"
#include "common/transport/link/event_loop.h"
#include "tools/league/connect/bot_door.h"
#include "tools/league/connect/bot_line.h"
#include "tools/league/connect/seat_file.h"
#include "tools/league/up/enter.h"
#include "tools/league/up/table_text.h"

namespace league::tools::connection {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kShortestWait{250};
constexpr milliseconds kLongestWait{10'000};

void say(const std::string& what) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::cout << safe_text(what) << std::endl;
}

/// What the main thread is told by others.
struct Event {
  bool is_stop = false;
  std::optional<Error> end = std::nullopt;  ///< of the seat's client
  json registration = nullptr;  ///< of a bot that registers itself; with its endpoint:
  std::string bot = {};
};

class Events {
 public:
  void push(Event event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    }
    changed_.notify_all();
  }
  Event next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !events_.empty(); });
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  /// Whether a stop came within `patience`.
  bool stops_within(milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] {
      return std::ranges::any_of(events_, [](const Event& event) { return event.is_stop; });
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
};

/// All members but the seat's client live as long as the program. Used by the main thread.
class Connection {
 public:
  explicit Connection(const ConnectOptions& options) : options_(options) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  core::Result<void> start();
  int run();
  Events& events() { return events_; }

 private:
  [[nodiscard]] std::string manager() const { return options_.manager.url(); }
  [[nodiscard]] std::string player() const {
    return schema::text_at(record_.registration, "player_id");
  }
  core::Result<void> open_door();
  /// Registers the bot; nothing: the program is to end, with exit code_.
  bool enter();
  core::Result<Entry> ask_for_entry();
  bool keep();
  void sit();
  void on_changed(const std::optional<Error>& why);
  /// False if the program is to end.
  bool on_end(const Error& why);
  void on_registration(Event event);

  const ConnectOptions options_;
  core::SystemClock clock_;
  core::CryptoRandom random_;
  Events events_;
  SeatRecord record_;
  int exit_code_ = 0;
  std::atomic<bool> is_entered_again_ = false;  ///< since it was last seated
  std::unique_ptr<transport::link::EventLoop> loop_;
  std::unique_ptr<core::ThreadTimer> timer_;
  std::unique_ptr<transport::caller::EndpointCaller> caller_;  ///< of the manager, for the bot
  std::unique_ptr<BotLine> line_;
  std::unique_ptr<BotDoor> door_;
  std::unique_ptr<agent::seats::SeatClient> seat_;

  std::mutex mutex_;  // guards the two below
  bool is_seated_ = false;
  bool was_seated_ = false;
  bool is_missed_ = false;  ///< the user knows that the manager is not there
};

Connection::~Connection() {
  door_ = nullptr;
  seat_ = nullptr;
  line_ = nullptr;
  caller_ = nullptr;
  timer_ = nullptr;
  loop_ = nullptr;
}

core::Result<void> Connection::start() {
  auto record = read_seat(options_.file, origin_of(options_.manager));
  if (!record) return record.error();
  record_ = std::move(*record);
  if (record_.registration_nonce.empty())
    record_.registration_nonce = core::to_hex(random_.bytes<16>());
  auto loop = transport::link::EventLoop::start();
  if (!loop) return loop.error();
  loop_ = std::move(*loop);
  timer_ = std::make_unique<core::ThreadTimer>();
  auto caller = transport::caller::EndpointCaller::create(*loop_, *timer_, clock_);
  if (!caller) return caller.error();
  caller_ = std::move(*caller);
  auto line = BotLine::open({*loop_, *timer_, clock_}, say);
  if (!line) return line.error();
  line_ = std::move(*line);
  auto bot = options_.bot;
  if (!bot && !record_.bot.empty()) {
    auto told = transport::link::parse_endpoint(record_.bot);
    if (told) bot = *told;
  }
  if (bot) line_->set_bot(*bot);
  return options_.listen ? open_door() : core::Result<void>();
}

core::Result<void> Connection::open_door() {
  auto door =
      BotDoor::open({*options_.listen, options_.manager, options_.name, options_.code}, *caller_,
                    clock_, [this](const json& registration, const std::string& bot) {
                      events_.push({.registration = registration, .bot = bot});
                    });
  if (!door) return door.error();
  door_ = std::move(*door);
  say("the bot's manager is http://localhost:" + std::to_string(door_->port()) + "/mcp");
  return {};
}

int Connection::run() {
  const bool is_known = !player().empty();
  if (!is_known && !options_.listen && !enter()) return exit_code_;
  if (is_known) say(player() + " again, as " + options_.file.string() + " says");
  if (!player().empty()) sit();
  while (true) {
    Event event = events_.next();
    if (event.is_stop) return exit_code_;
    if (event.end && !on_end(*event.end)) return exit_code_;
    if (event.registration.is_object()) on_registration(std::move(event));
  }
}

bool Connection::enter() {
  milliseconds wait = kShortestWait;
  while (true) {
    auto entry = ask_for_entry();
    if (entry) break;
    const ErrorCode code = entry.error().code;
    const bool is_silent = code == ErrorCode::kConnectionError || code == ErrorCode::kTimeout;
    if (!is_silent && code != ErrorCode::kOverloaded) {
      exit_code_ = fail(entry.error(), 1);
      return false;
    }
    if (!std::exchange(is_missed_, true))
      say("the manager does not answer, so this tries again: " + entry.error().message);
    if (events_.stops_within(wait)) return false;
    wait = std::min(2 * wait, kLongestWait);
  }
  return keep();
}

core::Result<Entry> Connection::ask_for_entry() {
  auto client = ManagerClient::connect(manager());
  if (!client) return client.error();
  auto entry = enter_player(*client,
                            {.display_name = options_.name,
                             .endpoint = std::string(agent::seats::kOutward),
                             .registration_code = options_.code,
                             .nonce = record_.registration_nonce},
                            clock_, random_);
  if (!entry) return entry.error();
  if (entry->token.empty()) {
    return Error{ErrorCode::kInvalidReply,
                 "the manager gives no tokens, and without one there is no seat",
                 {}};
  }
  record_.registration = entry->answer;
  return entry;
}

bool Connection::keep() {
  if (auto kept = write_seat(options_.file, record_); !kept) {
    exit_code_ = fail(kept.error());
    return false;
  }
  const std::string& league = schema::text_at(record_.registration, "league_id");
  say((options_.name.empty() ? "the bot" : options_.name) + " is " + player() +
      (league.empty() ? "" : " of " + league) + "; " + options_.file.string() +
      " stores its token");
  return true;
}

void Connection::sit() {
  seat_ = nullptr;
  // A bot that registers itself has the answer already.
  if (!options_.listen) line_->tell_registration(record_.registration.dump());
  seat_ = std::make_unique<agent::seats::SeatClient>(
      agent::seats::SeatClient::Context{
          std::make_shared<transport::client::WebSocketConnector>(*loop_), *timer_, clock_,
          random_},
      agent::seats::SeatHolder{
          options_.manager, player(),
          core::AuthToken(schema::text_at(record_.registration, "auth_token"))},
      *line_, [this](const Error& why) { events_.push({.end = why}); },
      [this](const std::optional<Error>& why) { on_changed(why); });
  seat_->begin();
}

void Connection::on_changed(const std::optional<Error>& why) {
  const std::lock_guard lock(mutex_);
  if (!why) {
    is_seated_ = true;
    is_entered_again_ = false;
    is_missed_ = false;
    say(std::exchange(was_seated_, true) ? "back" : "connected; waiting for matches");
    return;
  }
  if (std::exchange(is_seated_, false)) {
    is_missed_ = true;
    say("lost: " + why->message + "; trying again");
  } else if (!std::exchange(is_missed_, true)) {
    say("not connected: " + why->message + "; trying again");
  }
}

bool Connection::on_end(const Error& why) {
  seat_ = nullptr;
  if (why.code == ErrorCode::kAuthTokenInvalid && options_.listen) {
    say(why.message + "; start the bot again, so that it registers");
    return true;
  }
  const bool is_forgotten = why.code == ErrorCode::kAuthTokenInvalid && !is_entered_again_;
  if (!is_forgotten) {
    exit_code_ = fail(why.code == ErrorCode::kNotAuthorized
                          ? "taken over: " + why.message + ", so this one stops"
                          : why.message,
                      1);
    return false;
  }
  // Perhaps a new league at this address.
  say(why.message + "; registering again");
  is_entered_again_ = true;
  if (!enter()) return false;
  sit();
  return true;
}

void Connection::on_registration(Event event) {
  const bool is_same = record_.registration.is_object() && seat_ &&
                       schema::text_at(event.registration, "auth_token") ==
                           schema::text_at(record_.registration, "auth_token");
  record_.registration = std::move(event.registration);
  if (!options_.bot) {
    auto bot = transport::link::parse_endpoint(event.bot);
    if (!bot) return void(fail("the bot's contact_endpoint: " + bot.error().message));
    record_.bot = event.bot;
    line_->set_bot(*bot);
  }
  if (keep() && !is_same) sit();
}

}  // namespace

int keep_connected(const ConnectOptions& options, transport::link::StopSignal& stop) {
  Connection connection(options);
  if (auto started = connection.start(); !started) return fail(started.error());
  std::thread signals([&] {
    (void)stop.wait();
    connection.events().push({.is_stop = true});
  });
  const int code = connection.run();
  stop.request_stop();
  signals.join();
  return code;
}

}  // namespace league::tools::connection
