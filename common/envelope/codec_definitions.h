#pragma once

#include "common/envelope/codec.h"
#include "common/envelope/described_field.h"
#include "common/envelope/field_rules.h"

// The bodies of codec.h's templates, for the .cpp files that instantiate them.
namespace league::envelope {

/// The fields of the envelope, with `type` in place of its own.
void describe_envelope(Fields& a, const Envelope& envelope, MessageType type);

template <typename Message>
auto describe_whole(const Envelope& envelope, const Message& message) {
  return [&](Fields& a) {
    describe_envelope(a, envelope, Message::kType);
    a.fields_of(message);
  };
}

template <typename Message>
nlohmann::json encode(const Envelope& envelope, const Message& message) {
  return schema::object_to_json(describe_whole(envelope, message));
}

template <typename Message>
std::string encode_text(const Envelope& envelope, const Message& message) {
  return schema::object_to_text(describe_whole(envelope, message));
}

template <typename Message>
DescribedMessage described() {
  return {.type = Message::kType,
          .about = about(Of<Message>{}),
          .fields = schema::field_type<Message>().list({}).fields};
}

template <typename Message>
core::Result<Message> decode(schema::JsonNode in) {
  return schema::read<Message>(in);
}

}  // namespace league::envelope
