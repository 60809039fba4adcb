#include "common/mcp/running_requests.h"

namespace league::mcp {

std::uint64_t RunningRequests::reserve(Key key) {
  std::lock_guard lock(mutex_);
  entries_[++last_] = {std::move(key), {}};
  return last_;
}

void RunningRequests::set(std::uint64_t number,
                          const std::shared_ptr<RequestContext>& request_context) {
  std::lock_guard lock(mutex_);
  if (auto found = entries_.find(number); found != entries_.end())
    found->second.request_context = request_context;
}

void RunningRequests::remove(std::uint64_t number) {
  std::lock_guard lock(mutex_);
  entries_.erase(number);
}

template <typename Condition>
void RunningRequests::cancel_where(const Condition& condition) {
  std::vector<std::shared_ptr<RequestContext>> found;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [number, entry] : entries_) {
      if (!condition(entry.key)) continue;
      if (auto request_context = entry.request_context.lock())
        found.push_back(std::move(request_context));
    }
  }
  for (const auto& request_context : found) request_context->cancel();
}

void RunningRequests::cancel(const std::string& scope, const rpc::Id& id) {
  if (scope.empty()) return;
  cancel_where([&](const Key& key) { return key.scope == scope && key.id == id; });
}

void RunningRequests::cancel_channel(const std::string& channel) {
  cancel_where([&](const Key& key) { return key.channel == channel; });
}

void RunningRequests::cancel_scope(const std::string& scope) {
  cancel_where([&](const Key& key) { return key.scope == scope; });
}

}  // namespace league::mcp
