#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/agent/runtime/blocking_tasks.h"
#include "common/rpc/context.h"
#include "common/transport/link/endpoint_policy.h"

namespace league::league_manager::admission {

/// Decides whether an agent's contact_endpoint may be called. Numeric hosts, localhost, Unix
/// sockets and commands are decided at once, names on a thread of their own, since a look-up may
/// block. Thread-safe.
class EndpointAdmission {
 public:
  using Then = std::function<void(core::Result<transport::link::Endpoint>)>;

  explicit EndpointAdmission(transport::link::EndpointPolicy policy) : policy_(std::move(policy)) {}

  /// Calls `then` once, perhaps before it returns, with the endpoint in canonical form: if a name
  /// was looked up and the scheme has no TLS, the address replaces the name, so that nobody can
  /// redirect it later.
  void admit(const std::string& url, Then then);

 private:
  const transport::link::EndpointPolicy policy_;
  agent::runtime::BlockingTasks tasks_;
};

/// On a bus an agent is called by the session that it uses itself, never by another's: returns the
/// refusal, or nothing. `context` is that of the registration.
[[nodiscard]] std::optional<core::Error> foreign_session(const std::string& endpoint,
                                                         const rpc::MessageContext& context);

}  // namespace league::league_manager::admission
