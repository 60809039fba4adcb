#include "common/mcp/client/client_calls.h"
#include "common/mcp/client/client_session.h"
#include "common/mcp/client/client_session_call.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

/// If a request gets status 400 again in the renewed session, the session was not the cause. After
/// that, no status 400 renews the session for this long, so that faulty requests do not cause
/// repeated handshakes.
constexpr std::chrono::seconds kPauseAfterFutileRenewal{10};

/// The `resultType` of a result; empty if it has none.
std::string result_type_of(const json& result) {
  auto type = result.is_object() ? result.find("resultType") : result.end();
  if (!result.is_object() || type == result.end()) return {};
  return type->is_string() ? type->get<std::string>() : "none";
}

}  // namespace

bool ClientSession::is_session_lost(const std::shared_ptr<Call>& call, int http_status) {
  if (http_status == 404) return call->had_session && !call->was_renewed;
  if (http_status != 400 || !call->had_session) return false;
  const auto now = tools_.clock.steady_now();
  std::lock_guard lock(mutex_);
  if (call->was_renewed) {
    if (call->was_renewed_at_400) next_renewal_at_400_ = now + kPauseAfterFutileRenewal;
    return false;
  }
  // If the session was already replaced in the meantime, the request is sent again.
  if (call->generation == generation_ && now < next_renewal_at_400_) return false;
  call->was_renewed_at_400 = true;
  return true;
}

void ClientSession::note_lost_server(const Call& call) {
  std::lock_guard lock(mutex_);
  // Requests of 2026-07-28 need no session, and other connections end together with their server.
  bool may_forget = !negotiated_.is_modern && transport::link::is_http(endpoint_);
  if (may_forget && call.generation == generation_) is_in_doubt_ = true;
}

void ClientSession::renew(const std::shared_ptr<Call>& call) {
  std::optional<Negotiation::Step> step;
  bool is_renewed = false;
  {
    std::lock_guard lock(mutex_);
    if (!calls_.contains(call->id)) return;
    call->was_renewed = true;
    if (state_ == State::kReady && call->generation == generation_) {
      state_ = State::kRenewing;
      connect_deadline_ = call->request.deadline;
      negotiation_ = Negotiation(negotiation_options(/*skips_discovery=*/true));
      step = negotiation_.begin();
    }
    // Another request may have noticed the loss first, and the renewal may already be complete.
    is_renewed = state_ == State::kReady;
    if (state_ == State::kRenewing) waiting_.push_back(call);
  }
  if (step) return run(std::move(*step));
  if (is_renewed) send(call);
}

void ClientSession::judge_result(const Call& call, SessionAnswer& answer) {
  if (answer.response.error) return;
  bool is_modern = false;
  {
    std::lock_guard lock(mutex_);
    is_modern = negotiated_.is_modern;
    // Only HTTP has header fields; on other transports the marks have no meaning.
    bool has_fields = is_modern && transport::link::is_http(endpoint_);
    if (has_fields && call.request.method == "tools/list")
      param_headers_.learn(answer.response.result);
  }
  std::string type = result_type_of(answer.response.result);
  if (type == "input_required") {
    answer.error = Error{ErrorCode::kInvalidReply,
                         "the server wants more input for " + call.request.method +
                             " (resultType input_required), and this client has none to give",
                         "/result/resultType"};
  } else if (is_modern && !type.empty() && type != "complete") {
    answer.error = Error{ErrorCode::kInvalidReply,
                         "the result is of a type that this client does not know: resultType \"" +
                             type.substr(0, 40) + "\"",
                         "/result/resultType"};
  }
  answer.is_unfinished = answer.error.has_value();
}

void ClientSession::list_and_repeat(const std::shared_ptr<Call>& call, SessionAnswer refusal) {
  call->has_listed = true;
  auto kept = std::make_shared<SessionAnswer>(std::move(refusal));
  list_tools(shared_from_this(), call->request.deadline,
             [self = shared_from_this(), call, kept](const core::Result<std::vector<json>>& tools) {
               if (tools) return self->send(call);
               self->finish(call, std::move(*kept));
             });
}

}  // namespace league::mcp::client
