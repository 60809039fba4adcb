#include "common/mcp/session.h"

#include "common/core/crypto.h"

namespace league::mcp {
namespace {

constexpr std::size_t kMostSubscriptions = 256;

}  // namespace

bool ServerSession::subscribe(const std::string& uri) {
  std::lock_guard lock(mutex_);
  if (subscriptions_.size() >= kMostSubscriptions && !subscriptions_.contains(uri)) return false;
  subscriptions_.insert(uri);
  return true;
}

void ServerSession::unsubscribe(const std::string& uri) {
  std::lock_guard lock(mutex_);
  subscriptions_.erase(uri);
}

bool ServerSession::is_subscribed(const std::string& uri) const {
  std::lock_guard lock(mutex_);
  return subscriptions_.contains(uri);
}

std::shared_ptr<void> ServerSession::reserve_stream() {
  std::shared_ptr<transport::link::PeerChannel> dead;
  {
    // A client that opens a new stream does not return to the one that it has left.
    std::lock_guard lock(mutex_);
    if (stream_ != nullptr && stream_->is_away()) dead.swap(stream_);
  }
  if (dead) dead->close();
  std::lock_guard lock(mutex_);
  if (stream_ != nullptr || !reservation_.expired()) return nullptr;
  auto reservation = std::make_shared<int>(0);
  reservation_ = reservation;
  return reservation;
}

void ServerSession::set_stream(std::shared_ptr<transport::link::PeerChannel> stream) {
  std::lock_guard lock(mutex_);
  stream_ = std::move(stream);
  reservation_.reset();
}

void ServerSession::leave(const std::string& channel_id) {
  std::shared_ptr<transport::link::PeerChannel> gone;
  std::lock_guard lock(mutex_);
  if (stream_ != nullptr && stream_->id() == channel_id) gone.swap(stream_);
}

bool ServerSession::has_stream() const {
  std::lock_guard lock(mutex_);
  return stream_ != nullptr || !reservation_.expired();
}

void ServerSession::push(const std::shared_ptr<const std::string>& bytes) const {
  auto to = setup_.connection;
  if (to == nullptr) {
    std::lock_guard lock(mutex_);
    to = stream_;
  }
  if (to != nullptr) to->push(bytes);
}

void ServerSession::close() const {
  std::shared_ptr<transport::link::PeerChannel> stream;
  {
    std::lock_guard lock(mutex_);
    stream = stream_;
  }
  if (stream != nullptr) stream->close();
}

bool ServerSessions::make_room() {
  auto now = clock_.steady_now();
  while (!places_.empty() && !places_.front().session->has_stream() &&
         now - places_.front().last_used > options_.idle) {
    by_id_.erase(places_.front().session->id());
    places_.pop_front();
  }
  if (places_.size() < options_.most) return true;
  for (auto place = places_.begin(); place != places_.end(); ++place) {
    if (place->session->has_stream()) continue;
    by_id_.erase(place->session->id());
    places_.erase(place);
    return true;
  }
  return false;
}

std::shared_ptr<ServerSession> ServerSessions::create(ServerSession::Setup setup) {
  setup.id = core::to_base32(random_.bytes<20>());
  auto session = std::make_shared<ServerSession>(std::move(setup));
  std::lock_guard lock(mutex_);
  if (!make_room()) return nullptr;
  by_id_[session->id()] = places_.insert(places_.end(), {session, clock_.steady_now()});
  return session;
}

std::shared_ptr<ServerSession> ServerSessions::create_for_connection(ServerSession::Setup setup) {
  auto session = std::make_shared<ServerSession>(std::move(setup));
  std::lock_guard lock(mutex_);
  by_connection_[session->id()] = session;
  return session;
}

std::shared_ptr<ServerSession> ServerSessions::find(const std::string& id) {
  std::lock_guard lock(mutex_);
  auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  auto place = found->second;
  auto now = clock_.steady_now();
  if (now - place->last_used > options_.idle && !place->session->has_stream()) {
    places_.erase(place);
    by_id_.erase(found);
    return nullptr;
  }
  place->last_used = now;
  places_.splice(places_.end(), places_, place);
  return place->session;
}

std::shared_ptr<ServerSession> ServerSessions::find_connection(const std::string& channel_id) {
  std::lock_guard lock(mutex_);
  auto found = by_connection_.find(channel_id);
  return found == by_connection_.end() ? nullptr : found->second;
}

std::shared_ptr<ServerSession> ServerSessions::remove(const std::string& id) {
  std::lock_guard lock(mutex_);
  auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  auto session = found->second->session;
  places_.erase(found->second);
  by_id_.erase(found);
  return session;
}

void ServerSessions::note_stream(const std::string& channel_id,
                                 const std::shared_ptr<ServerSession>& session) {
  std::lock_guard lock(mutex_);
  by_stream_[channel_id] = session;
}

std::shared_ptr<ServerSession> ServerSessions::on_channel_closed(const std::string& channel_id) {
  std::shared_ptr<ServerSession> listener;
  std::shared_ptr<ServerSession> ended;
  {
    std::lock_guard lock(mutex_);
    if (auto found = by_stream_.find(channel_id); found != by_stream_.end()) {
      listener = found->second.lock();
      by_stream_.erase(found);
    }
    if (auto found = by_connection_.find(channel_id); found != by_connection_.end()) {
      ended = std::move(found->second);
      by_connection_.erase(found);
    }
  }
  if (listener) listener->leave(channel_id);
  return ended;
}

std::vector<std::shared_ptr<ServerSession>> ServerSessions::all() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<ServerSession>> sessions;
  sessions.reserve(places_.size() + by_connection_.size());
  for (const auto& place : places_) sessions.push_back(place.session);
  for (const auto& [id, session] : by_connection_) sessions.push_back(session);
  return sessions;
}

}  // namespace league::mcp
