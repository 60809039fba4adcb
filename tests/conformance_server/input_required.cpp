// Tools that need something of the client's user or model in the stateless revision: they answer
// with what they need, and are called again with it (SEP-2322).
#include <array>
#include <functional>

#include "common/core/crypto.h"
#include "tests/conformance_server/fixture.h"

namespace league::testing {
namespace {

using mcp::ServedRequest;
using mcp::ServedToolCall;
using nlohmann::json;

/// Only this process can make one: a client that changes its state is found out.
class SignedStates {
 public:
  SignedStates() : key_(core::CryptoRandom().bytes<32>()) {}
  [[nodiscard]] std::string sign(const std::string& state) const {
    return state + "." + core::to_hex(core::hmac_sha256(key_, core::as_bytes(state)));
  }
  /// Nothing for a text that `sign` has not made.
  [[nodiscard]] std::optional<std::string> read(const std::string& text) const {
    std::string state = text.substr(0, text.rfind('.'));
    if (!core::constant_time_equal(sign(state), text)) return std::nullopt;
    return state;
  }

 private:
  std::array<std::uint8_t, 32> key_;
};

json elicit(const std::string& message, const char* name, const char* type = "string") {
  return {{"method", "elicitation/create"},
          {"params",
           {{"message", message},
            {"mode", "form"},
            {"requestedSchema",
             {{"type", "object"},
              {"properties", {{name, {{"type", type}}}}},
              {"required", json::array({name})}}}}}};
}

json sample(const std::string& question, int tokens) {
  return {{"method", "sampling/createMessage"},
          {"params",
           {{"messages", json::array({{{"role", "user"}, {"content", text_content(question)}}})},
            {"maxTokens", tokens}}}};
}

json list_roots() { return {{"method", "roots/list"}, {"params", json::object()}}; }

json needs(json requests, const std::string& state = {}) {
  json result = {{"resultType", "input_required"}, {"inputRequests", std::move(requests)}};
  if (!state.empty()) result["requestState"] = state;
  return result;
}

/// The client's answer to `key`; null where there is none of use.
json answer_to(const ServedRequest& request, const std::string& key) {
  auto responses = request.params.find("inputResponses");
  if (responses == request.params.end() || !responses->is_object()) return nullptr;
  auto found = responses->find(key);
  return found != responses->end() && found->is_object() ? *found : json(nullptr);
}

/// A text that the user gave; empty where he did not.
std::string elicited(const ServedRequest& request, const std::string& key, const char* name) {
  json answer = answer_to(request, key);
  if (!answer.is_object() || answer.value("action", "") != "accept") return {};
  auto content = answer.find("content");
  if (content == answer.end() || !content->is_object() || !content->contains(name)) return {};
  const json& value = (*content)[name];
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string sampled(const ServedRequest& request, const std::string& key) {
  json answer = answer_to(request, key);
  if (!answer.is_object() || !answer.contains("content")) return {};
  const json& content = answer["content"];
  return content.is_object() ? content.value("text", "") : std::string();
}

using Handler = std::function<void(const ServedToolCall&)>;

void add(const FixtureParts& parts, const char* name, Handler handler) {
  parts.server.registry().add({.name = name,
                               .description = "Needs input of the client",
                               .input_schema = text_arguments({}),
                               .handler = std::move(handler)});
}

void fail_state(const ServedRequest& request) {
  request.reply.fail(static_cast<int>(rpc::StandardCode::kInvalidParams),
                     "Invalid params: requestState is none that this server gave");
}

void add_single_questions(const FixtureParts& parts) {
  add(parts, "test_input_required_result_elicitation", [](const ServedToolCall& call) {
    std::string name = elicited(call.request, "user_name", "name");
    if (name.empty())
      return call.request.reply.send(needs({{"user_name", elicit("What is your name?", "name")}}));
    call.request.reply.send(text_result("Hello, " + name + "!"));
  });
  add(parts, "test_input_required_result_sampling", [](const ServedToolCall& call) {
    std::string text = sampled(call.request, "capital_question");
    if (text.empty()) {
      return call.request.reply.send(
          needs({{"capital_question", sample("What is the capital of France?", 100)}}));
    }
    call.request.reply.send(text_result(text));
  });
  add(parts, "test_input_required_result_list_roots", [](const ServedToolCall& call) {
    json roots = answer_to(call.request, "client_roots");
    if (!roots.is_object() || !roots.contains("roots"))
      return call.request.reply.send(needs({{"client_roots", list_roots()}}));
    call.request.reply.send(text_result("Roots: " + roots["roots"].dump()));
  });
  add(parts, "test_input_required_result_capabilities", [](const ServedToolCall& call) {
    const auto& request_context = call.request.reply.request_context();
    json requests = json::object();
    if (request_context.client_has("elicitation")) requests["name"] = elicit("Your name?", "name");
    if (request_context.client_has("sampling")) requests["greeting"] = sample("Say hello", 50);
    if (request_context.client_has("roots")) requests["roots"] = list_roots();
    if (requests.empty() || call.request.params.contains("inputResponses"))
      return call.request.reply.send(text_result("done"));
    call.request.reply.send(needs(requests));
  });
}

void add_stateful_questions(const FixtureParts& parts,
                            const std::shared_ptr<const SignedStates>& states) {
  auto state_of = [states](const ServedRequest& request) -> std::optional<std::string> {
    auto found = request.params.find("requestState");
    if (found == request.params.end()) return std::string();
    return found->is_string() ? states->read(found->get<std::string>()) : std::nullopt;
  };
  auto confirm = [states, state_of](const ServedToolCall& call) {
    auto state = state_of(call.request);
    if (!state) return fail_state(call.request);
    if (state->empty() || answer_to(call.request, "confirm").is_null()) {
      return call.request.reply.send(needs({{"confirm", elicit("Please confirm", "ok", "boolean")}},
                                           states->sign("confirming")));
    }
    call.request.reply.send(text_result("state-ok"));
  };
  add(parts, "test_input_required_result_request_state", confirm);
  add(parts, "test_input_required_result_tampered_state", confirm);
  add(parts, "test_input_required_result_multiple_inputs",
      [states, state_of](const ServedToolCall& call) {
        auto state = state_of(call.request);
        if (!state) return fail_state(call.request);
        std::string name = elicited(call.request, "user_name", "name");
        std::string greeting = sampled(call.request, "greeting");
        json roots = answer_to(call.request, "client_roots");
        if (state->empty() || name.empty() || greeting.empty() || !roots.is_object()) {
          return call.request.reply.send(needs({{"user_name", elicit("What is your name?", "name")},
                                                {"greeting", sample("Generate a greeting", 50)},
                                                {"client_roots", list_roots()}},
                                               states->sign("three")));
        }
        call.request.reply.send(text_result(greeting + " " + name + " " + roots.dump()));
      });
  add(parts, "test_input_required_result_multi_round",
      [states, state_of](const ServedToolCall& call) {
        auto state = state_of(call.request);
        if (!state) return fail_state(call.request);
        std::string color = elicited(call.request, "step2", "color");
        if (state->starts_with("two:") && !color.empty())
          return call.request.reply.send(text_result(state->substr(4) + " likes " + color));
        std::string name = elicited(call.request, "step1", "name");
        if (*state == "one" && !name.empty()) {
          return call.request.reply.send(
              needs({{"step2", elicit("Step 2: What is your favorite color?", "color")}},
                    states->sign("two:" + name)));
        }
        call.request.reply.send(
            needs({{"step1", elicit("Step 1: What is your name?", "name")}}, states->sign("one")));
      });
}

/// Tools that need a capability, or would ask while they run.
void add_capability_tools(const FixtureParts& parts) {
  add(parts, "test_missing_capability", [](const ServedToolCall& call) {
    if (call.request.reply.request_context().client_has("sampling"))
      return call.request.reply.send(text_result("sampling is there"));
    call.request.reply.fail(mcp::kMissingClientCapability, "Missing required client capability",
                            {{"requiredCapabilities", {{"sampling", json::object()}}}}, 400);
  });
  add(parts, "test_streaming_elicitation", [](const ServedToolCall& call) {
    std::string name = elicited(call.request, "user_name", "name");
    if (name.empty())
      return call.request.reply.send(needs({{"user_name", elicit("What is your name?", "name")}}));
    call.request.reply.send(text_result("Hello, " + name + "!"));
  });
}

void add_prompt(const FixtureParts& parts) {
  parts.server.registry().add(
      {.name = "test_input_required_result_prompt",
       .description = "A prompt that needs the user's input",
       .get = [](const mcp::ServerPrompt::Get& get) {
         std::string context = elicited(get.request, "user_context", "context");
         if (context.empty()) {
           return get.request.reply.send(
               needs({{"user_context", elicit("What context should the prompt use?", "context")}}));
         }
         get.request.reply.send(
             {{"messages", json::array({{{"role", "user"},
                                         {"content", text_content("Context: " + context)}}})}});
       }});
}

}  // namespace

void add_input_required(const FixtureParts& parts) {
  add_single_questions(parts);
  add_stateful_questions(parts, std::make_shared<const SignedStates>());
  add_capability_tools(parts);
  add_prompt(parts);
}

}  // namespace league::testing
