#include "tools/gateway/gateway_session_state.h"

namespace league::tools::gateway {
namespace {

/// Further subscriptions of a client are not restored.
constexpr std::size_t kMostSubscriptions = 1000;

}  // namespace

void GatewaySessionState::note(const rpc::Request& request) {
  if (!request.params.is_object()) return;
  if (request.method == "logging/setLevel") {
    level_ = request.params.value("level", nlohmann::json());
    return;
  }
  auto uri = request.params.find("uri");
  if (uri == request.params.end() || !uri->is_string()) return;
  if (request.method == "resources/unsubscribe") {
    subscriptions_.erase(uri->get<std::string>());
  } else if (request.method == "resources/subscribe" &&
             subscriptions_.size() < kMostSubscriptions) {
    subscriptions_.insert(uri->get<std::string>());
  }
}

std::vector<GatewaySessionState::Setting> GatewaySessionState::settings() const {
  std::vector<Setting> all;
  if (!level_.is_null()) all.push_back({"logging/setLevel", {{"level", level_}}});
  for (const auto& uri : subscriptions_) all.push_back({"resources/subscribe", {{"uri", uri}}});
  return all;
}

}  // namespace league::tools::gateway
