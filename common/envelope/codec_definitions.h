#pragma once

#include "common/envelope/codec.h"
#include "common/envelope/field_rules.h"

// For the .cpp files that describe messages.
namespace league::envelope {

/// What `Message::codec()` returns: its fields are those of `describe(Fields&, Message&)`.
template <typename Message>
const MessageCodec& codec_for(const MessageAbout& about) {
  static const MessageCodec kCodec{Message::kType, about, schema::field_type<Message>(),
                                   schema::kDescribe<Message>};
  return kCodec;
}

}  // namespace league::envelope
