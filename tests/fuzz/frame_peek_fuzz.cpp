// The peek never reads what is not there, and says of valid JSON what the parser says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/rpc/frame_peek.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using league::rpc::FrameKind;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto peek = league::rpc::peek_frame(bytes);
  // To this parser a NUL is the end of the text, whatever follows.
  if (bytes.find('\0') != std::string_view::npos) return 0;
  auto frame = nlohmann::json::parse(bytes, nullptr, false);
  if (frame.is_discarded()) return 0;
  if (frame.is_array() && peek.kind != FrameKind::kBatch) std::abort();
  if (!frame.is_object()) return 0;
  auto method = frame.find("method");
  if (method != frame.end() && method->is_string()) {
    bool has_id = frame.contains("id");
    if (peek.kind != (has_id ? FrameKind::kRequest : FrameKind::kNotification)) std::abort();
    if (peek.method != method->get_ref<const std::string&>()) std::abort();
  } else if (method == frame.end() && (frame.contains("result") || frame.contains("error"))) {
    if (peek.kind != FrameKind::kResponse) std::abort();
  } else {
    if (peek.kind != FrameKind::kOther) std::abort();
    return 0;
  }
  if (!frame.contains("id")) return 0;
  auto id = league::rpc::Id::from_json(frame["id"]);
  if (peek.id != id.value_or(league::rpc::Id())) std::abort();
  return 0;
}
