#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <string>
#include <vector>

#include "common/rpc/codec.h"

namespace league::rpc {
namespace {

using nlohmann::json;
using StringGen = rc::Gen<std::string>;

/// Any bytes, mostly no UTF-8.
StringGen any_bytes() { return rc::gen::arbitrary<std::string>(); }

/// Valid UTF-8 with everything that JSON has to escape.
StringGen utf8() {
  auto piece = rc::gen::element<std::string>("a", "Z", "0", " ", "\"", "\\", "/", "\n", "\t",
                                             std::string(1, '\0'), "\x1f", "\x7f", "é", "א",
                                             "\xe2\x80\xa8", "😀");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string out;
                        for (const std::string& part : pieces) out += part;
                        return out;
                      });
}

rc::Gen<json> scalar(const StringGen& strings) {
  auto as_json = [](const auto& value) { return json(value); };
  auto finite =
      rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double x) { return std::isfinite(x); });
  return rc::gen::oneOf(rc::gen::just(json()), rc::gen::map(rc::gen::arbitrary<bool>(), as_json),
                        rc::gen::map(rc::gen::arbitrary<std::int64_t>(), as_json),
                        rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), as_json),
                        rc::gen::map(finite, as_json), rc::gen::map(strings, as_json));
}

rc::Gen<json> array_of(const rc::Gen<json>& items) {
  return rc::gen::map(rc::gen::resize(4, rc::gen::container<std::vector<json>>(items)),
                      [](const std::vector<json>& values) { return json(json::array_t(values)); });
}

rc::Gen<json> object_of(const StringGen& names, const rc::Gen<json>& items) {
  auto members =
      rc::gen::container<std::vector<std::pair<std::string, json>>>(rc::gen::pair(names, items));
  return rc::gen::map(rc::gen::resize(6, members),
                      [](const std::vector<std::pair<std::string, json>>& pairs) {
                        json out = json::object();
                        for (const auto& [name, value] : pairs) out[name] = value;
                        return out;
                      });
}

rc::Gen<json> structured(const StringGen& strings) {
  rc::Gen<json> leaf = scalar(strings);
  rc::Gen<json> inner = rc::gen::oneOf(leaf, array_of(leaf), object_of(strings, leaf));
  return rc::gen::oneOf(array_of(inner), object_of(strings, inner));
}

/// Objects that look like frames and are wrong in one place or several.
rc::Gen<json> near_frame() {
  auto name = rc::gen::element<std::string>("jsonrpc", "jsonrpc", "id", "method", "params",
                                            "result", "error", "code", "message", "data");
  rc::Gen<json> error = rc::gen::just(json{{"code", 1}, {"message", "x"}});
  rc::Gen<json> value = rc::gen::oneOf(rc::gen::just(json("2.0")), error, scalar(any_bytes()),
                                       structured(any_bytes()));
  return rc::gen::map(object_of(name, value), [](json object) {
    if (object.size() % 3 != 0) object["jsonrpc"] = "2.0";
    return object;
  });
}

rc::Gen<json> any_document() {
  return rc::gen::oneOf(scalar(any_bytes()), structured(any_bytes()), near_frame(),
                        array_of(near_frame()));
}

rc::Gen<Id> any_id() {
  return rc::gen::oneOf(rc::gen::just(Id()),
                        rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                                     [](std::int64_t number) { return Id(number); }),
                        rc::gen::map(utf8(), [](std::string text) { return Id(std::move(text)); }));
}

Message any_message() {
  json params = *rc::gen::oneOf(rc::gen::just(json()), structured(utf8()));
  json value =
      *rc::gen::oneOf(structured(utf8()), rc::gen::just(json(7)), rc::gen::just(json(false)));
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return make_request(*any_id(), *utf8(), params);
    case 1:
      return make_notification(*utf8(), params);
    case 2:
      return make_result(*any_id(), value);
    default: {
      ErrorObject error;
      error.code = *rc::gen::arbitrary<int>();
      error.message = *utf8();
      error.data = params;
      return make_error(*any_id(), error);
    }
  }
}

TEST(CodecProperty, DecodeOfEncodeIsTheMessage) {
  EXPECT_TRUE(rc::check([] {
    Message message = any_message();
    Decoded decoded = decode(json::parse(encode(message)));
    RC_ASSERT(!decoded.is_batch);
    RC_ASSERT(decoded.frames.size() == 1U);
    RC_ASSERT(std::holds_alternative<Message>(decoded.frames[0]));
    RC_ASSERT(std::get<Message>(decoded.frames[0]) == message);
  }));
}

TEST(CodecProperty, BatchKeepsItsMessagesInOrder) {
  EXPECT_TRUE(rc::check([] {
    std::vector<Message> batch;
    std::vector<std::string> encoded;
    for (int left = *rc::gen::inRange(1, 6); left > 0; --left) {
      batch.push_back(any_message());
      encoded.push_back(encode(batch.back()));
    }
    Decoded decoded = decode(json::parse(encode_batch(encoded)));
    RC_ASSERT(decoded.is_batch);
    RC_ASSERT(decoded.frames.size() == batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      RC_ASSERT(std::get<Message>(decoded.frames[i]) == batch[i]);
    }
  }));
}

TEST(CodecProperty, AnyDocumentDecodesWithoutThrowingAndItsAnswersAreJson) {
  EXPECT_TRUE(rc::check([] {
    json document = *any_document();
    bool is_batch = document.is_array() && !document.empty();
    Decoded decoded = decode(document);
    RC_ASSERT(decoded.is_batch == is_batch);
    RC_ASSERT(decoded.frames.size() == (is_batch ? document.size() : 1U));
    for (const Frame& frame : decoded.frames) {
      const auto* invalid = std::get_if<InvalidRequest>(&frame);
      Message to_send = invalid ? Message(to_response(*invalid)) : std::get<Message>(frame);
      RC_ASSERT(!json::parse(encode(to_send), nullptr, false).is_discarded());
    }
  }));
}

TEST(CodecProperty, TolerantDecoderNeverThrowsAndAcceptsAllExactResponses) {
  EXPECT_TRUE(rc::check([] {
    json document = *any_document();
    auto tolerant = decode_response(document, Id(1));
    Decoded exact = decode(document);
    const auto* message = std::get_if<Message>(&exact.frames[0]);
    if (exact.is_batch || message == nullptr) return;
    const auto* response = std::get_if<Response>(message);
    if (response == nullptr) return;
    RC_ASSERT(tolerant.has_value());
    RC_ASSERT(tolerant->response.result == response->result);
    RC_ASSERT(tolerant->response.error == response->error);
  }));
}

}  // namespace
}  // namespace league::rpc
