#pragma once

#include <memory>

#include "common/core/result.h"
#include "common/transport/caller/any_connector.h"
#include "common/transport/caller/http_caller.h"
#include "common/transport/caller/link_caller.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/hub.h"

namespace league::transport {

/// What calls over any transport may take.
struct AnyCallerOptions {
  HttpCallerOptions http;
  LinkCallerOptions links;
  LineConnectorOptions lines;  ///< of sockets and children
};

/// A caller for every scheme of an endpoint. `hub` outlives it. Fails as HttpCaller::create. Its
/// destructor ends calls with kShuttingDown, closes connections and ends children.
[[nodiscard]] core::Result<std::unique_ptr<Caller>> make_caller(Hub& hub,
                                                                const AnyCallerOptions& options);

}  // namespace league::transport
