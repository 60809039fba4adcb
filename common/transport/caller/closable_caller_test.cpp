#include "common/transport/caller/closable_caller.h"

#include <gtest/gtest.h>

namespace league::transport::caller {
namespace {

/// Keeps calls until it is destroyed, and ends them then.
class HoldingCaller final : public link::Caller {
 public:
  ~HoldingCaller() override {
    for (auto& completion : held_) {
      link::CallOutcome outcome;
      outcome.error = core::Error{core::ErrorCode::kConnectionError, "ended", ""};
      completion(std::move(outcome));
    }
  }
  void call(link::OutboundCall /*call*/, Completion completion) override {
    held_.push_back(std::move(completion));
  }

 private:
  std::vector<Completion> held_;
};

TEST(ClosableCaller, EndsWhatRunsAndRefusesWhatComesLater) {
  ClosableCaller caller(std::make_unique<HoldingCaller>());
  std::vector<core::ErrorCode> ends;
  auto note = [&](const link::CallOutcome& outcome) { ends.push_back(outcome.error->code); };
  // A completion may call again while the gate closes.
  caller.call({}, [&](const link::CallOutcome& outcome) {
    note(outcome);
    caller.call({}, note);
  });
  EXPECT_TRUE(ends.empty());
  caller.close();
  EXPECT_EQ(ends, (std::vector{core::ErrorCode::kConnectionError, core::ErrorCode::kShuttingDown}));
  caller.close();
  caller.call({}, note);
  EXPECT_EQ(ends.size(), 3U);
}

}  // namespace
}  // namespace league::transport::caller
