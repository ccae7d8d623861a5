import {
  assertion,
  type MixedBuild,
  missingFile,
  nullReference,
  refused,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createDebianTool } from '../../../scripts/parts/capture/row.ts';

/** Suites of CTest, GoogleTest and Catch2. */
export const builds: readonly MixedBuild[] = [
  {
    ...createDebianTool('cmake', 'gcc', 'make'),
    id: 'ctest-dam',
    runner: 'ctest',
    project: 'dam',
    files: {
      'CMakeLists.txt': `cmake_minimum_required(VERSION 3.20)
project(dam C)
enable_testing()
foreach(name level gate turbine survey radio alarm)
  add_executable(test_\${name} test_\${name}.c)
  add_test(NAME \${name} COMMAND test_\${name})
endforeach()
set_tests_properties(gate PROPERTIES TIMEOUT 1)
`,
      'test_level.c':
        '#include <stdio.h>\n\nint main(void)\n{\n    int level = 412;\n    if (level > 400) {\n        fprintf(stderr, "level: %d meters, at most 400 are allowed\\n", level);\n        return 1;\n    }\n    return 0;\n}\n',
      'test_gate.c':
        '#include <stdio.h>\n#include <unistd.h>\n\nint main(void)\n{\n    puts("gate: closing");\n    fflush(stdout);\n    sleep(30);\n    return 0;\n}\n',
      'test_turbine.c':
        '#include <stdio.h>\n\nstruct turbine { int rpm; };\nstatic struct turbine *find(int number) { return number > 3 ? 0 : &(struct turbine){ 90 }; }\n\nint main(void)\n{\n    puts("turbine 4 starts");\n    fflush(stdout);\n    return find(4)->rpm;\n}\n',
      'test_survey.c':
        '#include <stdio.h>\n#include <stdlib.h>\n\nint main(void)\n{\n    FILE *file = fopen("survey/cracks.dat", "r");\n    if (file == NULL) {\n        perror("survey/cracks.dat");\n        return 2;\n    }\n    return 0;\n}\n',
      'test_radio.c':
        '#include <arpa/inet.h>\n#include <stdio.h>\n#include <sys/socket.h>\n\nint main(void)\n{\n    struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(6677) };\n    inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);\n    if (connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&there, sizeof there) != 0) {\n        perror("radio at 127.0.0.1:6677");\n        return 1;\n    }\n    return 0;\n}\n',
      'test_alarm.c': 'int main(void)\n{\n    return 0;\n}\n',
    },
    before: 'cmake -S . -B build\ncmake --build build',
    run: 'ctest --test-dir build --output-on-failure --no-tests=error',
    exitCode: 8,
    tally: '17% tests passed, 5 tests failed out of 6',
    failures: [
      { ...assertion, test: 'level', message: 'level: 412 meters, at most 400 are allowed', cause: 'level' },
      {
        ...testTimeout,
        test: 'gate',
        at: 'Test #2: gate',
        message: '***Timeout',
        cause: 'gate-never-closes',
      },
      {
        ...nullReference,
        test: 'turbine',
        at: 'Test #3: turbine',
        message: 'SegFault',
        kind: 'crash',
        cause: 'fourth-turbine',
      },
      {
        ...missingFile,
        test: 'survey',
        message: 'survey/cracks.dat: No such file or directory',
        cause: 'cracks-file',
      },
      {
        ...refused,
        test: 'radio',
        message: 'radio at 127.0.0.1:6677: Connection refused',
        cause: 'no-radio',
      },
    ],
  },
  {
    ...createDebianTool('libgtest-dev', 'g++'),
    id: 'googletest-ski-lift',
    runner: 'googletest',
    project: 'ski-lift',
    files: {
      'lift.hpp': `#pragma once
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

inline int seats(int chairs) { return chairs * 4; }
inline std::string color(int slope) {
  static const std::map<int, std::string> colors{{10, "blue"}, {25, "red"}};
  return colors.at(slope);
}
inline std::string weather() {
  std::ifstream file("weather/today.txt");
  if (!file) throw std::runtime_error("cannot open weather/today.txt");
  std::string line;
  std::getline(file, line);
  return line;
}
struct Cable {
  double strain(int kilograms) const {
    if (kilograms > 9000) throw std::overflow_error("the cable carries 9000 kg");
    return kilograms / 90.0;
  }
};
`,
      'lift_test.cpp': `#include <gtest/gtest.h>
#include "lift.hpp"

TEST(Chairs, EightSeats) { EXPECT_EQ(seats(2), 8); }
TEST(Chairs, TwoAreBroken) { EXPECT_EQ(seats(30) - 2, 110) << "broken chairs have no seats"; }
TEST(Slope, Blue) { EXPECT_EQ(color(10), "blue"); }
TEST(Slope, BlackIsKnown) { EXPECT_EQ(color(40), "black"); }
TEST(Slope, RedIsNotSteep) { EXPECT_STREQ(color(25).c_str(), "orange"); }
TEST(Weather, IsRead) { EXPECT_EQ(weather(), "snow"); }

class CableTest : public testing::TestWithParam<int> {};
TEST_P(CableTest, HoldsTheLoad) { EXPECT_NEAR(Cable{}.strain(GetParam()), GetParam() / 90.0, 0.01); }
INSTANTIATE_TEST_SUITE_P(Loads, CableTest, testing::Values(900, 9100, 12000));
`,
    },
    before: 'g++ -std=c++17 -o lift_test lift_test.cpp -lgtest -lgtest_main -lpthread',
    run: './lift_test --gtest_output=xml:report.xml',
    report: 'report.xml',
    tally: '6 FAILED TESTS',
    failures: [
      {
        ...assertion,
        test: 'Chairs.TwoAreBroken',
        at: '[ RUN      ] Chairs.TwoAreBroken',
        message: 'broken chairs have no seats',
        lines: ['Which is: 118'],
        cause: 'broken-chairs',
      },
      {
        ...thrown,
        test: 'Slope.BlackIsKnown',
        at: '[ RUN      ] Slope.BlackIsKnown',
        message: 'C++ exception with description "map::at" thrown',
        cause: 'black-slope',
      },
      {
        ...assertion,
        test: 'Slope.RedIsNotSteep',
        at: '[ RUN      ] Slope.RedIsNotSteep',
        message: '"orange"',
        lines: ['Which is: "red"'],
        cause: 'red-slope',
      },
      {
        ...missingFile,
        test: 'Weather.IsRead',
        at: '[ RUN      ] Weather.IsRead',
        message: 'cannot open weather/today.txt',
        cause: 'weather-file',
      },
      ...['Loads/CableTest.HoldsTheLoad/1', 'Loads/CableTest.HoldsTheLoad/2'].map((test) => ({
        ...thrown,
        test,
        at: `[ RUN      ] ${test}`,
        message: 'the cable carries 9000 kg',
        cause: 'cable-limit',
      })),
    ],
  },
  {
    ...createDebianTool('catch2', 'g++'),
    id: 'catch2-print-shop',
    runner: 'catch2',
    project: 'print-shop',
    files: {
      'test_press.cpp': `#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

static int sheets(int pages) { return pages / 16; }
static std::string ink(const std::vector<std::string> &inks, int number) { return inks.at(number); }
static std::string fold(int sides) {
  if (sides % 4 != 0) throw std::invalid_argument("cannot fold " + std::to_string(sides) + " sides");
  return "folded";
}

TEST_CASE("sheets of a book") {
  SECTION("full sheets") { CHECK(sheets(32) == 2); }
  SECTION("a sheet for the rest") { CHECK(sheets(40) == 3); }
}

TEST_CASE("inks") {
  const std::vector<std::string> inks{"cyan", "magenta"};
  SECTION("black is the fourth") { CHECK(ink(inks, 3) == "black"); }
}

TEST_CASE("folding a leaflet") {
  CHECK(fold(8) == "folded");
  CHECK(fold(6) == "folded");
}

TEST_CASE("price of a poster") {
  const double price = 4.5;
  INFO("price of one poster");
  REQUIRE(price * 10 == Approx(40.0));
}
`,
    },
    before: 'g++ -std=c++17 -o test_press test_press.cpp',
    run: './test_press',
    exitCode: 4,
    tally: 'test cases: 4 | 4 failed',
    failures: [
      {
        ...assertion,
        test: 'a sheet for the rest',
        suite: 'sheets of a book',
        at: 'sheets of a book',
        message: 'CHECK( sheets(40) == 3 )',
        lines: ['2 == 3'],
        cause: 'rest-sheet',
      },
      {
        ...thrown,
        test: 'black is the fourth',
        suite: 'inks',
        at: 'black is the fourth',
        message: 'vector::_M_range_check: __n (which is 3) >= this->size() (which is 2)',
        cause: 'fourth-ink',
      },
      {
        ...thrown,
        test: 'folding a leaflet',
        at: 'folding a leaflet',
        message: 'cannot fold 6 sides',
        cause: 'six-sides',
      },
      {
        ...assertion,
        test: 'price of a poster',
        at: 'price of a poster',
        message: '45.0 == Approx( 40.0 )',
        cause: 'poster-price',
      },
    ],
  },
];
