#include "common/mcp/client/client_calls.h"

#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

/// The most rounds of questions in one call; without a limit a server could keep the call open
/// forever.
constexpr int kMostRounds = 16;

/// The result that asks for input, if the answer is unfinished; otherwise null.
const json* questions_of(const SessionAnswer& answer) {
  const json& result = answer.response.result;
  if (!answer.is_unfinished || schema::text_at(result, "resultType") != "input_required")
    return nullptr;
  const json& questions = schema::field_at(result, "inputRequests");
  return questions.is_object() ? &questions : nullptr;
}

/// The answers to all questions; nothing if there are no questions or one cannot be answered.
std::optional<json> answers_to(const SessionAnswer& answer, const ToolCall& call) {
  const json* questions = questions_of(answer);
  if (questions == nullptr || !call.answer_question) return std::nullopt;
  json responses = json::object();
  for (const auto& [key, question] : questions->items()) {
    const auto* method = schema::field_at(question, "method").get_ptr<const std::string*>();
    if (method == nullptr) return std::nullopt;
    auto response = call.answer_question(*method, question.value("params", json::object()));
    if (!response) return std::nullopt;
    responses[key] = std::move(*response);
  }
  return responses;
}

/// The parameters of a call; `responses` and `state` belong to this round only.
std::string params_of(const ToolCall& call, const json& responses, const json& state) {
  std::string params = R"({"name":)";
  rpc::append_json_string(params, call.name);
  params.append(R"(,"arguments":)").append(call.arguments.empty() ? "{}" : call.arguments);
  if (!responses.is_null())
    params.append(R"(,"inputResponses":)").append(rpc::to_json_text(responses));
  if (!state.is_null()) params.append(R"(,"requestState":)").append(rpc::to_json_text(state));
  return params.append("}");
}

}  // namespace

task::Task<core::Result<std::vector<json>>> list_tools(ClientSession* session,
                                                       core::Clock::Steady deadline,
                                                       ListLimits limits) {
  std::vector<json> items;
  std::string cursor;
  for (std::size_t pages = 0;; ++pages) {
    if (pages > 0 && (pages >= limits.max_pages || items.size() >= limits.max_items)) {
      co_return Error{ErrorCode::kReplyTooLarge,
                      "the list of tools is too long: it does not end after " +
                          std::to_string(items.size()) + " tools",
                      ""};
    }
    SessionRequest request;
    request.method = "tools/list";
    request.params = cursor.empty() ? "{}" : json{{"cursor", cursor}}.dump();
    request.deadline = deadline;
    auto answer = co_await session->ask(std::move(request));
    if (answer.error) co_return *answer.error;
    if (answer.response.error) co_return server_error(*answer.response.error);
    json& result = answer.response.result;
    auto tools = result.find("tools");
    if (tools == result.end() || !tools->is_array())
      co_return Error{ErrorCode::kInvalidReply, "the answer has no list of tools", ""};
    for (auto& tool : *tools) items.push_back(std::move(tool));
    cursor = schema::text_at(result, "nextCursor");
    if (cursor.empty()) co_return items;
  }
}

task::Task<SessionAnswer> call_tool(ClientSession* session, ToolCall call) {
  json responses;
  json state;
  for (int rounds = 1;; ++rounds) {
    SessionRequest request;
    request.method = "tools/call";
    request.params = params_of(call, responses, state);
    request.deadline = call.deadline;
    request.on_progress = call.on_progress;
    auto answer = co_await session->ask(std::move(request));
    auto answers = answers_to(answer, call);
    if (!answers || rounds >= kMostRounds) co_return answer;
    responses = std::move(*answers);
    state = answer.response.result.value("requestState", json());
  }
}

Error server_error(const rpc::ErrorObject& error) {
  return {ErrorCode::kInvalidReply,
          "the server answered with the error " + std::to_string(error.code) + ": " +
              error.message.substr(0, 500),
          ""};
}

}  // namespace league::mcp::client
