#include "tests/support/scripted_handler.h"

#include <memory>
#include <optional>

namespace league::testing {
namespace {

using nlohmann::json;
using transport::link::OutboundReply;

std::string text_in(const json& object, const char* key) {
  auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The message type that the bytes hold, else the method.
std::string type_of(std::string_view bytes) {
  auto frame = json::parse(bytes, nullptr, false);
  if (!frame.is_object()) return "";
  json params = frame.contains("params") ? frame["params"] : json::object();
  if (params.is_object() && params.contains("arguments")) params = params["arguments"];
  std::string type = text_in(params, "message_type");
  return type.empty() ? text_in(frame, "method") : type;
}

}  // namespace

Deviation Deviation::silence() {
  Deviation deviation;
  deviation.is_silent = true;
  return deviation;
}

Deviation Deviation::late(std::chrono::milliseconds delay) {
  Deviation deviation;
  deviation.delay = delay;
  return deviation;
}

Deviation Deviation::bytes(std::string text, int http_status) {
  Deviation deviation;
  deviation.change = [text = std::move(text), http_status](OutboundReply reply) {
    reply.bytes = text;
    reply.http_status = http_status;
    return reply;
  };
  return deviation;
}

Deviation Deviation::edit(std::function<void(json& message)> change) {
  return edit_frame([change = std::move(change)](json& frame) { change(frame["result"]); });
}

Deviation Deviation::edit_frame(std::function<void(json& frame)> change) {
  Deviation deviation;
  deviation.change = [change = std::move(change)](OutboundReply reply) {
    auto frame = json::parse(reply.bytes);
    change(frame);
    reply.bytes = frame.dump();
    return reply;
  };
  return deviation;
}

void ScriptedHandler::on(const std::string& type, Deviation deviation, int times) {
  std::lock_guard lock(mutex_);
  lines_.insert_or_assign(type, Line{std::move(deviation), times});
}

void ScriptedHandler::behave() {
  std::lock_guard lock(mutex_);
  lines_.clear();
}

int ScriptedHandler::arrived(const std::string& type) const {
  std::lock_guard lock(mutex_);
  auto found = arrived_.find(type);
  return found == arrived_.end() ? 0 : found->second;
}

void ScriptedHandler::on_message(transport::link::Inbound message,
                                 transport::link::ReplySlot slot) {
  std::optional<Deviation> deviation;
  {
    std::lock_guard lock(mutex_);
    std::string type = type_of(message.bytes);
    ++arrived_[type];
    auto line = lines_.find(type);
    if (line != lines_.end() && line->second.times != 0) {
      if (line->second.times > 0) --line->second.times;
      deviation = line->second.deviation;
    }
    if (deviation && deviation->is_silent) {
      silent_.push_back(std::make_shared<transport::link::ReplySlot>(std::move(slot)));
      return;
    }
  }
  if (!deviation) return inner_.on_message(std::move(message), std::move(slot));
  auto outer = std::make_shared<transport::link::ReplySlot>(std::move(slot));
  inner_.on_message(
      std::move(message),
      transport::link::ReplySlot([this, outer, deviation = *deviation](OutboundReply reply) {
        if (deviation.change) reply = deviation.change(std::move(reply));
        if (deviation.delay.count() == 0) return outer->send(std::move(reply));
        auto held = std::make_shared<OutboundReply>(std::move(reply));
        timer_.schedule(deviation.delay, [outer, held] { outer->send(std::move(*held)); });
      }));
}

}  // namespace league::testing
