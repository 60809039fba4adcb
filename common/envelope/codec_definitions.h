#pragma once

#include "common/envelope/codec.h"
#include "common/envelope/field_archive.h"

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

template <typename Message>
core::Result<Message> decode(const nlohmann::json& in) {
  Message message;
  std::optional<core::Error> fault;
  const Place root;
  FieldReader reader(in, root, fault);
  if (!fault) describe(reader, message, Of<Message>{});
  if (fault) return std::move(*fault);
  return message;
}

}  // namespace league::envelope
