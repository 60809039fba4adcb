#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "common/transport/link/caller.h"

namespace league::transport::caller {

/// Calls to one peer that go out as one JSON-RPC batch, in one request. Set it in every call, make
/// the calls, and close it: then they are sent. Each call has an outcome of its own. A call that is
/// added later, or to a batch of one, is sent alone. Thread-safe. Source: protocol §4 (4.30).
class CallBatch : public std::enable_shared_from_this<CallBatch> {
 public:
  /// For a caller, which sends the batch and outlives it.
  void add(link::Caller& by, link::OutboundCall call, link::Caller::Completion completion);
  void close();

 private:
  struct Entry {
    link::OutboundCall call;
    link::Caller::Completion completion;
  };
  static link::OutboundCall joined(const std::vector<Entry>& entries);
  static void distribute(std::vector<Entry> entries, const link::CallOutcome& outcome);

  std::mutex mutex_;
  link::Caller* caller_ = nullptr;
  std::vector<Entry> entries_;
  bool is_closed_ = false;
};

/// Sends calls that have a CallBatch in it, and passes on all others. Only over HTTP: other
/// transports send messages one by one anyway. Thread-safe.
class BatchCaller final : public link::Caller {
 public:
  /// `caller` outlives this object.
  explicit BatchCaller(link::Caller& caller) : caller_(caller) {}
  void call(link::OutboundCall call, Completion completion) override;

 private:
  link::Caller& caller_;
};

}  // namespace league::transport::caller
