#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/rpc/id.h"

namespace league::rpc {

/// The kind of a JSON text, as far as its top level shows it.
enum class FrameKind : std::uint8_t {
  kRequest,  ///< an object with a method and an id, even an invalid id
  kNotification,  ///< an object with a method and no id
  kResponse,  ///< an object with a result or an error, and no method
  kBatch,  ///< an array
  kOther,  ///< anything else, and what is no JSON
};

/// What routing needs to know about a frame before it is parsed.
struct FramePeek {
  FrameKind kind = FrameKind::kOther;
  Id id;  ///< null if the frame's id is invalid (a fraction, an object)
  std::string method;  ///< empty for responses
};

/// Reads kind, id and method of the top-level object in one pass without building a document. If a
/// key occurs twice, the last one counts, as in the parser. Accepts more than valid JSON (inner
/// values are only skipped), so a parser still has to check the text. Accepts any bytes of any
/// depth; throws only if memory is short. Thread-safe.
[[nodiscard]] FramePeek peek_frame(std::string_view bytes);

/// The texts of a batch's messages, in order, which are valid as long as `bytes`; nothing for what
/// is no batch, or one of no or more than `most` messages. As tolerant as peek_frame. Thread-safe.
[[nodiscard]] std::optional<std::vector<std::string_view>> batch_messages(std::string_view bytes,
                                                                          std::size_t most);

}  // namespace league::rpc
