#include "common/mcp/client/client_calls.h"

#include "common/rpc/json_text.h"

namespace league::mcp {
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
    auto tools = result.is_object() ? result.find("tools") : result.end();
    if (!result.is_object() || tools == result.end() || !tools->is_array())
      return completion(Error{ErrorCode::kInvalidReply, "the answer has no list of tools", ""});
    for (auto& tool : *tools) items.push_back(std::move(tool));
    auto next = result.find("nextCursor");
    bool has_more = next != result.end() && next->is_string() && !next->get<std::string>().empty();
    if (!has_more) return completion(std::move(items));
    if (++pages >= limits.max_pages || items.size() >= limits.max_items) {
      return completion(Error{
          ErrorCode::kReplyTooLarge,
          "the list of tools does not end after " + std::to_string(items.size()) + " of them", ""});
    }
    ask(next->get<std::string>());
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

void call_tool(const std::shared_ptr<ClientSession>& session, const std::string& name,
               const std::string& arguments, core::Clock::Steady deadline,
               ClientSession::Completion completion, std::function<void(const json&)> on_progress) {
  std::string params = R"({"name":)";
  rpc::append_json_string(params, name);
  params.append(R"(,"arguments":)").append(arguments.empty() ? "{}" : arguments).append("}");
  session->request({.method = "tools/call",
                    .params = std::move(params),
                    .deadline = deadline,
                    .on_progress = std::move(on_progress)},
                   std::move(completion));
}

void read_resource(const std::shared_ptr<ClientSession>& session, const std::string& uri,
                   core::Clock::Steady deadline, ClientSession::Completion completion) {
  session->request(
      {.method = "resources/read",
       .params = json{{"uri", uri}}.dump(-1, ' ', false, json::error_handler_t::replace),
       .deadline = deadline},
      std::move(completion));
}

Error server_error(const rpc::ErrorObject& error) {
  return {ErrorCode::kInvalidReply,
          "the server answered with the error " + std::to_string(error.code) + ": " +
              error.message.substr(0, 500),
          ""};
}

}  // namespace league::mcp
