#include "common/transport/stream/sse_stream.h"

#include <utility>

#include "common/core/crypto.h"
#include "common/core/random_source.h"
#include "common/rpc/http_headers.h"
#include "common/transport/http/http_refusal.h"
#include "common/transport/stream/stream_host.h"

namespace league::transport::stream {

namespace {

/// What an event costs besides its bytes.
constexpr std::size_t kStoredEventCost = 128;

std::string random_stream_id() {
  core::CryptoRandom random;
  return core::to_hex(random.bytes<16>());
}

std::string_view session_of(const rpc::HeaderMap& headers) {
  return rpc::find_header(headers, rpc::kSessionHeader).value_or(std::string_view{});
}

}  // namespace

SseStream::SseStream(std::shared_ptr<StreamHost> home, Kind kind,
                     std::shared_ptr<const rpc::HeaderMap> headers)
    : home_(std::move(home)), kind_(kind), headers_(std::move(headers)) {}

SseStream::~SseStream() { home_->stored() -= stored_bytes_; }

void SseStream::configure(const link::StreamOptions& options) {
  std::lock_guard lock(mutex_);
  if (!has_begun_) options_ = options;
}

bool SseStream::push(std::shared_ptr<const std::string> bytes) {
  return emit(std::move(bytes), false, nullptr, {});
}

bool SseStream::push_event(std::shared_ptr<const std::string> bytes, std::string_view id,
                           std::string_view type) {
  return emit(std::move(bytes), false, nullptr, {id, type});
}

void SseStream::finish(std::shared_ptr<const std::string> bytes, std::function<void()> done) {
  emit(std::move(bytes), true, std::move(done), {});
}

void SseStream::answer(std::shared_ptr<const std::string> bytes, std::function<void()> done) {
  emit(std::move(bytes), false, std::move(done), {});
}

bool SseStream::begin() {
  std::lock_guard lock(mutex_);
  return begin_locked();
}

bool SseStream::begin_locked() {
  if (has_begun_) return true;
  if (has_ended_) return false;
  if (id_.empty()) id_ = random_stream_id();
  has_begun_ = true;
  if (!home_->on_begun(shared_from_this(), id_)) {
    has_ended_ = is_reported_ = true;
    reason_ = "the server stops";
    return false;
  }
  attach_locked(
      headers_.get(),
      link::sse_preface(options_.is_resumable ? event_id(0) : std::string{}, options_.retry));
  return true;
}

void SseStream::attach_locked(const rpc::HeaderMap* headers, std::string_view first) {
  socket_ = home_->new_socket(
      [self = shared_from_this()](const StreamSocket& socket, const StreamEnd& end) {
        self->on_socket_gone(socket, end);
      });
  std::string head(link::kSseHead);
  head.append("Date: ").append(http::date_now()).append("\r\n");
  if (headers != nullptr) head.append(home_->head_lines_for(*headers));
  head.append("\r\n").append(first);
  socket_->push({std::move(head)});
}

void SseStream::adopt(link::DetachedSocket socket) {
  std::shared_ptr<StreamSocket> to;
  {
    std::lock_guard lock(mutex_);
    to = socket_;
  }
  if (to) to->adopt(std::move(socket));
}

bool SseStream::emit(std::shared_ptr<const std::string> bytes, bool is_last,
                     std::function<void()> done, OwnEvent own) {
  std::unique_lock lock(mutex_);
  bool is_first = !has_begun_;
  bool is_taken = begin_locked() && !has_ended_;
  if (is_taken) {
    std::uint64_t number = ++last_number_;
    link::StreamPiece piece = link::sse_event(
        std::move(bytes), options_.is_resumable ? event_id(number) : std::string(own.id), own.type);
    if (options_.is_resumable) store(number, piece);
    // The order of events is the order of this lock; the socket only queues.
    if (socket_) {
      is_taken =
          socket_->push(std::move(piece), std::exchange(done, nullptr)) || options_.is_resumable;
    }
    if (is_last) end_locked("the answer is sent");
  }
  auto ask = is_first && is_taken ? std::exchange(ask_for_connection_, nullptr) : nullptr;
  lock.unlock();
  if (done) done();
  if (ask && !ask()) {
    cut("the request has been answered already");
    return false;
  }
  return is_taken;
}

void SseStream::push_note(std::string_view type, std::string_view data) {
  std::lock_guard lock(mutex_);
  if (socket_) socket_->push({link::sse_event_text(data, {}, type)});
}

void SseStream::close() {
  std::lock_guard lock(mutex_);
  if (!has_ended_) end_locked("the stream was ended here");
}

void SseStream::end_locked(const std::string& reason) {
  has_ended_ = true;
  reason_ = reason;
  away_since_ = std::chrono::steady_clock::now();
  if (socket_) {
    socket_->finish(reason);
  } else {
    report_closed();
  }
}

void SseStream::cut(const std::string& reason) {
  std::lock_guard lock(mutex_);
  if (!has_ended_) reason_ = reason;
  has_ended_ = true;
  while (!events_.empty()) forget_first();
  if (socket_) {
    socket_->cut({reason, false});
  } else {
    report_closed();
  }
}

void SseStream::report_closed() {
  if (!has_begun_ || std::exchange(is_reported_, true)) return;
  home_->post([self = shared_from_this()] { self->home_->on_closed(self); });
}

void SseStream::on_socket_gone(const StreamSocket& socket, const StreamEnd& end) {
  std::lock_guard lock(mutex_);
  if (socket_.get() != &socket) return;  // another took its place
  socket_.reset();
  if (options_.is_resumable && !has_ended_) {
    away_since_ = std::chrono::steady_clock::now();
    return;
  }
  if (!has_ended_) reason_ = end.reason;
  has_ended_ = true;
  report_closed();
}

void SseStream::resume(link::DetachedSocket socket, std::uint64_t last,
                       const std::shared_ptr<const rpc::HeaderMap>& headers) {
  std::lock_guard lock(mutex_);
  if (auto old = std::exchange(socket_, nullptr)) {
    old->cut({"the client came back on another connection", false});
  }
  attach_locked(headers.get(), {});
  for (const StoredEvent& event : events_) {
    if (event.number > last) socket_->push(event.piece);
  }
  if (has_ended_) socket_->finish(reason_);
  socket_->adopt(std::move(socket));
}

bool SseStream::expire(Time now) {
  const http::StreamLimits& limits = home_->limits();
  std::lock_guard lock(mutex_);
  while (!events_.empty() && now - events_.front().when >= limits.stored_for) forget_first();
  if (socket_ || now - away_since_ < limits.stored_for) return false;
  if (!has_ended_) {
    has_ended_ = true;
    reason_ = "the client did not come back";
  }
  report_closed();
  return true;
}

void SseStream::store(std::uint64_t number, const link::StreamPiece& piece) {
  const http::StreamLimits& limits = home_->limits();
  std::size_t size = piece.size() + kStoredEventCost;
  events_.push_back({number, piece, std::chrono::steady_clock::now()});
  stored_bytes_ += size;
  std::size_t total = home_->stored() += size;
  // The last event is always kept, because it may be the answer.
  while (events_.size() > 1 &&
         (stored_bytes_ > limits.max_stored || total > limits.max_stored_in_total)) {
    forget_first();
    total = home_->stored();
  }
}

void SseStream::forget_first() {
  std::size_t size = events_.front().piece.size() + kStoredEventCost;
  stored_bytes_ -= size;
  home_->stored() -= size;
  events_.pop_front();
}

bool SseStream::is_open() const {
  std::lock_guard lock(mutex_);
  return !has_ended_;
}

const std::string& SseStream::id() const {
  std::lock_guard lock(mutex_);
  if (id_.empty()) id_ = random_stream_id();
  return id_;
}

std::string SseStream::close_reason() const {
  std::lock_guard lock(mutex_);
  return has_ended_ ? reason_ : std::string{};
}

void SseStream::on_first_push(std::function<bool()> ask_for_connection) {
  std::lock_guard lock(mutex_);
  ask_for_connection_ = std::move(ask_for_connection);
}

bool SseStream::is_resumable() const {
  std::lock_guard lock(mutex_);
  return options_.is_resumable;
}

bool SseStream::is_away() const {
  std::lock_guard lock(mutex_);
  return has_begun_ && !has_ended_ && !socket_;
}

bool SseStream::is_of_session(const rpc::HeaderMap& headers) const {
  return headers_ && session_of(*headers_) == session_of(headers);
}

std::string SseStream::event_id(std::uint64_t number) const {
  return id_ + "-" + std::to_string(number);
}

}  // namespace league::transport::stream
