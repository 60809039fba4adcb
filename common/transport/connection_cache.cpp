#include "common/transport/connection_cache.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>
#include <vector>

namespace league::transport {

namespace {

/// A byte or an end of stream where no answer is due: the peer has given the connection up.
bool is_stale(int fd) {
  char byte = 0;
  return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

}  // namespace

std::unique_ptr<PeerConnection> ConnectionCache::take(const std::string& peer) {
  while (auto connection = take_any(peer)) {
    if (is_stale(connection->channel->descriptor())) continue;
    connection->is_reused = true;
    return connection;
  }
  return nullptr;
}

std::unique_ptr<PeerConnection> ConnectionCache::take_any(const std::string& peer) {
  std::lock_guard lock(mutex_);
  auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return nullptr;
  Order::iterator idle = found->second.back();
  found->second.pop_back();
  if (found->second.empty()) by_peer_.erase(found);
  auto connection = std::move(idle->connection);
  order_.erase(idle);
  return connection;
}

void ConnectionCache::put(const std::string& peer, std::unique_ptr<PeerConnection> connection) {
  std::unique_ptr<PeerConnection> surplus;  // closed after the lock
  std::lock_guard lock(mutex_);
  order_.push_front({peer, std::move(connection), std::chrono::steady_clock::now()});
  by_peer_[peer].push_back(order_.begin());
  if (order_.size() > options_.max_idle) surplus = remove_oldest();
}

std::unique_ptr<PeerConnection> ConnectionCache::remove_oldest() {
  auto found = by_peer_.find(order_.back().peer);
  found->second.pop_front();
  if (found->second.empty()) by_peer_.erase(found);
  auto connection = std::move(order_.back().connection);
  order_.pop_back();
  return connection;
}

void ConnectionCache::close_idle() {
  auto oldest = std::chrono::steady_clock::now() - options_.idle_timeout;
  std::vector<std::unique_ptr<PeerConnection>> closed;
  std::lock_guard lock(mutex_);
  while (!order_.empty() && order_.back().since <= oldest) closed.push_back(remove_oldest());
}

}  // namespace league::transport
