#pragma once

#include <memory>

#include "common/transport/caller.h"

namespace league::transport {

/// Picks the way by the endpoint's scheme: plain HTTP, or a connection. Thread-safe. Destroyed, it
/// ends the calls of both.
class RoutingCaller final : public Caller {
 public:
  /// `http` for http and https, `links` for everything else.
  RoutingCaller(std::unique_ptr<Caller> http, std::unique_ptr<Caller> links);

  void call(OutboundCall call, Completion completion) override;

 private:
  const std::unique_ptr<Caller> http_;
  const std::unique_ptr<Caller> links_;
};

}  // namespace league::transport
