#include "tools/check/change.h"

namespace league::tools::check {

using nlohmann::json;

namespace {

json nested(int depth) {
  json value = 1;
  for (int i = 0; i < depth; ++i) value = json::array({std::move(value)});
  return value;
}

}  // namespace

json described(const json& value, const Names& names) {
  if (!value.is_string()) return value;
  const auto& text = value.get_ref<const std::string&>();
  if (!text.starts_with('$')) return value;
  const std::size_t times = text.find('*');
  if (times == std::string::npos) return names.at(text.substr(1));
  const int count = std::stoi(text.substr(times + 1));
  if (text.starts_with("$nested")) return nested(count);
  return std::string(static_cast<std::size_t>(count), text[1]);
}

void change(json& message, const json& changes, const Names& names) {
  for (const auto& [key, value] : changes.items()) {
    if (key.ends_with('#')) {
      for (int i = 0; i < value.get<int>(); ++i)
        message[key.substr(0, key.size() - 1) + std::to_string(i)] = i;
      continue;
    }
    const std::size_t name = key.find('$');
    const json::json_pointer place(
        "/" + (name == std::string::npos
                   ? key
                   : key.substr(0, name) + names.at(key.substr(name + 1)).get<std::string>()));
    if (value == "$gone") {
      message[place.parent_pointer()].erase(place.back());
    } else {
      message[place] = described(value, names);
    }
  }
}

const json& value_at(const json& message, const std::string& path) {
  static const json kNothing;
  const json::json_pointer place("/" + path);
  return message.is_object() && message.contains(place) ? message[place] : kNothing;
}

}  // namespace league::tools::check
