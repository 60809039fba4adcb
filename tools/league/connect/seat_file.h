#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "common/core/result.h"
#include "common/transport/link/endpoint.h"

namespace league::tools::connection {

/// What must not be forgotten of a connected bot in one league.
struct SeatRecord {
  std::string manager;  ///< origin_of its address
  std::string registration_nonce;
  nlohmann::json registration;  ///< the manager's answer, with the token; null: not registered yet
  std::string bot;  ///< its endpoint, if it has said that itself
};

/// `http://localhost:8000`, whatever name of this machine `manager` has.
[[nodiscard]] std::string origin_of(const transport::link::Endpoint& manager);
/// Reads the record for `manager` from a file that has one for each manager; an empty one if there
/// is none yet. Fails if others may read the file, or it is of another kind.
[[nodiscard]] core::Result<SeatRecord> read_seat(const std::filesystem::path& file,
                                                 const std::string& manager);
/// Writes it beside the records for other managers, so that only the file's owner can read it.
[[nodiscard]] core::Result<void> write_seat(const std::filesystem::path& file,
                                            const SeatRecord& record);

}  // namespace league::tools::connection
