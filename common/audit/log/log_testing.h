#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/audit/record/record.h"

namespace league::audit::log {

/// A record of nothing but `body`.
inline record::Record record_saying(std::string body) {
  record::Record record;
  record.body = std::move(body);
  return record;
}

}  // namespace league::audit::log
