#include "league_manager/admission/endpoint_admission.h"

#include "common/agent/seats/seat_door.h"
#include "common/core/text.h"
#include "common/rpc/seat_address.h"
#include "common/transport/link/subject.h"

namespace league::league_manager::admission {
namespace {

bool blocks(const transport::link::Endpoint& endpoint) {
  if (!transport::link::has_host(endpoint)) return false;
  bool is_v6 = endpoint.host.find(':') != std::string::npos;
  bool is_v4 = endpoint.host.find_first_not_of("0123456789.") == std::string::npos;
  return !is_v6 && !is_v4 && endpoint.host != "localhost";
}

core::Result<transport::link::Endpoint> pinned(core::Result<transport::link::Endpoint> admitted) {
  // Under TLS the host name has to stay, since the certificate is issued for it.
  if (admitted && !transport::link::is_tls(*admitted) && !admitted->pinned_address.empty()) {
    admitted->host = admitted->pinned_address;
  }
  return admitted;
}

}  // namespace

std::optional<core::Error> foreign_session(const std::string& endpoint,
                                           const rpc::MessageContext& context) {
  auto parsed = transport::link::parse_endpoint(endpoint);
  if (!parsed || parsed->scheme != "nats") return std::nullopt;
  auto session = transport::link::BusSession::parse(parsed->path);
  // The request's subject proves the session: a broker with users lets nobody else publish there.
  const auto* nats =
      std::get_if<std::shared_ptr<const rpc::NatsMetadata>>(&context.transport.metadata);
  bool is_own = session && nats != nullptr && *nats &&
                (*nats)->subject == transport::link::session_in(*session);
  if (is_own) return std::nullopt;
  return core::Error{
      core::ErrorCode::kEndpointNotAllowed,
      "contact_endpoint " + core::excerpt(endpoint, core::kMostEchoed) +
          " is not the session from which this request came: register with a request to "
          "mcp.session.SESSION.in",
      "/contact_endpoint"};
}

void EndpointAdmission::admit(const std::string& url, Then then) {
  auto endpoint = transport::link::parse_endpoint(url);
  if (!endpoint) return then(endpoint.error());
  if (transport::link::has_host(*endpoint) && endpoint->path.starts_with(rpc::kSeatsPath)) {
    return then(core::Error{core::ErrorCode::kEndpointNotAllowed,
                            "contact_endpoint is the seat of a player: register with \"outward\" "
                            "to get a seat of your own",
                            "/contact_endpoint"});
  }
  if (!blocks(*endpoint)) return then(pinned(policy_.admit(std::move(*endpoint))));
  auto shared = std::make_shared<Then>(std::move(then));
  bool taken = tasks_.post(
      [this, endpoint = *endpoint, shared] { (*shared)(pinned(policy_.admit(endpoint))); });
  if (taken) return;
  (*shared)(core::Error{core::ErrorCode::kOverloaded,
                        "too many host names are being resolved; retry, or register an IP address",
                        "/contact_endpoint"});
}

}  // namespace league::league_manager::admission
