import { createDebianTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Test frameworks of C and C++, and failures of the programs they test. */
export const rows: readonly ToolRow[] = [
  {
    ...createDebianTool('libcriterion-dev'),
    slug: 'criterion-crash',
    tool: 'criterion',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'test_queue.c':
        '#include <criterion/criterion.h>\n#include <stddef.h>\n\nstruct job { int id; };\nstatic struct job *next(int left) { return left > 0 ? &(struct job){ left } : NULL; }\n\nTest(queue, counts) { cr_assert_eq(1 + 1, 2); }\nTest(queue, is_empty) { cr_assert_eq(next(0)->id, 0); }\n',
    },
    before: 'gcc -o test_queue test_queue.c -lcriterion',
    run: './test_queue',
    exitCode: 1,
    telling: ['is_empty'],
  },
  {
    ...createDebianTool('libcppunit-dev'),
    slug: 'cppunit-equality',
    tool: 'cppunit',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'test_crates.cpp':
        '#include <cppunit/extensions/HelperMacros.h>\n#include <cppunit/ui/text/TestRunner.h>\n\nstatic int crates(int apples) { return apples / 12; }\n\nclass CratesTest : public CppUnit::TestFixture {\n  CPPUNIT_TEST_SUITE(CratesTest);\n  CPPUNIT_TEST(testFull);\n  CPPUNIT_TEST(testRest);\n  CPPUNIT_TEST_SUITE_END();\npublic:\n  void testFull() { CPPUNIT_ASSERT_EQUAL(2, crates(24)); }\n  void testRest() { CPPUNIT_ASSERT_EQUAL(3, crates(25)); }\n};\nCPPUNIT_TEST_SUITE_REGISTRATION(CratesTest);\n\nint main() {\n  CppUnit::TextUi::TestRunner runner;\n  runner.addTest(CppUnit::TestFactoryRegistry::getRegistry().makeTest());\n  return runner.run() ? 0 : 1;\n}\n',
    },
    before: 'g++ -o test_crates test_crates.cpp -lcppunit',
    run: './test_crates',
    exitCode: 1,
    telling: ['- Expected: 3', '- Actual  : 2'],
  },
  {
    ...createDebianTool('libboost-test-dev'),
    slug: 'boost-test-float-equal',
    tool: 'boost-test',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'test_draft.cpp':
        '#define BOOST_TEST_MODULE draft\n#include <boost/test/included/unit_test.hpp>\n\nstatic double draft(double load) { return 1.2 + load / 100; }\n\nBOOST_AUTO_TEST_CASE(empty_boat) { BOOST_TEST(draft(0) == 1.2); }\nBOOST_AUTO_TEST_CASE(loaded_boat) { BOOST_TEST(draft(40) == 1.7); }\n',
    },
    before: 'g++ -o test_draft test_draft.cpp',
    run: './test_draft',
    exitCode: 201,
    telling: ['check draft(40) == 1.7 has failed'],
  },
  {
    ...createDebianTool('catch2'),
    slug: 'catch2-section',
    tool: 'catch2',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'test_price.cpp':
        '#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n\nstatic int price(int nights) { return nights * 40; }\n\nTEST_CASE("price of a berth") {\n  SECTION("one night") { REQUIRE(price(1) == 40); }\n  SECTION("a week is cheaper") { REQUIRE(price(7) == 252); }\n}\n',
    },
    before: 'g++ -std=c++17 -o test_price test_price.cpp',
    run: './test_price',
    exitCode: 1,
    telling: ['test_price.cpp:8: FAILED', 'REQUIRE( price(7) == 252 )', '280 (0x118) == 252'],
  },
  {
    ...createDebianTool('doctest-dev'),
    slug: 'doctest-subcase',
    tool: 'doctest',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'test_knots.cpp':
        '#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>\n\nstatic int knots(int meters) { return meters * 2; }\n\nTEST_CASE("knots of a drift") {\n  CHECK(knots(0) == 0);\n  CHECK(knots(5) == 9);\n}\n',
    },
    before: 'g++ -std=c++17 -o test_knots test_knots.cpp',
    run: './test_knots',
    exitCode: 1,
    telling: ['CHECK( knots(5) == 9 ) is NOT correct!', 'values: CHECK( 10 == 9 )'],
  },
  {
    ...createDebianTool('libgtest-dev'),
    slug: 'googletest-exception',
    tool: 'googletest',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'test_anchor.cpp':
        '#include <gtest/gtest.h>\n#include <stdexcept>\n\nstatic int chain(int depth) {\n  if (depth < 0) throw std::out_of_range("depth below zero");\n  return depth * 3;\n}\n\nTEST(Anchor, Shallow) { EXPECT_EQ(chain(4), 12); }\nTEST(Anchor, AboveWater) { EXPECT_EQ(chain(-1), 0); }\n',
    },
    before: 'g++ -std=c++17 -o test_anchor test_anchor.cpp -lgtest -lgtest_main -lpthread',
    run: './test_anchor --gtest_color=no',
    exitCode: 1,
    telling: ['depth below zero'],
  },
  {
    ...createDebianTool('libubsan1'),
    slug: 'ubsan-signed-overflow',
    tool: 'ubsan',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'meter.c':
        '#include <limits.h>\n#include <stdlib.h>\n\nint main(int count, char **arguments)\n{\n    int turns = INT_MAX - 1;\n    turns += count > 1 ? atoi(arguments[1]) : 0;\n    return turns == 0;\n}\n',
    },
    before: 'gcc -g -fsanitize=undefined -fno-sanitize-recover=all -o meter meter.c',
    run: './meter 1\n./meter 7',
    exitCode: 1,
    telling: ['signed integer overflow'],
  },
  {
    ...createDebianTool('libc6'),
    slug: 'libc-assert-aborts',
    tool: 'assert',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'mixer.c':
        '#include <assert.h>\n#include <stdio.h>\n\nstatic int share(int parts, int total)\n{\n    assert(total > 0);\n    return 100 * parts / total;\n}\n\nint main(void)\n{\n    printf("%d%%\\n", share(1, 4));\n    printf("%d%%\\n", share(0, 0));\n    return 0;\n}\n',
    },
    before: 'gcc -o mixer mixer.c',
    run: './mixer',
    exitCode: 134,
    telling: ["Assertion `total > 0' failed"],
  },
  {
    ...createDebianTool('libc6'),
    slug: 'shared-library-missing',
    tool: 'ld.so',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: {
      'sail.c': 'int sail(void) { return 4; }\n',
      'main.c': 'int sail(void);\nint main(void) { return sail() - 4; }\n',
    },
    before:
      'gcc -shared -fPIC -o libsail.so sail.c\ngcc -o regatta main.c -L. -lsail\nmkdir dist\ncp regatta dist/',
    run: 'cd dist\n./regatta',
    exitCode: 127,
    telling: ['libsail.so: cannot open shared object file'],
  },
];
