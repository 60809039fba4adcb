#pragma once

#include <string_view>
#include <vector>

#include "common/envelope/codec.h"
#include "common/envelope/field_rules.h"
#include "common/envelope/message_type.h"
#include "common/schema/json_tree.h"

namespace league::envelope {

using schema::DescribedField;

/// A message as its description has it. A value.
struct DescribedMessage {
  MessageType type = MessageType::kRefereeRegisterRequest;
  MessageAbout about = {};
  std::vector<DescribedField> fields = {};
};

/// The description of a message, with the fields of the envelope before its own. Thread-safe, like
/// everything here.
[[nodiscard]] const DescribedMessage& description_of(MessageType type);
/// The fields that all messages have.
[[nodiscard]] std::vector<DescribedField> envelope_description();

/// Whether a message is exactly as it is described: every field keeps its rule, and there is no
/// other member at any depth. False also for a text that only a regular expression can judge.
[[nodiscard]] bool is_as_described(MessageType type, schema::JsonNode message);

}  // namespace league::envelope
