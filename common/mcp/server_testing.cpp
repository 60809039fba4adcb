#include "common/mcp/server_testing.h"

#include <stdexcept>

#include "common/mcp/answers.h"
#include "common/rpc/codec.h"

namespace league::mcp {
namespace {

using nlohmann::json;

constexpr const char* kEchoSchema =
    R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object",)"
    R"("required":["text"],"properties":{"text":{"type":"string"}}})";
constexpr const char* kAnySchema = R"({"type":"object"})";

}  // namespace

json request(int id, const std::string& method, json params) {
  json message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null()) message["params"] = std::move(params);
  return message;
}

void RecordingApplication::on_document(json document, Arrival arrival,
                                       transport::link::ReplySlot reply) {
  transport::link::OutboundReply out;
  auto id = document.find("id");
  json result = {{"league", document.value("method", "")}};
  out.bytes = rpc::encode_result(
      id == document.end() ? rpc::Id() : rpc::Id::from_json(*id).value_or(rpc::Id()),
      result.dump());
  documents.push_back(std::move(document));
  contexts.push_back(std::move(arrival.context));
  reply.send(std::move(out));
}

ServerUnderTest::ServerUnderTest(ServerSessions::Options sessions)
    : server({.name = "tested",
              .version = "1",
              .instructions = "Try it.",
              .tools_change = true,
              .has_logging = true,
              .sessions = sessions,
              .page_size = 10,
              .random = &random,
              .timer = &time},
             application, time) {
  add_tools();
  add_others();
}

void ServerUnderTest::add_tools() {
  auto& registry = server.registry();
  registry.add({.name = "echo",
                .title = "Echo",
                .description = "Says it again",
                .input_schema = kEchoSchema,
                .output_schema = kEchoSchema,
                .check = *schema_check(kEchoSchema, "echo"),
                .handler = [](const ServedToolCall& call) {
                  call.request.reply.send_text(encode_tool_result(call.arguments.dump(), false));
                }});
  registry.add({.name = "regional",
                .input_schema = R"({"type":"object","properties":{"region":{"type":"string",)"
                                R"("x-mcp-header":"Region"}}})",
                .handler = [](const ServedToolCall& call) {
                  call.request.reply.send({{"content", json::array()}});
                }});
  registry.add({.name = "throws", .input_schema = kAnySchema, .handler = [](const ServedToolCall&) {
                  throw std::runtime_error("secret");
                }});
  registry.add(
      {.name = "forgets", .input_schema = kAnySchema, .handler = [](const ServedToolCall&) {}});
  registry.add(
      {.name = "waits", .input_schema = kAnySchema, .handler = [this](const ServedToolCall& call) {
         waiting.push_back(call.request.reply);
       }});
}

void ServerUnderTest::add_others() {
  auto& registry = server.registry();
  registry.add({.uri = "test://a",
                .name = "a",
                .is_subscribable = true,
                .read = [](const ServerResource::Read& read) {
                  read.request.reply.send(text_contents(read.uri, "text/plain", "A"));
                }});
  registry.add({.uri = "test://{x}/y", .name = "y", .read = [](const ServerResource::Read& read) {
                  read.request.reply.send(
                      text_contents(read.uri, "text/plain", read.variables.at("x")));
                }});
  registry.add({.name = "greet",
                .arguments = {{.name = "who", .is_required = true}},
                .get = [](const ServerPrompt::Get& get) {
                  get.request.reply.send({{"messages", json::array()}});
                }});
}

rpc::MessageContext ServerUnderTest::http_context(const Headers& headers,
                                                  const char* method) const {
  auto map = std::make_shared<rpc::HeaderMap>();
  for (const auto& [name, value] : headers) map->emplace(name, value);
  return rpc::MessageContext::now(
      time, rpc::MessageDirection::kUnknown,
      rpc::TransportContext::http(std::move(map), method, rpc::SharedText::literal("/mcp")));
}

std::shared_ptr<std::optional<ServerUnderTest::Answer>> ServerUnderTest::begin(
    const std::string& body, const Headers& headers,
    std::shared_ptr<transport::link::PeerChannel> channel) {
  auto answer = std::make_shared<std::optional<Answer>>();
  transport::link::Inbound message;
  message.bytes = body;
  message.context = http_context(headers, "POST");
  message.channel = std::move(channel);
  auto notes = message.notes;
  server.on_message(
      std::move(message),
      transport::link::ReplySlot([answer, notes](const transport::link::OutboundReply& reply) {
        Answer one{reply.http_status,
                   reply.bytes.str(),
                   json::parse(reply.bytes, nullptr, false),
                   {},
                   notes};
        for (const auto& [name, value] : reply.headers) one.headers[name] = value;
        *answer = std::move(one);
      }));
  return answer;
}

ServerUnderTest::Answer ServerUnderTest::post(
    const std::string& body, const Headers& headers,
    std::shared_ptr<transport::link::PeerChannel> channel) {
  auto answer = begin(body, headers, std::move(channel));
  if (!answer->has_value()) throw std::runtime_error("not answered: " + body);
  return **answer;
}

ServerUnderTest::Answer ServerUnderTest::call(const std::string& method, json params,
                                              const Headers& headers) {
  return post(request(1, method, std::move(params)).dump(), headers);
}

std::shared_ptr<std::optional<ServerUnderTest::Answer>> ServerUnderTest::send(
    const json& message, std::shared_ptr<transport::link::PeerChannel> connection) {
  auto answer = std::make_shared<std::optional<Answer>>();
  transport::link::Inbound inbound;
  inbound.bytes = message.dump();
  inbound.context =
      rpc::MessageContext::now(time, rpc::MessageDirection::kUnknown,
                               rpc::TransportContext::socket(rpc::TransportType::kTcp));
  inbound.channel = std::move(connection);
  auto notes = inbound.notes;
  server.on_message(
      std::move(inbound),
      transport::link::ReplySlot([answer, notes](const transport::link::OutboundReply& reply) {
        *answer = Answer{reply.http_status,
                         reply.bytes.str(),
                         json::parse(reply.bytes, nullptr, false),
                         {},
                         notes};
      }));
  return answer;
}

ServerUnderTest::Headers ServerUnderTest::initialize(const std::string& revision,
                                                     const json& capabilities) {
  auto answer = call("initialize", {{"protocolVersion", revision}, {"capabilities", capabilities}});
  auto session = answer.headers.find("Mcp-Session-Id");
  if (session == answer.headers.end()) throw std::runtime_error("no session: " + answer.bytes);
  return {{"Mcp-Session-Id", session->second}, {"MCP-Protocol-Version", revision}};
}

transport::link::StreamAnswer ServerUnderTest::listen(const Headers& headers) {
  return server.on_stream({http_context(headers, "GET"), std::nullopt});
}

std::optional<transport::link::StreamRefusal> ServerUnderTest::end_session(const Headers& headers) {
  return server.on_session_end(http_context(headers, "DELETE"));
}

}  // namespace league::mcp
