#include "common/transport/routing_caller.h"

#include <utility>

namespace league::transport {

RoutingCaller::RoutingCaller(std::unique_ptr<Caller> http, std::unique_ptr<Caller> links)
    : http_(std::move(http)), links_(std::move(links)) {}

void RoutingCaller::call(OutboundCall call, Completion completion) {
  auto& way = is_http(call.endpoint) ? http_ : links_;
  way->call(std::move(call), std::move(completion));
}

}  // namespace league::transport
