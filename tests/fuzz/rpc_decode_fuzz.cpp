// Hostile frames: the parser and the decoders of JSON-RPC never throw, and what they take for a
// message is one again when it is written and read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/rpc/codec.h"
#include "common/schema/parse_json.h"

namespace {

using namespace league;

/// Writing adds a level where an answer's data had none.
constexpr schema::JsonLimits kWrittenLimits{.max_depth = 40};

void check_written(const std::string& bytes) {
  auto document = schema::parse_json(bytes, kWrittenLimits);
  if (!document) std::abort();
  auto decoded = rpc::decode(std::move(*document));
  if (decoded.is_batch || decoded.frames.size() != 1) std::abort();
  auto* message = std::get_if<rpc::Message>(&decoded.frames.front());
  if (message == nullptr || rpc::encode(*message) != bytes) std::abort();
}

void check_answer(const nlohmann::json& document, const rpc::Id& expected) {
  auto answer = rpc::decode_response(document, expected);
  if (!answer) {
    if (answer.error().message.empty()) std::abort();
    return;
  }
  if (answer->response.id != expected) std::abort();
  check_written(rpc::encode(answer->response));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto document = schema::parse_json(bytes);
  if (!document) {
    if (document.error().message.empty()) std::abort();
    return 0;
  }
  check_answer(*document, rpc::Id(1));
  check_answer(*document, rpc::Id("1"));
  for (bool refuse_null_id : {false, true}) {
    auto decoded = rpc::decode(*document, {.refuse_null_id = refuse_null_id});
    if (decoded.frames.empty() || (!decoded.is_batch && decoded.frames.size() != 1)) std::abort();
    for (const auto& frame : decoded.frames) {
      if (const auto* invalid = std::get_if<rpc::InvalidRequest>(&frame)) {
        check_written(rpc::encode(rpc::to_response(*invalid)));
      } else {
        check_written(rpc::encode(std::get<rpc::Message>(frame)));
      }
    }
  }
  return 0;
}
