#include "bus/transport/bus_listener.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "bus/transport/bus.h"
#include "common/rpc/frame_peek.h"
#include "common/transport/link/budgeted_handler.h"
#include "common/transport/link/handle.h"
#include "common/transport/link/sse_parser.h"
#include "common/transport/link/sse_writer.h"

namespace league::transport::bus {
namespace {

/// At most kMostInTurn messages of a session without a credential are taken within kTurn.
constexpr auto kTurn = std::chrono::milliseconds(1000);
constexpr std::size_t kMostInTurn = 100;
/// The longest time of not listening to a session, whatever it owes.
constexpr auto kLongestFloodPause = std::chrono::milliseconds(5000);
/// The number of pauses in a row after which the session's sender is considered a flood that the
/// broker should throttle.
constexpr int kPausesBeforeStall = 2;
/// Callers repeat a request no earlier, unless the connection was lost.
constexpr auto kSlowAnswer = std::chrono::milliseconds(1000);
/// A repetition that crossed the answer has arrived by then.
constexpr auto kAnswerKept = std::chrono::milliseconds(10'000);

/// Recognises requests that a caller has sent again because it has no answer yet, so that nothing
/// is carried out twice: same reply subject, same bytes. A request whose answer took long is
/// remembered for a while afterwards, since its repetition may have crossed the answer.
class RepeatedRequests {
 public:
  using Steady = core::Clock::Steady;

  /// The request as `end` and `begin` know it; empty if it has no reply subject of its own.
  [[nodiscard]] static std::string key_of(const BusMessage& request) {
    // An inbox belongs to one request; a session's `.out` is the reply subject of many.
    if (!request.reply.starts_with("_INBOX.")) return {};
    return request.reply + " " + std::to_string(std::hash<std::string>()(request.payload));
  }
  /// Notes the request. If it is a repetition, returns its answer, which is empty while it is being
  /// worked at. An empty key is never one.
  [[nodiscard]] std::optional<rpc::SharedText> begin(const std::string& key, Steady now) {
    if (key.empty()) return std::nullopt;
    while (!answered_.empty() && answered_.front().first + kAnswerKept <= now) {
      requests_.erase(answered_.front().second);
      answered_.pop_front();
    }
    auto [found, is_new] = requests_.try_emplace(key, Request{now});
    return is_new ? std::nullopt : std::optional(found->second.answer);
  }
  /// The request is answered.
  void end(const std::string& key, const rpc::SharedText& answer, Steady now) {
    auto found = requests_.find(key);
    if (found == requests_.end()) return;
    if (answer.empty() || now < found->second.begun + kSlowAnswer) {
      requests_.erase(found);
      return;
    }
    found->second.answer = answer;
    answered_.emplace_back(now, key);
  }

 private:
  struct Request {
    Steady begun;
    rpc::SharedText answer = {};
  };
  std::map<std::string, Request> requests_;
  std::deque<std::pair<Steady, std::string>> answered_;  ///< the oldest first
};

/// Shared with slots that are still to be answered.
class SessionListener final : public BusListener,
                              public std::enable_shared_from_this<SessionListener> {
 public:
  SessionListener(Bus& bus, link::BusSession session, link::MessageHandler& handler,
                  const core::Clock& clock, BusListenerOptions options)
      : bus_(bus),
        session_(std::move(session)),
        handler_(handler),
        clock_(clock),
        options_(std::move(options)),
        own_subject_(options_.side == BusSide::kAgent ? link::session_out(session_)
                                                      : link::session_in(session_)),
        other_subject_(options_.side == BusSide::kAgent ? link::session_in(session_)
                                                        : link::session_out(session_)),
        connection_(bus_connection_info(bus, session_)),
        id_(connection_->connection_id) {}

  core::Result<void> begin() {
    {
      std::lock_guard lock(mutex_);
      is_open_ = true;  // before the first message arrives, or its answer would be dropped
    }
    auto subscribed = subscribe();
    std::lock_guard lock(mutex_);
    is_open_ = static_cast<bool>(subscribed);
    if (!subscribed) return subscribed.error();
    subscription_ = std::move(*subscribed);
    return {};
  }
  void begin_stop() override {
    std::unique_ptr<Bus::Subscription> subscription;
    std::unique_ptr<Bus::Subscription> stall;
    {
      std::lock_guard lock(mutex_);
      subscription.swap(subscription_);
      stall.swap(stall_);
      is_pausing_ = false;
    }
  }
  void stop(std::chrono::milliseconds grace) override {
    begin_stop();
    {
      std::unique_lock lock(mutex_);
      all_answered_.wait_for(lock, grace, [this] { return in_work_ == 0; });
    }
    {
      std::unique_lock open(open_mutex_);
      std::lock_guard lock(mutex_);
      if (!is_open_) return;
      is_open_ = false;
    }
    handler_.on_channel_closed(*this);
  }
  [[nodiscard]] bool is_listening() const override {
    std::lock_guard lock(mutex_);
    return subscription_ != nullptr || is_pausing_;
  }
  void take(BusMessage message) override {
    if (is_listening()) hand_over(std::move(message));
  }
  void send_keep_alive() override { (void)publish_events(std::string(kBusKeepAlive)); }

  bool push(std::shared_ptr<const std::string> bytes) override {
    return is_open() && publish_events(link::sse_event_text(*bytes));
  }
  void close() override { begin_stop(); }
  [[nodiscard]] bool is_open() const override {
    std::lock_guard lock(mutex_);
    return is_open_;
  }
  [[nodiscard]] const std::string& id() const override { return id_; }

 private:
  core::Result<std::unique_ptr<Bus::Subscription>> subscribe() {
    return bus_.subscribe(own_subject_, "", [weak = weak_from_this()](BusMessage message) {
      if (auto self = weak.lock()) self->on_message(std::move(message));
    });
  }
  bool publish_events(std::string text) {
    auto message =
        bus_message(other_subject_, std::move(text), session_,
                    options_.side == BusSide::kAgent ? rpc::MessageDirection::kClientToServer
                                                     : rpc::MessageDirection::kServerToClient);
    message.headers.emplace_back(kContentTypeHeader, link::kEventStreamType);
    return static_cast<bool>(bus_.publish(message));
  }
  void on_message(BusMessage message) {
    bool is_events = bus_header(message, kContentTypeHeader).starts_with(link::kEventStreamType);
    if (options_.on_sign_of_life)
      options_.on_sign_of_life(is_events && message.payload == kBusKeepAlive);
    if (is_events) return on_events(message);
    hand_over(std::move(message));
  }
  /// Text of events: keep-alives are comments, and each event with data is a message.
  void on_events(const BusMessage& message) {
    link::SseParser parser;
    std::vector<std::string> found;
    parser.feed(message.payload,
                [&found](link::SseEvent event) { found.push_back(std::move(event.data)); });
    // Without the headers, of which a message full of small events would cost a copy each.
    BusMessage event;
    event.subject = message.subject;
    if (auto trace = bus_trace(message); !trace.empty())
      event.headers.emplace_back(kTraceHeader, std::move(trace));
    for (auto& data : found) {
      event.payload = std::move(data);
      hand_over(event);
    }
  }
  /// Charges the request to the session's sender; nothing: the message has been refused.
  std::optional<std::shared_ptr<link::LogMeter>> admit(const BusMessage& message,
                                                       const std::string& reply_subject) {
    if (!options_.limiter) return nullptr;
    auto pass = options_.limiter->admit(message.payload, link::budget_name(session_));
    if (!pass.retry_after) {
      if (pass.is_known() || is_in_turn()) return std::move(pass.meter);
      return std::nullopt;  // still charged, so that a sender that continues is soon refused
    }
    if (pass.is_pressing) {
      listen_later(*pass.retry_after, pass.standing);
    } else if (auto refusal = link::over_budget_reply(message.payload, *pass.retry_after);
               !reply_subject.empty() && !refusal.bytes.empty()) {
      (void)bus_.publish(bus_message(reply_subject, refusal.bytes.str(), session_,
                                     rpc::MessageDirection::kServerToClient, bus_trace(message)));
    }
    return std::nullopt;
  }
  /// Sessions share a few threads of the bus, each of which takes its messages in their order: what
  /// a stranger may send at once would keep others waiting for seconds.
  bool is_in_turn() {
    std::lock_guard lock(mutex_);
    const auto now = clock_.steady_now();
    if (now >= turn_began_ + kTurn) {
      turn_began_ = now;
      taken_in_turn_ = 0;
    }
    return ++taken_in_turn_ <= kMostInTurn;
  }
  void listen_later(std::chrono::milliseconds pause, link::Standing standing) {
    std::unique_ptr<Bus::Subscription> subscription;
    bool is_flood = false;
    {
      std::lock_guard lock(mutex_);
      if (!subscription_) return;
      subscription.swap(subscription_);
      is_pausing_ = true;
      // A referee's calls to players would be stalled with what it sends here.
      is_flood = is_one_pause_too_many() && standing != link::Standing::kStaff;
    }
    // The broker reads everything that a flood sends even if nobody is subscribed.
    if (is_flood && begin_stall()) pause = kLongestFloodPause;
    options_.timer->schedule(std::min(pause, kLongestFloodPause), [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->listen_again();
    });
  }
  /// Under the lock.
  bool is_one_pause_too_many() {
    if (clock_.steady_now() > listened_again_ + kTurn) pauses_in_row_ = 0;
    return ++pauses_in_row_ > kPausesBeforeStall;
  }
  bool begin_stall() {
    auto stall = bus_.stall_publishers(own_subject_);
    if (!stall) return false;
    std::lock_guard lock(mutex_);
    if (is_pausing_) stall_.swap(stall);
    return true;
  }
  void listen_again() {
    {
      std::lock_guard lock(mutex_);
      if (!is_pausing_) return;
    }
    // Before the stall ends, so that an honest call in between is not told that nobody listens.
    auto subscribed = subscribe();
    std::unique_ptr<Bus::Subscription> stall;
    std::lock_guard lock(mutex_);
    stall.swap(stall_);
    listened_again_ = clock_.steady_now();
    // Stopped meanwhile, or the bus is closed.
    if (std::exchange(is_pausing_, false) && subscribed) subscription_.swap(*subscribed);
  }
  void hand_over(BusMessage message) {
    // Nobody waits for an answer to an answer: two sides that gave one would never end.
    auto kind = rpc::peek_frame(message.payload).kind;
    bool is_final = kind == rpc::FrameKind::kNotification || kind == rpc::FrameKind::kResponse;
    bool is_server = options_.side == BusSide::kServer;
    std::string subject = link::is_answerable(message.reply, is_server ? &session_ : nullptr)
                              ? message.reply
                              : other_subject_;
    if (is_final) subject.clear();
    auto meter = admit(message, subject);
    if (!meter) return;
    auto key = is_final ? std::string() : RepeatedRequests::key_of(message);
    if (auto known = begin_work(key)) return answer_again(subject, message, *known);
    link::Inbound inbound;
    inbound.context =
        bus_context(message, session_, rpc::MessageDirection::kClientToServer, connection_, clock_);
    inbound.bytes = std::move(message.payload);
    inbound.channel = shared_from_this();
    inbound.meter = std::move(*meter);
    handler_.on_message(std::move(inbound),
                        link::ReplySlot([self = shared_from_this(), subject, key = std::move(key),
                                         trace = bus_trace(message)](link::OutboundReply reply) {
                          self->answer(key, subject, trace, std::move(reply));
                        }));
  }
  /// Nothing: the request is to be carried out; otherwise the answer that it gets instead.
  std::optional<rpc::SharedText> begin_work(const std::string& key) {
    const auto now = clock_.steady_now();
    std::lock_guard lock(mutex_);
    if (auto known = repeated_.begin(key, now)) return known;
    if (in_work_ >= options_.max_in_work) {
      repeated_.end(key, {}, now);
      return rpc::SharedText();
    }
    ++in_work_;
    return std::nullopt;
  }
  /// Whether the answer may still be sent.
  bool note_answer(const std::string& key, const rpc::SharedText& answer) {
    const auto now = clock_.steady_now();
    std::lock_guard lock(mutex_);
    repeated_.end(key, answer, now);
    return is_open_;
  }
  /// `given` is empty if there is none: the first copy of the request is still being worked at, or
  /// there is too much work.
  void answer_again(const std::string& subject, const BusMessage& request,
                    const rpc::SharedText& given) {
    if (given.empty()) return;
    (void)bus_.publish(bus_message(subject, given.str(), session_,
                                   rpc::MessageDirection::kServerToClient, bus_trace(request)));
  }
  /// `subject` is empty if there is none.
  void answer(const std::string& key, const std::string& subject, const std::string& trace,
              link::OutboundReply reply) {
    std::shared_lock open(open_mutex_);
    if (note_answer(key, reply.bytes) && !subject.empty() && !reply.bytes.empty()) {
      auto message = bus_message(subject, reply.bytes.str(), session_,
                                 rpc::MessageDirection::kServerToClient, trace);
      auto sent = bus_.publish(message);
      if (!sent && sent.error().code == core::ErrorCode::kReplyTooLarge)
        tell_too_large(subject, trace, rpc::peek_frame(message.payload).id);
    }
    open.unlock();
    if (reply.after_sent) reply.after_sent();
    std::lock_guard lock(mutex_);
    if (--in_work_ == 0) all_answered_.notify_all();
  }
  /// Sends an error instead, so that nobody waits for an answer that the broker cannot carry.
  void tell_too_large(const std::string& subject, const std::string& trace, const rpc::Id& id) {
    nlohmann::json error = {
        {"jsonrpc", "2.0"},
        {"id", id},
        {"error", {{"code", -32603}, {"message", "the answer is larger than the bus allows"}}}};
    (void)bus_.publish(bus_message(subject, error.dump(), session_,
                                   rpc::MessageDirection::kServerToClient, trace));
  }

  Bus& bus_;
  const link::BusSession session_;
  link::MessageHandler& handler_;
  const core::Clock& clock_;
  const BusListenerOptions options_;
  const std::string own_subject_;
  const std::string other_subject_;
  const std::shared_ptr<const rpc::ConnectionInfo> connection_;
  const std::string id_;
  std::shared_mutex open_mutex_;  // shared: the bus is in use for an answer
  mutable std::mutex mutex_;  // guards the rest, never held while others are called
  std::condition_variable all_answered_;
  std::unique_ptr<Bus::Subscription> subscription_;
  std::unique_ptr<Bus::Subscription> stall_;  ///< of whoever floods, in a pause
  core::Clock::Steady listened_again_{};  ///< at the end of the last pause
  int pauses_in_row_ = 0;
  std::size_t in_work_ = 0;
  RepeatedRequests repeated_;
  core::Clock::Steady turn_began_{};
  std::size_t taken_in_turn_ = 0;
  bool is_pausing_ = false;  ///< there is no subscription, but there will be
  bool is_open_ = false;
};

}  // namespace

core::Result<std::shared_ptr<BusListener>> BusListener::start(Bus& bus,
                                                              const link::BusSession& session,
                                                              link::MessageHandler& handler,
                                                              const core::Clock& clock,
                                                              BusListenerOptions options) {
  auto listener =
      std::make_shared<SessionListener>(bus, session, handler, clock, std::move(options));
  if (auto begun = listener->begin(); !begun) return begun.error();
  return make_handle<BusListener>(std::move(listener), [](SessionListener& ended) {
    ended.stop(std::chrono::milliseconds(0));
  });
}

}  // namespace league::transport::bus
