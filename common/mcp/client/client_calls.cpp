#include "common/mcp/client/client_calls.h"

#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;

/// One walk through the pages of a list.
struct Listing : std::enable_shared_from_this<Listing> {
  std::shared_ptr<ClientSession> session;
  core::Clock::Steady deadline;
  ListLimits limits;
  std::function<void(core::Result<std::vector<json>>)> completion;
  std::vector<json> items;
  std::size_t pages = 0;

  void ask(const std::string& cursor) {
    SessionRequest request;
    request.method = "tools/list";
    request.params = cursor.empty() ? "{}" : json{{"cursor", cursor}}.dump();
    request.deadline = deadline;
    session->request(std::move(request), [self = shared_from_this()](SessionAnswer answer) {
      self->on_page(std::move(answer));
    });
  }

  void on_page(SessionAnswer answer) {
    if (answer.error) return completion(*answer.error);
    if (answer.response.error) return completion(server_error(*answer.response.error));
    json& result = answer.response.result;
    auto tools = result.find("tools");
    if (tools == result.end() || !tools->is_array())
      return completion(Error{ErrorCode::kInvalidReply, "the answer has no list of tools", ""});
    for (auto& tool : *tools) items.push_back(std::move(tool));
    const std::string& next = schema::text_at(result, "nextCursor");
    if (next.empty()) return completion(std::move(items));
    if (++pages >= limits.max_pages || items.size() >= limits.max_items) {
      return completion(Error{ErrorCode::kReplyTooLarge,
                              "the list of tools is too long: it does not end after " +
                                  std::to_string(items.size()) + " tools",
                              ""});
    }
    ask(next);
  }
};

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

/// One call of a tool, with all its rounds of questions and answers.
struct Calling : std::enable_shared_from_this<Calling> {
  std::shared_ptr<ClientSession> session;
  ToolCall call;
  ClientSession::Completion completion;
  int rounds = 0;

  /// Sends the call; `responses` and `state` are used for this round only.
  void send(const json& responses, const json& state) {
    std::string params = R"({"name":)";
    rpc::append_json_string(params, call.name);
    params.append(R"(,"arguments":)").append(call.arguments.empty() ? "{}" : call.arguments);
    if (!responses.is_null())
      params.append(R"(,"inputResponses":)").append(rpc::to_json_text(responses));
    if (!state.is_null()) params.append(R"(,"requestState":)").append(rpc::to_json_text(state));
    params.append("}");
    session->request(
        {.method = "tools/call",
         .params = std::move(params),
         .deadline = call.deadline,
         .on_progress = call.on_progress},
        [self = shared_from_this()](SessionAnswer answer) { self->on_answer(std::move(answer)); });
  }

  void on_answer(SessionAnswer answer) {
    auto responses = answers_to(answer);
    if (!responses || ++rounds >= kMostRounds) return completion(std::move(answer));
    send(*responses, answer.response.result.value("requestState", json()));
  }

  /// The answers to all questions; nothing if there are no questions or one cannot be answered.
  [[nodiscard]] std::optional<json> answers_to(const SessionAnswer& answer) const {
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
};

}  // namespace

void list_tools(const std::shared_ptr<ClientSession>& session, core::Clock::Steady deadline,
                std::function<void(core::Result<std::vector<json>>)> completion,
                const ListLimits& limits) {
  auto listing = std::make_shared<Listing>();
  listing->session = session;
  listing->deadline = deadline;
  listing->limits = limits;
  listing->completion = std::move(completion);
  listing->ask({});
}

void call_tool(const std::shared_ptr<ClientSession>& session, ToolCall call,
               ClientSession::Completion completion) {
  auto calling = std::make_shared<Calling>();
  calling->session = session;
  calling->call = std::move(call);
  calling->completion = std::move(completion);
  calling->send({}, {});
}

Error server_error(const rpc::ErrorObject& error) {
  return {ErrorCode::kInvalidReply,
          "the server answered with the error " + std::to_string(error.code) + ": " +
              error.message.substr(0, 500),
          ""};
}

}  // namespace league::mcp::client
