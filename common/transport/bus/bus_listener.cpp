#include "common/transport/bus/bus_listener.h"

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "common/rpc/frame_peek.h"
#include "common/transport/bus/bus_context.h"
#include "common/transport/client/sse_parser.h"
#include "common/transport/stream/sse_writer.h"

namespace league::transport {

/// Shared with slots that are still to be answered.
class BusListener::State final : public PeerChannel, public std::enable_shared_from_this<State> {
 public:
  State(Bus& bus, BusSession session, MessageHandler& handler, const core::Clock& clock,
        BusListenerOptions options)
      : bus_(bus),
        session_(std::move(session)),
        handler_(handler),
        clock_(clock),
        options_(std::move(options)),
        other_subject_(options_.side == BusSide::kAgent ? session_in(session_)
                                                        : session_out(session_)),
        connection_(bus_connection_info(bus, session_)),
        id_(connection_->connection_id) {}

  core::Result<void> begin() {
    {
      std::lock_guard lock(mutex_);
      is_open_ = true;  // before the first message comes, or its answer would be thrown away
    }
    auto own_subject =
        options_.side == BusSide::kAgent ? session_out(session_) : session_in(session_);
    auto subscribed =
        bus_.subscribe(own_subject, options_.queue, [weak = weak_from_this()](BusMessage message) {
          if (auto self = weak.lock()) self->on_message(std::move(message));
        });
    std::lock_guard lock(mutex_);
    is_open_ = static_cast<bool>(subscribed);
    if (!subscribed) return subscribed.error();
    subscription_ = std::move(*subscribed);
    return {};
  }
  void begin_stop() {
    std::unique_ptr<Bus::Subscription> subscription;
    {
      std::lock_guard lock(mutex_);
      subscription.swap(subscription_);
    }
  }
  void stop(std::chrono::milliseconds grace) {
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
  [[nodiscard]] bool is_listening() const {
    std::lock_guard lock(mutex_);
    return subscription_ != nullptr;
  }
  void send_keep_alive() { (void)publish_events(std::string(kBusKeepAlive)); }

  bool push(std::shared_ptr<const std::string> bytes) override {
    return is_open() && publish_events(sse_event_text(*bytes));
  }
  void close() override { begin_stop(); }
  [[nodiscard]] bool is_open() const override {
    std::lock_guard lock(mutex_);
    return is_open_;
  }
  [[nodiscard]] const std::string& id() const override { return id_; }

 private:
  bool publish_events(std::string text) {
    auto message =
        bus_message(other_subject_, std::move(text), session_,
                    options_.side == BusSide::kAgent ? rpc::MessageDirection::kClientToServer
                                                     : rpc::MessageDirection::kServerToClient);
    message.headers.emplace_back(kContentTypeHeader, kEventStreamType);
    return static_cast<bool>(bus_.publish(message));
  }
  void on_message(BusMessage message) {
    bool is_events = bus_header(message, kContentTypeHeader).starts_with(kEventStreamType);
    if (options_.on_sign_of_life)
      options_.on_sign_of_life(is_events && message.payload == kBusKeepAlive);
    if (is_events) return on_events(message);
    hand_over(std::move(message));
  }
  /// Text of events: keep-alives are comments, and each event with data is a message.
  void on_events(const BusMessage& message) {
    SseParser parser;
    std::vector<std::string> found;
    parser.feed(message.payload,
                [&found](SseEvent event) { found.push_back(std::move(event.data)); });
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
  void hand_over(BusMessage message) {
    {
      std::lock_guard lock(mutex_);
      if (in_work_ >= options_.max_in_work) return;
      ++in_work_;
    }
    Inbound inbound;
    inbound.context =
        bus_context(message, session_, rpc::MessageDirection::kClientToServer, connection_, clock_);
    inbound.bytes = std::move(message.payload);
    inbound.channel = shared_from_this();
    // Nobody waits for an answer to an answer: two sides that gave one would never end.
    auto kind = rpc::peek_frame(inbound.bytes).kind;
    bool is_final = kind == rpc::FrameKind::kNotification || kind == rpc::FrameKind::kResponse;
    bool is_server = options_.side == BusSide::kServer;
    std::string subject = is_answerable(message.reply, is_server ? &session_ : nullptr)
                              ? message.reply
                              : other_subject_;
    if (is_final) subject.clear();
    handler_.on_message(
        std::move(inbound),
        ReplySlot([self = shared_from_this(), subject, trace = bus_trace(message)](
                      OutboundReply reply) { self->answer(subject, trace, std::move(reply)); }));
  }
  /// `subject` is empty where there is to be none.
  void answer(const std::string& subject, const std::string& trace, OutboundReply reply) {
    std::shared_lock open(open_mutex_);
    if (!subject.empty() && !reply.bytes.empty() && is_open()) {
      auto message = bus_message(subject, std::move(reply.bytes), session_,
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
  /// So that nobody waits for an answer that the broker does not carry.
  void tell_too_large(const std::string& subject, const std::string& trace, const rpc::Id& id) {
    nlohmann::json error = {
        {"jsonrpc", "2.0"},
        {"id", id},
        {"error", {{"code", -32603}, {"message", "the answer is larger than the bus allows"}}}};
    (void)bus_.publish(bus_message(subject, error.dump(), session_,
                                   rpc::MessageDirection::kServerToClient, trace));
  }

  Bus& bus_;
  const BusSession session_;
  MessageHandler& handler_;
  const core::Clock& clock_;
  const BusListenerOptions options_;
  const std::string other_subject_;
  const std::shared_ptr<const rpc::ConnectionInfo> connection_;
  const std::string id_;
  std::shared_mutex open_mutex_;  // shared: the bus is in use for an answer
  mutable std::mutex mutex_;  // guards the rest, never held while others are called
  std::condition_variable all_answered_;
  std::unique_ptr<Bus::Subscription> subscription_;
  std::size_t in_work_ = 0;
  bool is_open_ = false;
};

BusListener::BusListener(std::shared_ptr<State> state) : state_(std::move(state)) {}

core::Result<std::unique_ptr<BusListener>> BusListener::start(Bus& bus, const BusSession& session,
                                                              MessageHandler& handler,
                                                              const core::Clock& clock,
                                                              BusListenerOptions options) {
  auto state = std::make_shared<State>(bus, session, handler, clock, std::move(options));
  if (auto begun = state->begin(); !begun) return begun.error();
  return std::unique_ptr<BusListener>(new BusListener(std::move(state)));
}

BusListener::~BusListener() { stop(std::chrono::milliseconds(0)); }

void BusListener::begin_stop() { state_->begin_stop(); }
void BusListener::stop(std::chrono::milliseconds grace) { state_->stop(grace); }
bool BusListener::is_listening() const { return state_->is_listening(); }
std::shared_ptr<PeerChannel> BusListener::channel() const { return state_; }
void BusListener::send_keep_alive() { state_->send_keep_alive(); }

}  // namespace league::transport
