#include "common/rpc/frame_skeleton.h"

#include <gtest/gtest.h>

namespace league::rpc {
namespace {

FramePeek passed(std::string_view text, std::size_t piece) {
  FrameSkeleton skeleton;
  for (std::size_t at = 0; at < text.size(); at += piece) skeleton.add(text.substr(at, piece));
  return skeleton.peek();
}

TEST(FrameSkeleton, KnowsTheIdOfALargeAnswerWhereverItStands) {
  const std::string inside = R"({"id":1,"text":"a\"}]{\\","more":[[],{"method":"x"}],"fill":")" +
                             std::string(100'000, 'x') + "\"}";
  for (const std::string& text : {R"({"jsonrpc":"2.0","id":7,"result":)" + inside + "}",
                                  R"({"result":)" + inside + R"(,"jsonrpc":"2.0","id":7})",
                                  R"({ "error" : )" + inside + R"( , "id" : 7 })"}) {
    for (std::size_t piece : {1UL, 7UL, 1UL << 20U}) {
      auto peek = passed(text, piece);
      EXPECT_EQ(peek.kind, FrameKind::kResponse);
      EXPECT_EQ(peek.id, Id(7));
    }
  }
  EXPECT_EQ(passed(R"({"method":"m","id":"a","params":)" + inside + "}", 50).kind,
            FrameKind::kRequest);
}

TEST(FrameSkeleton, IsBoundedWhateverComes) {
  std::string members = "{\"id\":7,\"result\":\"" + std::string(10'000, 'x') + "\"}";
  EXPECT_EQ(passed(members, 100).kind, FrameKind::kOther) << "the top level alone is too large";
  EXPECT_EQ(passed("no JSON " + std::string(10'000, '}'), 64).kind, FrameKind::kOther);
  EXPECT_EQ(passed("", 1).kind, FrameKind::kOther);
}

}  // namespace
}  // namespace league::rpc
