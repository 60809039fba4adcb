#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/core/text.h"
#include "common/rpc/codec.h"

namespace league::rpc {
namespace {

using nlohmann::json;

json* member(json& object, const char* name) {
  auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

InvalidRequest invalid(Id id, std::string_view field, std::string text) {
  return {std::move(id),
          core::Error{core::ErrorCode::kMalformedMessage, std::move(text), std::string(field)}};
}

bool has_version(json& object) {
  const json* version = member(object, "jsonrpc");
  const auto* text = version ? version->get_ptr<const std::string*>() : nullptr;
  return text != nullptr && *text == "2.0";
}

std::optional<int> as_code(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  std::optional<Id> number = Id::from_json(value);  // also fails for numbers of more than 64 bits
  if (!number || *number->number() < std::numeric_limits<int>::min() ||
      *number->number() > std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  return static_cast<int>(*number->number());
}

/// Nothing unless `error` has an integer code and a text.
std::optional<ErrorObject> exact_error(json& error) {
  if (!error.is_object()) return std::nullopt;
  json* code = member(error, "code");
  json* message = member(error, "message");
  if (code == nullptr || message == nullptr || !message->is_string()) return std::nullopt;
  std::optional<int> number = as_code(*code);
  if (!number) return std::nullopt;
  ErrorObject out;
  out.code = *number;
  out.message = std::move(message->get_ref<std::string&>());
  if (json* data = member(error, "data")) out.data = std::move(*data);
  return out;
}

/// Reads as much as possible of an error that does not follow the specification.
ErrorObject malformed_error(json& error) {
  ErrorObject out;
  out.code = static_cast<int>(StandardCode::kInternalError);
  if (error.is_object()) {
    if (json* code = member(error, "code")) out.code = as_code(*code).value_or(out.code);
    json* message = member(error, "message");
    if (message != nullptr && message->is_string()) out.message = message->get<std::string>();
  } else if (error.is_string()) {
    out.message = error.get<std::string>();
  }
  out.data = std::move(error);
  return out;
}

Frame decode_call(json& object, json& method, const std::optional<Id>& id) {
  Id answer_to = id.value_or(Id());
  auto* name = method.get_ptr<std::string*>();
  if (name == nullptr) {
    return invalid(std::move(answer_to), "/method", "method must be a string");
  }
  json* params = member(object, "params");
  if (params != nullptr && !params->is_structured()) {
    return invalid(std::move(answer_to), "/params",
                   "params must be an object or an array; leave it out where there are none");
  }
  json moved = params ? std::move(*params) : json();
  if (!id) return Message(make_notification(std::move(*name), std::move(moved)));
  return Message(make_request(*id, std::move(*name), std::move(moved)));
}

/// The answer to an invalid response has no id; with one it would look like the answer to a request
/// of the peer.
Frame decode_answer(const std::optional<Id>& id, json* result, json* error) {
  if (result != nullptr && error != nullptr) {
    return invalid(Id(), "/error", "a response must have either result or error, not both");
  }
  if (!id) return invalid(Id(), "/id", "a response must have the id of its request");
  if (result != nullptr) return Message(make_result(*id, std::move(*result)));
  std::optional<ErrorObject> exact = exact_error(*error);
  if (!exact) {
    return invalid(Id(), "/error", "error must be an object with an integer code and a message");
  }
  return Message(make_error(*id, std::move(*exact)));
}

Frame decode_one(json& object, const DecodeOptions& options) {
  if (!object.is_object()) {
    return invalid(Id(), "", "a JSON-RPC message must be an object");
  }
  json* method = member(object, "method");
  json* result = member(object, "result");
  json* error = member(object, "error");
  bool is_answer = method == nullptr && (result != nullptr || error != nullptr);

  std::optional<Id> id;
  if (json* value = member(object, "id")) {
    id = Id::from_json(*value);
    if (!id) return invalid(Id(), "/id", "id must be a string or an integer of 64 bits");
    if (options.refuse_null_id && id->is_null() && !is_answer) {
      return invalid(Id(), "/id", "id must not be null; leave it out of a notification");
    }
    if (const auto* text = id->text();
        options.refuse_null_id && text != nullptr && text->size() > core::kMostEchoed) {
      return invalid(Id(), "/id",
                     "id has " + std::to_string(text->size()) + " bytes; at most " +
                         std::to_string(core::kMostEchoed) +
                         " are allowed, since an answer repeats it");
    }
  }
  Id answer_to = is_answer ? Id() : id.value_or(Id());
  if (!has_version(object)) {
    return invalid(std::move(answer_to), "/jsonrpc", "jsonrpc must be the string \"2.0\"");
  }
  if (is_answer) return decode_answer(id, result, error);
  if (method == nullptr) return invalid(std::move(answer_to), "/method", "method is missing");
  return decode_call(object, *method, id);
}

std::string text_of(const Id& id) {
  const auto* number = id.number();
  const auto* text = id.text();
  return number != nullptr ? std::to_string(*number) : text != nullptr ? *text : std::string();
}

void read_id(json& object, const Id& expected, ResponseLeniencies& leniencies, bool is_error) {
  json* value = member(object, "id");
  if (value == nullptr) {
    leniencies.missing_id = true;
    return;
  }
  std::optional<Id> id = Id::from_json(*value);
  if (id && *id == expected) return;
  if (id && id->is_null()) {
    leniencies.missing_id = !is_error;  // an error may have a null id (JSON-RPC 2.0 §5)
  } else {
    const bool is_same_text = id && text_of(*id) == text_of(expected);
    (is_same_text ? leniencies.changed_id_type : leniencies.foreign_id) = true;
  }
}

core::Error invalid_reply(std::string text, std::string_view field = "") {
  return {core::ErrorCode::kInvalidReply, std::move(text), std::string(field)};
}

}  // namespace

Decoded decode(json document, const DecodeOptions& options) {
  Decoded out;
  if (!document.is_array()) {
    out.frames.push_back(decode_one(document, options));
    return out;
  }
  if (document.empty()) {
    out.frames.push_back(invalid(Id(), "", "a batch must hold at least one message"));
    return out;
  }
  if (document.size() > options.max_batch) {
    out.frames.push_back(invalid(Id(), "",
                                 "the batch has " + std::to_string(document.size()) +
                                     " messages; at most " + std::to_string(options.max_batch) +
                                     " are allowed, send several batches"));
    return out;
  }
  out.is_batch = true;
  out.frames.reserve(document.size());
  for (json& item : document) out.frames.push_back(decode_one(item, options));
  return out;
}

Response to_response(const InvalidRequest& invalid_request) {
  return make_error(invalid_request.id, StandardCode::kInvalidRequest);
}

core::Result<TolerantResponse> decode_response(json document, const Id& expected) {
  if (!document.is_object()) return invalid_reply("the answer must be a JSON-RPC response object");
  json* result = member(document, "result");
  json* error = member(document, "error");
  if (result == nullptr && (error == nullptr || error->is_null())) {
    return invalid_reply("the answer has neither result nor error");
  }
  TolerantResponse out;
  if (result != nullptr && error != nullptr) {
    if (!result->is_null() && !error->is_null()) {
      return invalid_reply("the answer has both result and error; send one of them", "/error");
    }
    bool keeps_result = error->is_null();
    out.leniencies.null_error = keeps_result;
    out.leniencies.null_result = !keeps_result;
    (keeps_result ? error : result) = nullptr;
  }
  out.leniencies.missing_version = !has_version(document);
  read_id(document, expected, out.leniencies, error != nullptr);
  if (result != nullptr) {
    out.response = make_result(expected, std::move(*result));
    return out;
  }
  std::optional<ErrorObject> exact = exact_error(*error);
  out.leniencies.malformed_error = !exact;
  out.response = make_error(expected, exact ? std::move(*exact) : malformed_error(*error));
  return out;
}

}  // namespace league::rpc
