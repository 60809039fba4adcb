#include "common/mcp/listen_streams.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/schema/fields.h"
#include "common/schema/json_fields.h"

namespace league::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kMostUris = 256;

json tagged(json params, const rpc::Id& id) {
  params["_meta"][std::string(kSubscriptionKey)] = id;
  return params;
}

}  // namespace

void describe(schema::Fields& a, ListenFilter& filter) {
  a.flag("toolsListChanged", filter.tools);
  a.flag("promptsListChanged", filter.prompts);
  a.flag("resourcesListChanged", filter.resources);
  a.filled("resourceSubscriptions", filter.uris);
}

std::optional<ListenFilter> ListenFilter::parse(const json& params) {
  const json& given = schema::field_at(params, "notifications");
  if (!given.is_object()) return std::nullopt;
  auto filter = schema::read_loosely<ListenFilter>(given);
  const auto uris = given.find("resourceSubscriptions");
  const bool is_right = uris == given.end() ||
                        (uris->is_array() && uris->size() <= kMostUris &&
                         std::ranges::all_of(*uris, [](auto& uri) { return uri.is_string(); }));
  return is_right ? std::optional(std::move(filter)) : std::nullopt;
}

ListenStreams::~ListenStreams() {
  std::map<std::uint64_t, Stream> ending;
  {
    std::lock_guard lock(mutex_);
    ending.swap(streams_);
  }
  for (const auto& [number, stream] : ending)
    stream.reply.send(tagged(json::object(), stream.reply.id()));
}

bool ListenStreams::open(std::uint64_t number, const Responder& reply, const ListenFilter& filter) {
  {
    std::lock_guard lock(mutex_);
    if (streams_.size() >= most_) return false;
    streams_.emplace(number, Stream{reply, filter});
  }
  bool is_taken = reply.request_context().notify(
      "notifications/subscriptions/acknowledged",
      tagged({{"notifications", schema::to_json(filter)}}, reply.id()));
  {
    std::lock_guard lock(mutex_);
    if (const auto found = streams_.find(number); is_taken && found != streams_.end())
      found->second.is_acknowledged = true;
  }
  if (!is_taken || reply.request_context().is_cancelled()) remove(number);
  return is_taken;
}

void ListenStreams::remove(std::uint64_t number) {
  decltype(streams_)::node_type ended;  // destroyed without the lock
  std::lock_guard lock(mutex_);
  ended = streams_.extract(number);
}

template <typename Wanted>
void ListenStreams::notify(std::string_view method, json params, const Wanted& wanted) {
  std::vector<Responder> listeners;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [number, stream] : streams_) {
      if (stream.is_acknowledged && wanted(stream.filter)) listeners.push_back(stream.reply);
    }
  }
  for (const auto& listener : listeners)
    listener.request_context().notify(method, tagged(params, listener.id()));
}

void ListenStreams::list_changed(std::string_view method, bool ListenFilter::*which) {
  notify(method, json::object(), [which](const ListenFilter& filter) { return filter.*which; });
}

void ListenStreams::resource_updated(const std::string& uri) {
  notify("notifications/resources/updated", {{"uri", uri}},
         [&](const ListenFilter& filter) { return filter.uris.contains(uri); });
}

bool ListenStreams::is_empty() const {
  std::lock_guard lock(mutex_);
  return streams_.empty();
}

}  // namespace league::mcp
