#include "common/transport/link/served_connection.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "common/rpc/codec.h"

namespace league::transport::link {
namespace {

std::string channel_id(const MessageConnection& connection) {
  static std::atomic<std::uint64_t> next = 1;
  auto context = connection.current_context();
  if (context.connection && !context.connection->connection_id.empty()) {
    return context.connection->connection_id;
  }
  return std::string(rpc::to_string(connection.transport_type())) + "-served-" +
         std::to_string(next++);
}

/// The connection's receiver and the handler's channel in one. It and the connection hold each
/// other until on_closed.
class ServedMessages final : public MessageReceiver,
                             public ServedConnection,
                             public std::enable_shared_from_this<ServedMessages> {
 public:
  ServedMessages(std::shared_ptr<MessageConnection> connection, MessageHandler& handler,
                 ServedConnectionOptions options)
      : id_(channel_id(*connection)),
        handler_(handler),
        options_(std::move(options)),
        connection_(std::move(connection)) {}

  void begin() {
    if (auto connection = held()) connection->start(shared_from_this());
  }

  void on_message(ReceivedMessage message) override;
  void on_oversized(const rpc::FramePeek& frame, const std::string& why) override;
  bool on_input_end() override;
  void on_closed(const core::Error& why) override;

  bool push(std::shared_ptr<const std::string> bytes) override;
  void close() override {
    if (auto connection = held()) connection->close();
  }
  [[nodiscard]] bool is_open() const override { return held() != nullptr; }
  [[nodiscard]] const std::string& id() const override { return id_; }
  [[nodiscard]] std::string close_reason() const override {
    std::lock_guard lock(mutex_);
    return close_reason_;
  }

  void begin_stop() override;
  [[nodiscard]] std::size_t in_work() const override {
    std::lock_guard lock(mutex_);
    return in_work_;
  }

 private:
  [[nodiscard]] std::shared_ptr<MessageConnection> held() const {
    std::lock_guard lock(mutex_);
    return connection_;
  }
  void answer(OutboundReply reply);
  void finish_one();

  const std::string id_;
  MessageHandler& handler_;
  const ServedConnectionOptions options_;
  // Guards the rest. Held over set_reading, which never calls back, so that pausing and resuming
  // cannot overtake each other.
  mutable std::mutex mutex_;
  std::shared_ptr<MessageConnection> connection_;  ///< null once it is closed
  std::string close_reason_;
  std::size_t in_work_ = 0;
  bool is_paused_ = false;
  bool is_stopping_ = false;
};

void ServedMessages::on_message(ReceivedMessage message) {
  {
    std::lock_guard lock(mutex_);
    ++in_work_;
    if (in_work_ >= options_.max_in_work && connection_) {
      is_paused_ = true;
      connection_->set_reading(false);
    }
  }
  Inbound inbound{std::move(message)};
  inbound.channel = shared_from_this();
  handler_.on_message(std::move(inbound),
                      ReplySlot([self = shared_from_this()](OutboundReply reply) {
                        self->answer(std::move(reply));
                      }));
}

void ServedMessages::on_oversized(const rpc::FramePeek& frame, const std::string& why) {
  const bool wants_answer =
      frame.kind != rpc::FrameKind::kResponse && frame.kind != rpc::FrameKind::kNotification;
  auto connection = wants_answer ? held() : nullptr;
  if (!connection) return;
  OutboundMessage refusal;
  refusal.bytes =
      rpc::encode_error(frame.id, static_cast<int>(rpc::StandardCode::kInvalidRequest), why);
  connection->send(std::move(refusal));
}

void ServedMessages::answer(OutboundReply reply) {
  auto connection = held();
  if (reply.bytes.empty() || !connection) {
    if (reply.after_sent) reply.after_sent();
  } else {
    OutboundMessage message{reply};
    message.done = [after = std::move(reply.after_sent)](const SendOutcome&) {
      if (after) after();
    };
    connection->send(std::move(message));
  }
  finish_one();
}

void ServedMessages::finish_one() {
  std::shared_ptr<MessageConnection> done_with;
  {
    std::lock_guard lock(mutex_);
    --in_work_;
    if (!connection_) return;
    if (is_stopping_) {
      if (in_work_ == 0) done_with = connection_;
    } else if (is_paused_ && in_work_ <= options_.max_in_work / 2) {
      is_paused_ = false;
      connection_->set_reading(true);
    }
  }
  if (done_with) done_with->close();
}

bool ServedMessages::on_input_end() {
  std::lock_guard lock(mutex_);
  is_stopping_ = true;
  return in_work_ > 0;
}

void ServedMessages::begin_stop() {
  std::shared_ptr<MessageConnection> done_with;
  {
    std::lock_guard lock(mutex_);
    if (!connection_) return;
    is_stopping_ = true;
    connection_->set_reading(false);
    if (in_work_ == 0) done_with = connection_;
  }
  if (done_with) done_with->close();
}

void ServedMessages::on_closed(const core::Error& why) {
  std::shared_ptr<MessageConnection> released;
  {
    std::lock_guard lock(mutex_);
    if (!connection_) return;
    released = std::exchange(connection_, nullptr);
    close_reason_ = why.message;
  }
  handler_.on_channel_closed(*this);
  if (options_.on_closed) options_.on_closed();
}

bool ServedMessages::push(std::shared_ptr<const std::string> bytes) {
  auto connection = held();
  if (!connection) return false;
  OutboundMessage message;
  message.bytes = std::move(bytes);
  connection->send(std::move(message));
  return true;
}

}  // namespace

std::shared_ptr<ServedConnection> ServedConnection::serve(
    std::shared_ptr<MessageConnection> connection, MessageHandler& handler,
    ServedConnectionOptions options) {
  options.max_in_work = std::max<std::size_t>(1, options.max_in_work);
  auto served =
      std::make_shared<ServedMessages>(std::move(connection), handler, std::move(options));
  served->begin();
  return served;
}

}  // namespace league::transport::link
