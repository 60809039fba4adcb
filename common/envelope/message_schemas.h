#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/envelope/envelope.h"
#include "common/envelope/message_type.h"
#include "common/schema/json_tree.h"

namespace league::envelope {

/// The JSON Schemas of the protocol, compiled and warmed once. Immutable and thread-safe; copies
/// share.
class MessageSchemas {
 public:
  /// Compiles the schemas that are printed from the descriptions (schema_text), or those in
  /// `directory` instead (one `game_invitation.schema.json` per type, all of them). Fails with a
  /// text that names the file and the fault.
  [[nodiscard]] static core::Result<MessageSchemas> load(
      const std::optional<std::filesystem::path>& directory = std::nullopt);

  /// Checks a message of `type` against its schema and then what a schema cannot say (real dates,
  /// well-formed sender), and reads its envelope. The Error has the protocol's code, the JSON
  /// pointer of the field and a text for the author of the bot.
  [[nodiscard]] core::Result<Envelope> validate(MessageType type,
                                                const nlohmann::json& message) const;
  /// As validate, for a message whose fields have already been read (envelope::read): `fault` is
  /// the reader's first fault, which is returned if the schema finds none.
  [[nodiscard]] core::Result<void> check(MessageType type, const nlohmann::json& message,
                                         const std::optional<core::Error>& fault) const;

  /// Whether a message of `type` is exactly as its schema describes it: valid, without a member at
  /// any depth that the schema does not name, and in no form that normalise would rewrite. What its
  /// readers check (real dates, a well-formed sender) is left to them.
  [[nodiscard]] bool is_exact(MessageType type, schema::JsonNode message) const;

  /// The type that `message` names; kMissingRequiredField or kUnknownMessageType otherwise.
  [[nodiscard]] static core::Result<MessageType> type_of(const nlohmann::json& message);

 private:
  class Impl;
  explicit MessageSchemas(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

/// `game_invitation` for GAME_INVITATION: how schema and golden files are named.
[[nodiscard]] std::string file_stem(MessageType type);

}  // namespace league::envelope
