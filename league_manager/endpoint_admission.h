#pragma once

#include <functional>
#include <string>

#include "common/agent/blocking_tasks.h"
#include "common/transport/endpoint_policy.h"

namespace league::league_manager {

/// Decides whether an agent's contact_endpoint may be called. Numeric hosts, localhost, Unix
/// sockets and commands are decided at once, names on a thread of their own, since a look-up may
/// block. Thread-safe.
class EndpointAdmission {
 public:
  using Then = std::function<void(core::Result<transport::Endpoint>)>;

  explicit EndpointAdmission(transport::EndpointPolicy policy) : policy_(std::move(policy)) {}

  /// Calls `then` once, perhaps before it returns, with the endpoint in canonical form: where a
  /// name was looked up and the scheme is one without TLS, the address that was found stands in its
  /// place, so that nobody can aim it elsewhere later.
  void admit(const std::string& url, Then then);

 private:
  const transport::EndpointPolicy policy_;
  agent::BlockingTasks tasks_;
};

}  // namespace league::league_manager
