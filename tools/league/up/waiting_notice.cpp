#include "tools/league/up/waiting_notice.h"

namespace league::tools {

void WaitingNotice::note(const std::string& missing, const std::string& end) {
  constexpr std::chrono::seconds kBetween{1};
  auto now = clock_.steady_now();
  if (missing.empty()) {
    if (!said_.empty()) say_(end);
    said_.clear();
    since_.reset();
    return;
  }
  if (!since_) since_ = now;
  if (missing == said_ || now - *since_ < patience_) return;
  if (!said_.empty() && now - last_said_ < kBetween) return;
  last_said_ = now;
  said_ = missing;
  say_(missing);
}

}  // namespace league::tools
