#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/mcp/request_context.h"

namespace league::mcp {

/// Which notifications a client of the modern dialect wants (`subscriptions/listen`).
struct ListenFilter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::set<std::string> uris;

  /// Nothing if the parameters are not a valid filter.
  [[nodiscard]] static std::optional<ListenFilter> parse(const nlohmann::json& params);
};

/// The open streams of `subscriptions/listen`; each notification carries the id of its stream.
/// Thread-safe.
class ListenStreams {
 public:
  explicit ListenStreams(std::size_t most) : most_(most) {}
  /// Ends all open streams.
  ~ListenStreams();
  ListenStreams(const ListenStreams&) = delete;
  ListenStreams& operator=(const ListenStreams&) = delete;

  /// Registers request `number` and sends the acknowledgement. False if the client accepts no
  /// stream or there are too many: then the caller has to answer the request.
  bool open(std::uint64_t number, const Responder& reply, const ListenFilter& filter);
  /// Must be called when a request has ended; does nothing for requests without a stream.
  void remove(std::uint64_t number);

  /// Sends `method` (such as `notifications/tools/list_changed`) to all streams that want it.
  void list_changed(std::string_view method, bool ListenFilter::*which);
  void resource_updated(const std::string& uri);
  [[nodiscard]] bool is_empty() const;

 private:
  struct Stream {
    Responder reply;
    ListenFilter filter;
    bool is_acknowledged = false;  ///< no notification comes before that
  };
  template <typename Wanted>
  void notify(std::string_view method, nlohmann::json params, const Wanted& wanted);

  const std::size_t most_;
  mutable std::mutex mutex_;  // guards the rest
  std::map<std::uint64_t, Stream> streams_;
};

}  // namespace league::mcp
