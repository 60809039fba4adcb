#include "common/core/ids.h"

namespace league::core {

std::string numbered_id(std::string_view prefix, int number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 2) digits.insert(digits.begin(), '0');
  return std::string(prefix) + digits;
}

}  // namespace league::core
