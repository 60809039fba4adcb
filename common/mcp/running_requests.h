#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/mcp/request_context.h"

namespace league::mcp {

/// The running requests that clients can cancel. Thread-safe.
class RunningRequests {
 public:
  struct Key {
    std::string scope;  ///< the session or connection; empty: none
    rpc::Id id;
    std::string channel;  ///< whose end cancels the request; empty: none
  };

  /// Returns the number that `remove` needs.
  std::uint64_t reserve(Key key);
  void set(std::uint64_t number, const std::shared_ptr<RequestContext>& request_context);
  void remove(std::uint64_t number);
  /// The client has cancelled the request; does nothing if it is unknown.
  void cancel(const std::string& scope, const rpc::Id& id);
  /// Cancels the requests that end with this channel.
  void cancel_channel(const std::string& channel);
  /// Cancels all requests of a session.
  void cancel_scope(const std::string& scope);

 private:
  struct Entry {
    Key key;
    std::weak_ptr<RequestContext> request_context;
  };
  template <typename Condition>
  void cancel_where(const Condition& condition);

  mutable std::mutex mutex_;  // guards the rest
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, Entry> entries_;
};

}  // namespace league::mcp
