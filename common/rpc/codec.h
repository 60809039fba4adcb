#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/core/result.h"
#include "common/rpc/message.h"

namespace league::rpc {

/// A frame that is JSON but no JSON-RPC 2.0 message, to be answered with -32600.
struct InvalidRequest {
  Id id;  ///< null where none could be made out
  core::Error fault;  ///< kMalformedMessage; the rule that was broken, and the JSON pointer inside
                      ///< the frame

  bool operator==(const InvalidRequest&) const = default;
};

using Frame = std::variant<Message, InvalidRequest>;

/// One JSON document taken apart.
struct Decoded {
  bool is_batch = false;  ///< the answers go back as an array
  std::vector<Frame> frames;  ///< at least one; exactly one unless `is_batch`
};

struct DecodeOptions {
  /// MCP forbids the null ids that JSON-RPC merely discourages.
  bool refuse_null_id = false;
  /// A longer batch counts as one invalid request, because each invalid item of two bytes would
  /// cause an answer of ninety.
  std::size_t max_batch = 64;
};

/// Splits a parsed document into frames by the rules of JSON-RPC 2.0. Pass it by move: parameters
/// are moved out of it. An empty array is one invalid request, not a batch. Unknown members are
/// ignored. Never throws, whatever the JSON value.
[[nodiscard]] Decoded decode(nlohmann::json document, const DecodeOptions& options = {});

/// The answer to an invalid frame, without `data`.
[[nodiscard]] Response to_response(const InvalidRequest& invalid);

/// Which deviations were tolerated to read a response (protocol §9).
struct ResponseLeniencies {
  bool null_error = false;  ///< `"error": null` beside a result
  bool null_result = false;  ///< `"result": null` beside an error
  bool missing_id = false;  ///< no id, or null in a successful answer
  bool changed_id_type = false;  ///< the request's id, but a string for a number or the reverse
  bool foreign_id = false;  ///< another id than the request's
  bool missing_version = false;  ///< `jsonrpc` is not "2.0"
  bool malformed_error = false;  ///< `error` without an integer code and a text
  bool operator==(const ResponseLeniencies&) const = default;
};

/// A response, corrected where it deviates.
struct TolerantResponse {
  Response response;  ///< with the id of the request where the answer's own was missing or foreign
  ResponseLeniencies leniencies;
};

/// Reads the answer to the request `expected`, tolerating the deviations in ResponseLeniencies.
/// Fails with kInvalidReply if there is neither a result nor an error, or both. Never throws,
/// whatever the JSON value.
[[nodiscard]] core::Result<TolerantResponse> decode_response(nlohmann::json document,
                                                             const Id& expected);

/// The bytes of a request around `params_bytes`, which must be a JSON object or array, or empty: no
/// parameters.
[[nodiscard]] std::string encode_request(const Id& id, std::string_view method,
                                         std::string_view params_bytes);
/// The bytes of a notification; `params_bytes` as in encode_request.
[[nodiscard]] std::string encode_notification(std::string_view method,
                                              std::string_view params_bytes);
/// The bytes of a successful answer around `result_bytes`, which must be JSON; empty and `null`
/// become `{}`, since peers take a null result for none.
[[nodiscard]] std::string encode_result(const Id& id, std::string_view result_bytes);
/// The bytes of a failed answer; `data_bytes` must be JSON or empty: no data.
[[nodiscard]] std::string encode_error(const Id& id, int code, std::string_view message,
                                       std::string_view data_bytes = {});
/// An error with the specification's text for `code`.
[[nodiscard]] std::string encode_error(const Id& id, StandardCode code,
                                       std::string_view data_bytes = {});
/// The bytes of any message. Bytes in strings that are no UTF-8 are replaced by U+FFFD.
[[nodiscard]] std::string encode(const Message& message);
/// Joins encoded messages into an array; empty for none, since an empty batch must not be sent.
[[nodiscard]] std::string encode_batch(std::span<const std::string> encoded);

}  // namespace league::rpc
