#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/audit/record/record.h"

namespace league::audit {

/// A record of nothing but `body`.
inline Record record_saying(std::string body) {
  Record record;
  record.body = std::move(body);
  return record;
}

}  // namespace league::audit
