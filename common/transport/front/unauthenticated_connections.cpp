#include "common/transport/front/unauthenticated_connections.h"

namespace league::transport::front {

void UnauthenticatedConnections::keep(const std::string& address, std::uint64_t id) {
  auto found = addresses_.find(address);
  if (found != addresses_.end() && found->second.waiting.erase(id) > 0)
    found->second.kept.insert(id);
}

void UnauthenticatedConnections::remove(const std::string& address, std::uint64_t id) {
  auto found = addresses_.find(address);
  if (found == addresses_.end()) return;
  Address& open = found->second;
  open.waiting.erase(id);
  open.kept.erase(id);
  if (open.waiting.empty() && open.kept.empty()) addresses_.erase(found);
}

std::size_t UnauthenticatedConnections::count(const std::string& address) const {
  auto found = addresses_.find(address);
  return found == addresses_.end() ? 0 : found->second.waiting.size() + found->second.kept.size();
}

std::size_t UnauthenticatedConnections::waiting(const std::string& address) const {
  auto found = addresses_.find(address);
  return found == addresses_.end() ? 0 : found->second.waiting.size();
}

std::vector<std::uint64_t> UnauthenticatedConnections::oldest(const std::string& address,
                                                              std::size_t most) const {
  std::vector<std::uint64_t> ids;
  auto found = addresses_.find(address);
  if (found == addresses_.end()) return ids;
  for (auto id = found->second.waiting.begin();
       id != found->second.waiting.end() && ids.size() < most; ++id)
    ids.push_back(*id);
  return ids;
}

}  // namespace league::transport::front
