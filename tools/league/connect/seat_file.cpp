#include "tools/league/connect/seat_file.h"

#include "common/core/private_file.h"
#include "common/rpc/json_text.h"
#include "common/schema/fields.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::tools::connection {
namespace {

using nlohmann::json;

/// The records by manager; an empty object if there is no file.
core::Result<json> read_seats(const std::filesystem::path& file) {
  auto text = core::read_private_file(file);
  if (!text) return text.error();
  if (!*text) return json::object();
  auto document = schema::parse_json(**text);
  if (document && schema::field_at(*document, "connected").is_object())
    return schema::field_at(*document, "connected");
  return core::Error{core::ErrorCode::kInvalidFieldValue,
                     file.string() + " is no file of a connected bot; move it away",
                     {}};
}

}  // namespace

void describe(schema::Fields& a, SeatRecord& record) {
  a.defaulted("registration_nonce", record.registration_nonce, "registration", record.registration,
              "bot", record.bot);
}

std::string origin_of(const transport::link::Endpoint& manager) {
  const bool is_here = manager.host.starts_with("127.") || manager.host == "::1";
  transport::link::Endpoint origin = manager;
  if (is_here) origin.host = "localhost";
  return origin.scheme + "://" + origin.authority();
}

core::Result<SeatRecord> read_seat(const std::filesystem::path& file, const std::string& manager) {
  const auto seats = read_seats(file);
  if (!seats) return seats.error();
  auto record = schema::read_loosely<SeatRecord>(schema::field_at(*seats, manager));
  record.manager = manager;
  return record;
}

core::Result<void> write_seat(const std::filesystem::path& file, const SeatRecord& record) {
  auto seats = read_seats(file);
  if (!seats) return seats.error();
  (*seats)[record.manager] = schema::to_json(record);
  const json document = {{"connected", std::move(*seats)}};
  return core::write_private_file(file, rpc::to_json_text(document) + "\n");
}

}  // namespace league::tools::connection
