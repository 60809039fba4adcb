#pragma once

#include <string_view>
#include <vector>

#include "common/envelope/field_rule.h"
#include "common/envelope/message_type.h"

namespace league::envelope {

/// A field as the description of its struct has it. A value.
struct DescribedField {
  std::string_view name = {};
  std::string_view type = {};  ///< as JSON Schema has it: `string`, `integer`, `object`, …
  Rule rule = {};
  bool is_required = false;
  bool may_be_null = false;
  std::vector<std::string_view> names = {};  ///< the allowed values of an enumeration
  std::vector<DescribedField> fields = {};  ///< of an object whose fields have names
  std::vector<DescribedField> element = {};  ///< one, of a list or a map
};

/// What a message is for, and which fields of the envelope it must have besides those that all do.
struct MessageAbout {
  std::string_view description;
  bool needs_league = false;
  bool needs_round = false;
  bool needs_match = false;
};

/// A message as its description has it: without the fields of the envelope. A value.
struct DescribedMessage {
  MessageType type;
  MessageAbout about;
  std::vector<DescribedField> fields;
};

/// Instantiated for each message struct but RoundAssignment, which is a ROUND_ANNOUNCEMENT.
template <typename Message>
[[nodiscard]] DescribedMessage described();

}  // namespace league::envelope
