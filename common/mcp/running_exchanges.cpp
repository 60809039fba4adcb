#include "common/mcp/running_exchanges.h"

namespace league::mcp {

std::uint64_t RunningExchanges::reserve(Key key) {
  std::lock_guard lock(mutex_);
  entries_[++last_] = {std::move(key), {}};
  return last_;
}

void RunningExchanges::set(std::uint64_t number, const std::shared_ptr<Exchange>& exchange) {
  std::lock_guard lock(mutex_);
  if (auto found = entries_.find(number); found != entries_.end())
    found->second.exchange = exchange;
}

void RunningExchanges::remove(std::uint64_t number) {
  std::lock_guard lock(mutex_);
  entries_.erase(number);
}

template <typename Condition>
std::size_t RunningExchanges::cancel_where(const Condition& condition) {
  std::vector<std::shared_ptr<Exchange>> found;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [number, entry] : entries_) {
      if (!condition(entry.key)) continue;
      if (auto exchange = entry.exchange.lock()) found.push_back(std::move(exchange));
    }
  }
  for (const auto& exchange : found) exchange->cancel();
  return found.size();
}

bool RunningExchanges::cancel(const std::string& scope, const rpc::Id& id) {
  if (scope.empty()) return false;
  return cancel_where([&](const Key& key) { return key.scope == scope && key.id == id; }) > 0;
}

void RunningExchanges::cancel_channel(const std::string& channel) {
  cancel_where([&](const Key& key) { return key.channel == channel; });
}

void RunningExchanges::cancel_scope(const std::string& scope) {
  cancel_where([&](const Key& key) { return key.scope == scope; });
}

std::size_t RunningExchanges::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace league::mcp
