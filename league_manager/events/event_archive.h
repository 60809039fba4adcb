#pragma once

#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/crypto.h"
#include "league_manager/events/events.h"

// How events are written to and read from the journal's JSON. Private to event_codec.cpp.
namespace league::league_manager::events {

using nlohmann::json;

/// How a value that the journal holds as one text is written and read.
template <typename Write, typename Parse>
struct TextForm {
  Write write;
  Parse parse;
};
template <typename Write, typename Parse>
TextForm(Write, Parse) -> TextForm<Write, Parse>;

/// Null for a value that is not held as one text.
template <typename T>
inline constexpr auto kText = nullptr;
template <>
inline constexpr auto kText<core::LeagueId> =
    TextForm{[](const core::LeagueId& id) { return id.str(); },
             [](const std::string& text) { return std::optional(core::LeagueId(text)); }};
template <>
inline constexpr auto kText<AgentRef> =
    TextForm{[](const AgentRef& agent) { return agent.id(); }, AgentRef::parse};
template <>
inline constexpr auto kText<MatchKey> =
    TextForm{[](const MatchKey& match) { return match.id().str(); }, MatchKey::parse};
template <>
inline constexpr auto kText<game::Outcome> = TextForm{game::outcome_name, game::parse_outcome};
template <>
inline constexpr auto kText<game::Fairness> = TextForm{game::fairness_name, game::parse_fairness};
template <>
inline constexpr auto kText<AgentState> = TextForm{agent_state_name, parse_agent_state};
template <>
inline constexpr auto kText<FailureKind> = TextForm{failure_kind_name, parse_failure_kind};
template <>
inline constexpr auto kText<Recognition> = TextForm{recognition_name, parse_recognition};
template <>
inline constexpr auto kText<NotificationKind> =
    TextForm{notification_kind_name, parse_notification_kind};
template <>
inline constexpr auto kText<ReceiptState> = TextForm{receipt_state_name, parse_receipt_state};
template <>
inline constexpr auto kText<PlayerWord> = TextForm{player_word_name, parse_player_word};
template <>
inline constexpr auto kText<OperatorAct> = TextForm{operator_act_name, parse_operator_act};

template <typename T>
concept AsText = !std::is_null_pointer_v<decltype(kText<T>)>;
/// A value with `fields` of its own, which the journal holds as an object.
template <typename T>
concept AsObject = std::is_aggregate_v<T> && !AsText<T>;

// Each event, and each object in one, lists its fields once, in `fields`; Writer and Reader walk
// the same list.

class Writer {
 public:
  explicit Writer(json& out) : out_(out) { out_ = json::object(); }
  template <typename T>
  void operator()(const char* key, T& value) {
    if constexpr (AsText<T>) {
      out_[key] = kText<T>.write(value);
    } else if constexpr (AsObject<T>) {
      object(key, [&value](Writer& io) { fields(io, value); });
    } else {
      out_[key] = value;
    }
  }
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  void operator()(const char* key, std::optional<game::Definition>& game) {
    if (game) out_[key] = game->to_json();
  }
  void operator()(const char* key, std::vector<DrawSeed>& seeds) {
    json list = json::array();
    for (const auto& seed : seeds) list.push_back(core::to_hex(seed));
    out_[key] = std::move(list);
  }
  template <typename T>
  requires AsObject<T>
  void operator()(const char* key, std::vector<T>& values) {
    json list = json::array();
    for (T& value : values) {
      Writer io(list.emplace_back());
      fields(io, value);
    }
    out_[key] = std::move(list);
  }
  /// Writes a flag, which is left out if false.
  void flag(const char* key, bool value) {
    if (value) out_[key] = true;
  }
  /// Writes a text, which is left out if empty.
  void filled(const char* key, const std::string& text) {
    if (!text.empty()) out_[key] = text;
  }
  template <typename Fields>
  void object(const char* key, const Fields& of) {
    Writer io(out_[key]);
    of(io);
  }

 private:
  json& out_;
};

/// Throws nlohmann's exceptions or std::invalid_argument; from_record turns them into an Error.
class Reader {
 public:
  explicit Reader(const json& in) : in_(in) {}
  template <typename T>
  void operator()(const char* key, T& value) {
    if constexpr (AsText<T>) {
      const auto& text = in_.at(key).get_ref<const std::string&>();
      const auto read = kText<T>.parse(text);
      if (!read) {
        constexpr bool kNamesKey = std::is_enum_v<T> && !std::is_same_v<T, game::Outcome>;
        throw std::invalid_argument("'" + text + "' is not a value of " +
                                    (kNamesKey ? "'" + std::string(key) + "'" : "this field"));
      }
      value = *read;
    } else if constexpr (AsObject<T>) {
      object(key, [&value](Reader& io) { fields(io, value); });
    } else {
      in_.at(key).get_to(value);
    }
  }
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) {
    if (in_.contains(key)) (*this)(key, value.emplace());
  }
  void operator()(const char* key, std::optional<game::Definition>& game) {
    if (!in_.contains(key)) return;
    auto read = game::Definition::read(in_.at(key));
    if (!read) throw std::invalid_argument("'game' is no game: " + read.error().message);
    game = std::move(*read);
  }
  void operator()(const char* key, std::vector<DrawSeed>& seeds) {
    for (const auto& hex : in_.at(key)) {
      auto bytes = core::from_hex(hex.get_ref<const std::string&>());
      if (!bytes || bytes->size() != DrawSeed{}.size())
        throw std::invalid_argument("a draw seed is not 32 bytes");
      std::ranges::copy(*bytes, seeds.emplace_back().begin());
    }
  }
  template <typename T>
  requires AsObject<T>
  void operator()(const char* key, std::vector<T>& values) {
    for (const auto& one : in_.at(key)) {
      Reader io(one);
      fields(io, values.emplace_back());
    }
  }
  void flag(const char* key, bool& value) { value = in_.value(key, false); }
  void filled(const char* key, std::string& text) { text = in_.value(key, std::string()); }
  template <typename Fields>
  void object(const char* key, const Fields& of) {
    Reader io(in_.at(key));
    of(io);
  }

 private:
  const json& in_;
};

}  // namespace league::league_manager::events
