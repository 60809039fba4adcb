#include "league_manager/bus/event_subscriptions.h"

#include <nlohmann/json.hpp>

#include "common/envelope/event_types.h"

namespace league::league_manager::bus {
namespace {

constexpr std::size_t kMostTypes = 16;

}  // namespace

core::Result<EventFilter> read_event_filter(const nlohmann::json& arguments) {
  EventFilter filter;
  if (auto after = arguments.find("after"); after != arguments.end() && !after->is_null()) {
    if (!after->is_number_integer() ||
        (!after->is_number_unsigned() && after->get<std::int64_t>() < 0))
      return core::Error{core::ErrorCode::kInvalidFieldType, "after must be the number of an event",
                         "/after"};
    filter.after = after->get<std::uint64_t>();
  }
  auto types = arguments.find("types");
  if (types == arguments.end() || types->is_null()) return filter;
  if (!types->is_array() || types->size() > kMostTypes)
    return core::Error{core::ErrorCode::kInvalidFieldType, "types must be a list of names",
                       "/types"};
  for (const auto& type : *types) {
    if (!type.is_string())
      return core::Error{core::ErrorCode::kInvalidFieldType, "types must be a list of names",
                         "/types"};
    std::string name = envelope::event_type_of(type.get_ref<const std::string&>());
    if (!envelope::is_event_type(name))
      return core::Error{core::ErrorCode::kInvalidFieldValue, envelope::unknown_event_type(name),
                         "/types"};
    filter.types.insert(std::move(name));
  }
  return filter;
}

}  // namespace league::league_manager::bus
