#pragma once

#include "common/envelope/codec.h"
#include "common/envelope/field_archive.h"
#include "common/envelope/field_lister.h"
#include "common/envelope/text_archive.h"

// The bodies of codec.h's templates, for the .cpp files that instantiate them.
namespace league::envelope {

template <typename Message>
nlohmann::json encode(const Envelope& envelope, const Message& message) {
  nlohmann::json out = encode_envelope(envelope);
  out["message_type"] = wire_name(Message::kType);
  FieldWriter writer(out);
  describe(writer, message, Of<Message>{});
  return out;
}

/// The fields of the envelope, with `type` in place of its own.
void write_envelope(TextWriter& writer, const Envelope& envelope, MessageType type);

template <typename Message>
std::string encode_text(const Envelope& envelope, const Message& message) {
  std::string out;
  TextWriter writer(out);
  write_envelope(writer, envelope, Message::kType);
  describe(writer, message, Of<Message>{});
  writer.end();
  return out;
}

template <typename Message>
DescribedMessage described() {
  DescribedMessage out{.type = Message::kType, .about = about(Of<Message>{}), .fields = {}};
  FieldLister fields(out.fields);
  const Message example{};
  describe(fields, example, Of<Message>{});
  return out;
}

template <typename Message>
core::Result<Message> decode(schema::JsonNode in) {
  Message message;
  std::optional<core::Error> fault;
  const FieldPath root;
  FieldReader reader(in, root, fault);
  if (!fault) describe(reader, message, Of<Message>{});
  if (fault) return std::move(*fault);
  return message;
}

}  // namespace league::envelope
