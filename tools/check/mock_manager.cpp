#include "tools/check/mock_manager.h"

#include <utility>

#include "common/core/clock.h"
#include "common/core/signing_key.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {

using nlohmann::json;

namespace {

std::string conversation_of(const InboundCall& call) {
  const std::string& id = call.text("conversation_id");
  return id.empty() ? "convleaguecheck001" : id;
}

}  // namespace

MockManager::MockManager(Options options) : options_(std::move(options)) {
  core::CryptoRandom random;
  const bool has_player = !options_.player_id.empty();
  token_ = core::AuthToken("tok_" + std::string(has_player ? "p07_" : "ref03_") +
                           core::to_base32(random.bytes<32>()));
  league_key_ = core::SigningKey::generate(random).public_key();
  receipt_key_ = core::to_hex(random.bytes<32>());
}

core::Result<std::unique_ptr<MockManager>> MockManager::open(transport::front::HttpRuntime& runtime,
                                                             Options options) {
  std::unique_ptr<MockManager> manager(new MockManager(std::move(options)));
  auto server = MockServer::open(
      runtime, manager->options_.address, manager->options_.port,
      [self = manager.get()](const InboundCall& call) { return self->answer(call); },
      manager->options_.seats);
  if (!server) return server.error();
  manager->server_ = std::move(*server);
  if (CheckerBus* bus = manager->options_.bus; bus != nullptr) {
    auto served = bus->serve_league(*manager->server_, manager->options_.league_id);
    if (!served) return served.error();
    manager->on_bus_ = std::move(*served);
  }
  return manager;
}

std::string MockManager::url() const {
  return on_bus_ ? "nats:manager/" + options_.league_id : server_->url();
}

std::string MockManager::addresses() const {
  return on_bus_ ? server_->url() + " or " + url() : server_->url();
}

void MockManager::refuse_registrations(int count) {
  std::lock_guard lock(mutex_);
  refusals_ = count;
}

void MockManager::set_answer(std::function<std::optional<MockAnswer>(const InboundCall&)> answer) {
  std::lock_guard lock(mutex_);
  answer_ = std::move(answer);
}

json MockManager::accepted(const InboundCall& call, bool is_referee) {
  json message = {
      {"protocol", "league.v2"},
      {"message_type", is_referee ? "REFEREE_REGISTER_RESPONSE" : "LEAGUE_REGISTER_RESPONSE"},
      {"sender", "league_manager"},
      {"timestamp", core::SystemClock().utc_now().to_wire()},
      {"conversation_id", conversation_of(call)},
      {"auth_token", token_.reveal()},
      {"league_id", options_.league_id},
      {"status", "ACCEPTED"},
      {"reason", nullptr},
      {"match_credentials", true},
      {"league_key", league_key_},
      {"game", tested_game()->to_json()}};
  message[is_referee ? "referee_id" : "player_id"] =
      is_referee ? options_.referee_id : options_.player_id;
  if (is_referee) return message;
  const bool is_outward = call.meta_text("contact_endpoint") == agent::seats::kOutward;
  if (is_outward && options_.seats != nullptr) options_.seats->expect(options_.player_id, token_);
  const std::string& nonce = call.text("registration_nonce");
  std::lock_guard lock(mutex_);
  const bool is_new = call.text("auth_token").empty();
  if (is_new) nonce_ = nonce;
  if (is_new || (!nonce.empty() && nonce == nonce_)) message["receipt_key"] = receipt_key_;
  return message;
}

json MockManager::queried(const InboundCall& call) const {
  const auto type = call.message.value("query_type", json("GET_STANDINGS"));
  json message = {{"protocol", "league.v2"},
                  {"message_type", "LEAGUE_QUERY_RESPONSE"},
                  {"sender", "league_manager"},
                  {"timestamp", core::SystemClock().utc_now().to_wire()},
                  {"conversation_id", conversation_of(call)},
                  {"league_id", options_.league_id},
                  {"query_type", type},
                  {"success", true},
                  {"data", json::object()}};
  if (type == "GET_STANDINGS") message["data"] = {{"standings", json::array()}};
  if (type == "GET_SCHEDULE") message["data"] = {{"schedule", json::array()}};
  return message;
}

MockAnswer MockManager::answer(const InboundCall& call) {
  const std::string type = call.type();
  const bool is_player = type == "LEAGUE_REGISTER_REQUEST";
  const bool is_referee = type == "REFEREE_REGISTER_REQUEST";
  {
    std::lock_guard lock(mutex_);
    if (answer_) {
      if (auto special = answer_(call)) return *special;
    }
    if ((is_player || is_referee) && refusals_ > 0) {
      --refusals_;
      return {.result = nullptr, .http_status = 503, .raw = "busy"};
    }
  }
  if (is_player || is_referee) return {.result = accepted(call, is_referee)};
  if (type == "LEAGUE_QUERY") return {.result = queried(call)};
  if (call.id.is_null()) return {.result = nullptr, .http_status = 202, .raw = " "};
  if (call.method.starts_with("initialize") || call.method.starts_with("server/"))
    return {.result = nullptr, .error = {{"code", -32601}, {"message", "Method not found"}}};
  return {.result = {{"status", "ok"}}};
}

}  // namespace league::tools::check
