#include "common/transport/connection/wire_connection.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "common/transport/link/handle.h"

namespace league::transport::connection {
namespace {

constexpr std::size_t kLinesAtOnce = 64;
/// After this many writes to one peer, others have their turn.
constexpr int kWritesAtOnce = 4;
constexpr std::uint16_t kInternalErrorCode = 1011;

/// Replaces line ends inside a document, which would split it. In valid JSON they occur only
/// between tokens, where a blank is equivalent.
rpc::SharedText on_one_line(rpc::SharedText bytes) {
  if (bytes.view().find_first_of("\r\n") == std::string::npos) return bytes;
  std::string copy = bytes.str();
  std::replace_if(
      copy.begin(), copy.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return copy;
}

}  // namespace

std::shared_ptr<WireConnection> WireConnection::create(link::EventLoop& loop,
                                                       std::unique_ptr<Wire> wire,
                                                       WireOptions options) {
  return link::make_handle<WireConnection>(
      std::make_shared<WireConnection>(loop, std::move(wire), std::move(options)),
      [](WireConnection& connection) {
        if (connection.options_.closed.code != 0) return connection.close();
        connection.abort({core::ErrorCode::kShuttingDown, "the connection was let go", {}});
      });
}

WireConnection::WireConnection(link::EventLoop& loop, std::unique_ptr<Wire> wire,
                               WireOptions options)
    : loop_(loop),
      wire_(std::move(wire)),
      options_(std::move(options)),
      close_code_(options_.closed.code) {}

WireConnection::~WireConnection() = default;

/// Runs a task on the event loop's thread; it keeps this object.
void WireConnection::run(link::Task<void> task) {
  boost::asio::co_spawn(
      loop_.context(), std::move(task),
      [self = shared_from_this()](const std::exception_ptr& fault) {
        if (fault) self->end({core::ErrorCode::kInternalError, "the connection broke", {}});
      });
}

void WireConnection::start(std::shared_ptr<link::MessageReceiver> receiver) {
  loop_.post([self = shared_from_this(), receiver = std::move(receiver)]() mutable {
    if (self->life_ == Life::kClosed) return receiver->on_closed(self->end_.why);
    self->receiver_ = std::move(receiver);
    self->is_started_ = true;
    self->run(self->open());
  });
}

link::Task<void> WireConnection::open() {
  auto refused = co_await wire_->open();
  if (life_ == Life::kClosed) co_return;
  if (refused) co_return end(refused->why);
  is_opened_ = true;
  flush();
  if (may_read()) run(read_all());
}

bool WireConnection::may_read() const {
  return wants_reading_ && life_ == Life::kOpen && !has_input_ended_;
}

link::Task<void> WireConnection::read_all() {
  if (std::exchange(is_reading_, true)) co_return;
  wire_->set_reading(true);
  while (may_read()) {
    if (!held_) held_ = wire_->read_now();
    if (!held_) held_ = co_await wire_->read();
    if (!may_read() && !std::holds_alternative<WireEnd>(*held_)) break;
    take(*std::exchange(held_, std::nullopt));
  }
  is_reading_ = false;
  if (life_ == Life::kOpen) wire_->set_reading(false);
}

void WireConnection::take(Incoming incoming) {
  if (auto* bytes = std::get_if<std::string>(&incoming)) {
    link::ReceivedMessage message;
    message.bytes = std::move(*bytes);
    message.context =
        rpc::MessageContext::now(core::SystemClock(), options_.received, options_.context);
    try {
      receiver_->on_message(std::move(message));
    } catch (...) {
      // The exception's text is not sent, and the state that it left behind must not be used.
      fail({{core::ErrorCode::kConnectionError, "the message could not be handled", {}},
            kInternalErrorCode});
    }
  } else if (auto* skipped = std::get_if<Oversized>(&incoming)) {
    receiver_->on_oversized(skipped->frame, skipped->why);
  } else if (auto* fault = std::get_if<WireEnd>(&incoming)) {
    if (says_goodbye_) return;  // which ends it
    if (life_ != Life::kOpen) return end(end_.why);
    if (fault->last_words.empty()) return fail(std::move(*fault));
    link::OutboundMessage last;
    last.bytes = std::move(fault->last_words);
    send(std::move(last));
    finish(std::move(*fault));
  } else {
    has_input_ended_ = true;
    if (receiver_->on_input_end()) return;
    // Answers that are already queued are still sent.
    finish({{core::ErrorCode::kConnectionError, "the peer closed the connection", {}}});
  }
}

void WireConnection::set_reading(bool is_on) {
  wants_reading_ = is_on;
  loop_.post([self = shared_from_this()] {
    const bool may_read = self->is_opened_ && self->may_read();
    if (self->is_reading_) {
      self->wire_->set_reading(may_read);
    } else if (may_read) {
      self->run(self->read_all());
    }
  });
}

void WireConnection::send(link::OutboundMessage message) {
  if (message.bytes.empty()) {
    if (message.done) message.done({});
    return;
  }
  if (options_.is_lines) message.bytes = on_one_line(std::move(message.bytes));
  const std::size_t size = message.bytes.size();
  bool is_taken = false;
  bool is_too_slow = false;
  bool is_first = false;
  {
    std::lock_guard lock(mutex_);
    is_taken = takes_messages_;
    if (is_taken) {
      is_too_slow = options_.may_exceed_queue
                        ? queued_bytes_ >= options_.max_queue
                        : !queue_.empty() && queued_bytes_ + size > options_.max_queue;
      takes_messages_ = !is_too_slow;
      queued_bytes_ += size;
      queue_.push_back(std::move(message));
      is_first = !is_too_slow && !std::exchange(is_writing_, true);
    }
  }
  if (!is_taken) {
    // Only what was taken was moved. NOLINTNEXTLINE(bugprone-use-after-move)
    if (message.done)
      message.done({core::Error{core::ErrorCode::kConnectionError, options_.refusal, {}}});
  } else if (is_too_slow) {
    was_dropped_ = true;
    loop_.post([self = shared_from_this()] { self->fail(self->options_.too_slow); });
  } else if (is_first) {
    boost::asio::post(loop_.context(), [self = shared_from_this()] { self->flush(); });
  }
}

/// Shows what is to be written next in `batch_`; false if there is nothing.
bool WireConnection::collect() {
  batch_.clear();
  std::lock_guard lock(mutex_);
  const auto count = std::min(queue_.size(), options_.is_lines ? kLinesAtOnce : std::size_t{1});
  is_writing_ = count > 0;
  for (std::size_t i = 0; i < count; ++i) batch_.push_back(queue_[i].bytes.view());
  return is_writing_;
}

/// Writes what goes without waiting; a task does the rest.
void WireConnection::flush() {
  if (life_ == Life::kClosed) return;
  for (int turn = 0; turn < kWritesAtOnce && !says_goodbye_ && collect(); ++turn) {
    const auto written = wire_->write_now(batch_);
    if (written == 0) return run(write_all());
    note_written(written);
  }
  if (!batch_.empty() || life_ == Life::kClosing) run(write_all());
}

link::Task<void> WireConnection::write_all() {
  for (int turn = 1; !says_goodbye_ && collect(); ++turn) {
    if (turn % kWritesAtOnce == 0)
      co_await boost::asio::post(loop_.context(), boost::asio::use_awaitable);
    if (life_ == Life::kClosed) break;
    auto written = co_await wire_->write(batch_);
    if (life_ == Life::kClosed) break;
    if (written) {
      note_written(*written);
    } else if (!says_goodbye_) {
      co_return end(written.error());
    }
  }
  if (life_ == Life::kClosed) {
    std::lock_guard lock(mutex_);
    queue_.clear();
  } else if (life_ == Life::kClosing && !says_goodbye_) {
    co_await say_goodbye();
  }
}

void WireConnection::note_written(std::size_t count) {
  std::vector<link::OutboundMessage> written;
  {
    std::lock_guard lock(mutex_);
    for (; count > 0; --count) {
      queued_bytes_ -= queue_.front().bytes.size();
      written.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
  }
  for (const auto& message : written) {
    if (message.done) message.done({});
  }
}

void WireConnection::begin_writing() {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_writing_, true)) return;
  }
  flush();
}

void WireConnection::close() {
  {
    std::lock_guard lock(mutex_);
    if (is_closed_) return;  // the event loop may also be gone
    takes_messages_ = false;
  }
  loop_.post([self = shared_from_this()] {
    self->finish({self->options_.closed.why, self->close_code_});
  });
}

/// Sends what is queued, then says goodbye.
void WireConnection::finish(WireEnd end) {
  if (life_ != Life::kOpen) return;
  if (!is_started_) return this->end(end.why);
  {
    std::lock_guard lock(mutex_);
    takes_messages_ = false;
  }
  life_ = Life::kClosing;
  end_ = std::move(end);
  if (options_.flush_timeout != std::chrono::milliseconds::max()) {
    flush_alarm_.emplace(loop_.context(), [this] {
      loop_.post([self = shared_from_this()] { self->end(self->options_.flush_failed); });
    });
    flush_alarm_->set(std::chrono::steady_clock::now() + options_.flush_timeout);
  }
  begin_writing();
}

/// Says goodbye after the message that is being written.
void WireConnection::fail(WireEnd end) {
  if (life_ == Life::kClosed || says_goodbye_) return;
  if (end.code == 0 || !is_opened_) return this->end(end.why);
  life_ = Life::kClosing;
  end_ = std::move(end);
  drop_queue(end_.why);
  run(say_goodbye());
}

link::Task<void> WireConnection::say_goodbye() {
  says_goodbye_ = true;
  flush_alarm_.reset();
  auto known_better = co_await wire_->close(end_.code);
  end(known_better ? *known_better : end_.why);
}

void WireConnection::abort(const core::Error& why) {
  {
    std::lock_guard lock(mutex_);
    if (is_closed_) return;
    takes_messages_ = false;
  }
  loop_.post([self = shared_from_this(), why] { self->end(why); });
}

void WireConnection::set_close_code(std::uint16_t code) {
  loop_.post([self = shared_from_this(), code] { self->close_code_ = code; });
}

/// Tells about the messages that are not sent, and forgets those that are not being written.
void WireConnection::drop_queue(const core::Error& why) {
  std::vector<std::function<void(const link::SendOutcome&)>> unsent;
  {
    std::lock_guard lock(mutex_);
    takes_messages_ = false;
    for (auto& message : queue_) {
      if (message.done) unsent.push_back(std::exchange(message.done, nullptr));
    }
    const auto in_hand = is_writing_ ? std::min(batch_.size(), queue_.size()) : 0;
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(in_hand), queue_.end());
  }
  for (const auto& done : unsent) done({why});
}

void WireConnection::end(const core::Error& why) {
  if (life_ == Life::kClosed) return;
  bool is_all_sent = false;
  {
    std::lock_guard lock(mutex_);
    is_all_sent = queue_.empty();
    is_closed_ = true;
  }
  life_ = Life::kClosed;
  end_.why = why;
  flush_alarm_.reset();
  wire_->hang_up(is_all_sent);
  drop_queue(why);
  if (auto receiver = std::exchange(receiver_, nullptr)) receiver->on_closed(why);
}

}  // namespace league::transport::connection
