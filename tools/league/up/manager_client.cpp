#include "tools/league/up/manager_client.h"

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "common/transport/caller/endpoint_caller.h"

namespace league::tools {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

/// A text member; `otherwise` if it is missing, since any program may have answered.
std::string text_in(const json& object, const char* name, const char* otherwise) {
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

core::Result<json> result_of(const transport::link::CallOutcome& outcome, const std::string& url) {
  if (outcome.error) return *outcome.error;
  json answer = json::parse(outcome.bytes, nullptr, false);
  Error strange{ErrorCode::kInvalidReply,
                url + " answered with HTTP status " + std::to_string(outcome.http_status) +
                    " and no JSON-RPC result; is it a league manager?",
                {}};
  if (!answer.is_object()) return strange;
  if (auto error = answer.find("error"); error != answer.end() && error->is_object()) {
    const bool is_unknown = error->contains("code") && (*error)["code"] == -32601;
    return Error{is_unknown ? ErrorCode::kUnknownMessageType : ErrorCode::kInvalidReply,
                 url + " refused: " + text_in(*error, "message", "no reason given"),
                 {}};
  }
  auto result = answer.find("result");
  if (result == answer.end() || !result->is_object()) return strange;
  if (text_in(*result, "message_type", "") == "LEAGUE_ERROR") {
    auto code = core::parse_error_code(text_in(*result, "error_code", ""));
    return Error{code.value_or(ErrorCode::kInvalidReply),
                 text_in(*result, "error_description", "no reason given"),
                 {}};
  }
  return *result;
}

}  // namespace

namespace {
/// `localhost` is `localhost:8000`, where a manager listens unless it is told otherwise.
std::string with_port(const std::string& address) {
  const auto host_end = std::min(address.find('/'), address.size());
  const auto after_brackets = address.find(']') < host_end ? address.find(']') : 0;
  const bool has_port = address.find(':', after_brackets) < host_end;
  return has_port ? address : std::string(address).insert(host_end, ":8000");
}
}  // namespace

core::Result<ManagerClient> ManagerClient::connect(const std::string& url) {
  bool has_scheme =
      url.find("://") != std::string::npos || url.starts_with("unix:") || url.starts_with("stdio:");
  std::string complete = has_scheme ? url : "http://" + with_port(url);
  auto endpoint = transport::link::parse_endpoint(complete);
  if (!endpoint) return endpoint.error();
  bool has_path = endpoint->scheme.starts_with("http") || endpoint->scheme.starts_with("ws");
  if (has_path && endpoint->path == "/") endpoint->path = "/mcp";
  auto caller = transport::caller::StandaloneCaller::create();
  if (!caller) return caller.error();
  return ManagerClient(std::move(*endpoint), std::move(*caller));
}

core::Result<json> ManagerClient::call(const std::string& tool, const json& arguments,
                                       std::chrono::milliseconds patience) {
  const int id = next_id_++;
  json frame = {{"jsonrpc", "2.0"}, {"id", id}, {"method", tool}, {"params", arguments}};
  // Shared, since set_value may still use it when get() returns.
  auto promise = std::make_shared<std::promise<transport::link::CallOutcome>>();
  auto outcome = promise->get_future();
  transport::link::OutboundCall question;
  question.bytes = frame.dump();
  question.endpoint = endpoint_;
  question.deadline = std::chrono::steady_clock::now() + patience;
  question.id = rpc::Id(id);
  caller_->call(std::move(question), [promise](transport::link::CallOutcome done) {
    promise->set_value(std::move(done));
  });
  return result_of(outcome.get(), endpoint_.url());
}

core::Result<json> ManagerClient::pages(const Pages& of, std::optional<std::size_t> limit) {
  json rows = json::array();
  for (;;) {
    json wanted = {{"offset", rows.size()}};
    if (limit) wanted["limit"] = *limit - rows.size();
    auto page = call(of.tool, wanted);
    if (!page) return page.error();
    auto found = page->find(of.rows);
    if (found == page->end() || !found->is_array() || found->empty()) return rows;
    for (auto& row : *found) rows.push_back(std::move(row));
    const auto total = page->value(of.total, std::size_t{0});
    if (rows.size() >= std::min(limit.value_or(total), total)) return rows;
  }
}

core::Result<json> ManagerClient::standings(std::size_t limit) {
  return pages({"get_standings", "standings", "total_players"}, limit);
}

core::Result<json> ManagerClient::agents() {
  return pages({"get_agents", "agents", "total_agents"}, std::nullopt);
}

core::Result<json> ManagerClient::resource(const std::string& uri) {
  auto answer = call("resources/read", {{"uri", uri}});
  if (!answer) return answer.error();
  const auto contents = answer->find("contents");
  if (contents != answer->end() && contents->is_array() && !contents->empty()) {
    json content = json::parse(text_in(contents->front(), "text", ""), nullptr, false);
    if (content.is_object()) return content;
  }
  return Error{ErrorCode::kInvalidReply, endpoint_.url() + " has no JSON at " + uri, {}};
}

}  // namespace league::tools
