#include <gtest/gtest.h>
#include "kiln.hpp"

TEST(Kiln, NeverPassesItsTop) { EXPECT_EQ(target(900, 100, 1240), 1240); }
TEST(Kiln, StartsAtRoomTemperature) { EXPECT_EQ(target(0, 100, 20), 20); }
