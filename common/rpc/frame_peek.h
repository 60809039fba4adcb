#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/rpc/id.h"

namespace league::rpc {

/// What a JSON text is, seen from outside.
enum class FrameKind : std::uint8_t {
  kRequest,  ///< an object with a method and an id, also one that no request may have
  kNotification,  ///< an object with a method and no id
  kResponse,  ///< an object with a result or an error, and no method
  kBatch,  ///< an array
  kOther,  ///< anything else, and what is no JSON
};

/// What routing needs to know of a frame before anybody parses it.
struct FramePeek {
  FrameKind kind = FrameKind::kOther;
  Id id;  ///< null also where the frame's id is no id (a fraction, an object)
  std::string method;  ///< empty for responses
};

/// Reads kind, id and method of the top-level object in one pass without building a document. Where
/// a key comes twice, the last one counts, as for the parser. Accepts more than JSON (values inside
/// are only skipped), so a parser still has to look. Any bytes, any depth; never throws but for
/// lack of memory. Thread-safe.
[[nodiscard]] FramePeek peek_frame(std::string_view bytes);

}  // namespace league::rpc
