#include "common/core/ids.h"

namespace league::core {

std::string numbered_id(std::string_view prefix, int number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 2) digits.insert(digits.begin(), '0');
  return std::string(prefix) + digits;
}

namespace {

std::pair<std::string_view, std::string_view> split_number(std::string_view id) {
  std::size_t begin = id.size();
  while (begin > 0 && id[begin - 1] >= '0' && id[begin - 1] <= '9') --begin;
  std::string_view digits = id.substr(begin);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return {id.substr(0, begin), digits};
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  auto [a_text, a_digits] = split_number(a);
  auto [b_text, b_digits] = split_number(b);
  if (a_text != b_text) return a_text < b_text;
  if (a_digits.size() != b_digits.size()) return a_digits.size() < b_digits.size();
  if (a_digits != b_digits) return a_digits < b_digits;
  return a < b;
}

}  // namespace league::core
