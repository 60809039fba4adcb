#include "common/core/own_program.h"

#include <gtest/gtest.h>

namespace league::core {
namespace {

TEST(OwnProgram, IsTheTest) { EXPECT_EQ(own_program().filename(), "core_test"); }

}  // namespace
}  // namespace league::core
