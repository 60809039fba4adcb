#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/core/result.h"
#include "common/envelope/message_type.h"
#include "common/rpc/message_notes.h"
#include "common/transport/link/message_handler.h"

/// Registrations without JSON-RPC, as some bots send them: refused with what to do instead. Source:
/// protocol §9.
namespace league::agent::host {

inline constexpr std::string_view kRestRegistration = "/register";  ///< the path

/// Why an agent of `role` refuses it, and where and how to register.
[[nodiscard]] core::Error rest_refusal(envelope::Role role);

/// Answers it with 404 and `why`, in a JSON-RPC error with the id that `body` may have.
void refuse_rest(const nlohmann::json& body, const core::Error& why,
                 std::shared_ptr<rpc::MessageNotes> notes, transport::link::ReplySlot slot);

/// The fields of `body` where those of LEAGUE_REGISTER_REQUEST are.
[[nodiscard]] nlohmann::json as_registration(const nlohmann::json& body);

}  // namespace league::agent::host
