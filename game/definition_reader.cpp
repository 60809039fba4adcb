#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "game/definition.h"

namespace league::game {

namespace {

using core::Error;
using core::Result;
using nlohmann::json;

constexpr std::size_t kFewestChoices = 2;
constexpr std::size_t kMostChoices = 15;
constexpr std::size_t kLongestWord = 32;
constexpr std::size_t kLongestName = 40;

Error broken(const std::string& place, const std::string& rule) {
  return {core::ErrorCode::kInvalidFieldValue, (place.empty() ? "/" : place) + ": " + rule, place};
}

bool is_word(const json& value, std::size_t longest, std::string_view also) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           also.find(c) != std::string_view::npos;
  });
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Whether `value` is an object that has exactly the members `names`.
Result<void> check_members(const json& value, const std::string& place,
                           const std::vector<std::string>& names, const char* what) {
  if (!value.is_object())
    return broken(place, std::string("must be an object of ") + what + ": " + listed(names));
  for (const auto& [name, unused] : value.items()) {
    if (std::ranges::find(names, name) == names.end())
      return broken(place + "/" + core::shown(name),
                    "is none of the " + std::string(what) + " " + listed(names));
  }
  for (const std::string& name : names) {
    if (!value.contains(name)) return broken(place + "/" + name, "is missing");
  }
  return {};
}

Result<int> read_points(const json& value, const std::string& place) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (number < 0 || number > Definition::kHighestPayoff ||
      number != static_cast<double>(static_cast<int>(number)))
    return broken(place,
                  "must be a whole number from 0 to " + std::to_string(Definition::kHighestPayoff));
  return static_cast<int>(number);
}

}  // namespace

/// Reads one definition, from what all else refers to down to the numbers.
class DefinitionReader {
 public:
  explicit DefinitionReader(const json& file) : file_(file) {}

  Result<Definition> run() && {
    for (auto step : {&DefinitionReader::read_head, &DefinitionReader::read_choices,
                      &DefinitionReader::read_drawn, &DefinitionReader::read_all_payoffs,
                      &DefinitionReader::read_technical}) {
      if (auto done = (this->*step)(); !done) return done.error();
    }
    return std::move(out_);
  }

 private:
  Result<void> read_head() {
    static const std::vector<std::string> kFields = {"game_type", "choices", "drawn",
                                                     "payoffs",   "roles",   "technical"};
    if (!file_.is_object()) return broken("", "a game is a JSON object");
    for (const auto& [name, unused] : file_.items()) {
      if (std::ranges::find(kFields, name) == kFields.end())
        return broken("/" + core::shown(name), "is no field of a game: " + listed(kFields));
    }
    for (const char* name : {"game_type", "choices", "technical"}) {
      if (!file_.contains(name)) return broken("/" + std::string(name), "is missing");
    }
    if (!is_word(file_["game_type"], kLongestName, "")) {
      return broken("/game_type", "must be a name of 1 to " + std::to_string(kLongestName) +
                                      " characters of [a-z0-9_]");
    }
    out_.game_type_ = file_["game_type"];
    return {};
  }

  Result<void> read_choices() {
    const json& words = file_["choices"];
    if (!words.is_array() || words.size() < kFewestChoices || words.size() > kMostChoices) {
      return broken("/choices", "must be a list of " + std::to_string(kFewestChoices) + " to " +
                                    std::to_string(kMostChoices) + " words");
    }
    for (const json& word : words) {
      const std::string place = "/choices/" + std::to_string(out_.choices_.size());
      if (!is_word(word, kLongestWord, "-ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
        return broken(place, "must be a word of 1 to " + std::to_string(kLongestWord) +
                                 " characters of [A-Za-z0-9_-]");
      }
      if (out_.index_of(word.get_ref<const std::string&>())) return broken(place, "is there twice");
      out_.choices_.push_back(word);
    }
    return {};
  }

  Result<void> read_drawn() {
    if (!file_.contains("drawn")) return {};
    const json& kinds = file_["drawn"];
    if (!kinds.is_array() || kinds.size() < 2 || kinds.size() > Definition::kMostNumbers) {
      return broken("/drawn", "must be a list of 2 to " + std::to_string(Definition::kMostNumbers) +
                                  " words: the kinds of the numbers 1, 2, ...");
    }
    for (const json& kind : kinds) {
      const auto place =
          kind.is_string() ? out_.index_of(kind.get_ref<const std::string&>()) : std::nullopt;
      if (!place) {
        return broken("/drawn/" + std::to_string(out_.kinds_.size()),
                      "must be one of the choices " + listed(out_.choices_));
      }
      out_.kinds_.push_back(static_cast<std::uint8_t>(*place));
    }
    return {};
  }

  Result<void> read_all_payoffs() {
    if (file_.contains("payoffs") == file_.contains("roles"))
      return broken("/payoffs", "a game has either payoffs, or roles where they differ");
    if (file_.contains("payoffs")) {
      auto read = read_payoffs(file_["payoffs"], "/payoffs", out_.payoffs_[Side::kA]);
      out_.payoffs_[Side::kB] = out_.payoffs_[Side::kA];
      return read;
    }
    const json& roles = file_["roles"];
    if (auto fits = check_members(roles, "/roles", {"PLAYER_A", "PLAYER_B"}, "roles"); !fits)
      return fits;
    for (Side side : kBothSides) {
      const std::string name(side_name(side));
      if (auto read = read_payoffs(roles[name], "/roles/" + name, out_.payoffs_[side]); !read)
        return read;
    }
    return {};
  }

  /// Payoffs by the kind of the number, if one is drawn, own choice and choice of the other.
  Result<void> read_payoffs(const json& value, const std::string& place,
                            std::vector<std::int16_t>& payoffs) {
    if (out_.kinds_.empty()) return read_pairs(value, place, payoffs);
    if (auto fits = check_members(value, place, out_.choices_, "kinds of numbers"); !fits)
      return fits;
    for (const std::string& kind : out_.choices_) {
      if (auto read = read_pairs(value[kind], place + "/" + kind, payoffs); !read) return read;
    }
    return {};
  }

  Result<void> read_pairs(const json& value, const std::string& place,
                          std::vector<std::int16_t>& payoffs) {
    if (auto fits = check_members(value, place, out_.choices_, "choices"); !fits) return fits;
    for (const std::string& own : out_.choices_) {
      const std::string row = place + "/" + own;
      if (auto fits = check_members(value[own], row, out_.choices_, "choices"); !fits) return fits;
      for (const std::string& other : out_.choices_) {
        auto points = read_points(value[own][other], row + "/" + other);
        if (!points) return points.error();
        payoffs.push_back(static_cast<std::int16_t>(*points));
      }
    }
    return {};
  }

  Result<void> read_technical() {
    const json& technical = file_["technical"];
    if (auto fits = check_members(technical, "/technical", {"winner", "loser", "both"}, "points");
        !fits)
      return fits;
    for (auto [name, points] :
         {std::pair("winner", &out_.technical_.winner), std::pair("loser", &out_.technical_.loser),
          std::pair("both", &out_.technical_.both)}) {
      auto read = read_points(technical[name], std::string("/technical/") + name);
      if (!read) return read.error();
      *points = *read;
    }
    if (out_.technical_.winner <= out_.technical_.loser)
      return broken("/technical/winner", "must be higher than loser");
    return {};
  }

  const json& file_;
  Definition out_;
};

Result<Definition> Definition::read(const json& file) { return DefinitionReader(file).run(); }

json Definition::to_json() const {
  const auto pairs = [this](Side side, std::size_t kind) {
    json rows = json::object();
    for (std::size_t own = 0; own < choices_.size(); ++own) {
      for (std::size_t other = 0; other < choices_.size(); ++other)
        rows[choices_[own]][choices_[other]] = payoff(side, own, other, kind);
    }
    return rows;
  };
  const auto payoffs = [&](Side side) {
    if (kinds_.empty()) return pairs(side, 0);
    json kinds = json::object();
    for (std::size_t kind = 0; kind < choices_.size(); ++kind)
      kinds[choices_[kind]] = pairs(side, kind);
    return kinds;
  };
  json out = {
      {"game_type", game_type_},
      {"choices", choices_},
      {"technical",
       {{"winner", technical_.winner}, {"loser", technical_.loser}, {"both", technical_.both}}}};
  for (const std::size_t kind : kinds_) out["drawn"].push_back(choices_[kind]);
  if (!has_roles()) {
    out["payoffs"] = payoffs(Side::kA);
  } else {
    for (Side side : kBothSides) out["roles"][std::string(side_name(side))] = payoffs(side);
  }
  return out;
}

}  // namespace league::game
