#include "common/transport/caller/any_caller.h"

#include <utility>

#include "common/core/timer.h"

namespace league::transport {

namespace {

AnyConnectorOptions connector_options(const AnyCallerOptions& options) {
  AnyConnectorOptions connector;
  connector.lines = options.lines;
  return connector;
}

/// Plain HTTP goes to an HttpCaller, everything else by connections.
class AnyCaller final : public Caller {
 public:
  AnyCaller(Hub& hub, const AnyCallerOptions& options, std::unique_ptr<Caller> http)
      : connector_(make_connector(hub, connector_options(options))),
        http_(std::move(http)),
        links_(*connector_, clock_, timer_, options.links) {}

  void call(OutboundCall call, Completion completion) override {
    Caller& way = is_http(call.endpoint) ? *http_ : links_;
    way.call(std::move(call), std::move(completion));
  }

 private:
  core::SystemClock clock_;
  core::ThreadTimer timer_;
  const std::shared_ptr<Connector> connector_;
  const std::unique_ptr<Caller> http_;
  LinkCaller links_;  // last: it uses everything above
};

}  // namespace

core::Result<std::unique_ptr<Caller>> make_caller(Hub& hub, const AnyCallerOptions& options) {
  auto http = HttpCaller::create(options.http);
  if (!http) return http.error();
  return std::unique_ptr<Caller>(std::make_unique<AnyCaller>(hub, options, std::move(*http)));
}

}  // namespace league::transport
