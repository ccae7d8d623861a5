import { createDebianTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Compilers, checkers, build tools and test frameworks of C and C++. */
export const rows: readonly ToolRow[] = [
  {
    ...createDebianTool('gcc'),
    slug: 'gcc-implicit-declaration',
    tool: 'gcc',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'src/depth.c': '#include "depth.h"\n\nint depth(int tide)\n{\n    return clamp(tide + 3, 0, 40);\n}\n',
      'src/depth.h': 'int depth(int tide);\n',
    },
    green: { 'src/depth.h': 'int depth(int tide);\nint clamp(int value, int low, int high);\n' },
    run: 'gcc -Wall -Werror -c -o depth.o src/depth.c',
    exitCode: 1,
    telling: ['implicit declaration of function'],
  },
  {
    ...createDebianTool('clang'),
    slug: 'clang-missing-member',
    tool: 'clang',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'boat.hpp':
        '#pragma once\n#include <string>\n\nstruct Boat {\n  std::string name;\n  double length;\n};\n',
      'berth.cpp':
        '#include "boat.hpp"\n\nbool fits(const Boat &boat, double berth) {\n  return boat.lenght < berth;\n}\n',
    },
    run: 'clang++ -std=c++17 -fno-color-diagnostics -c berth.cpp',
    exitCode: 1,
    telling: ["no member named 'lenght' in 'Boat'"],
  },
  {
    ...createDebianTool('clang-tidy'),
    slug: 'clang-tidy-use-after-move',
    tool: 'clang-tidy',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      '.clang-tidy': "Checks: '-*,bugprone-*'\nWarningsAsErrors: '*'\n",
      'queue.cpp':
        '#include <string>\n#include <utility>\n#include <vector>\n\nstd::size_t push(std::vector<std::string> &queue, std::string job) {\n  queue.push_back(std::move(job));\n  return job.size();\n}\n',
    },
    green: {
      'queue.cpp':
        '#include <string>\n#include <utility>\n#include <vector>\n\nvoid push(std::vector<std::string> &queue, std::string job) {\n  queue.push_back(std::move(job));\n}\n',
    },
    run: 'clang-tidy --quiet queue.cpp -- -std=c++17',
    exitCode: 1,
    telling: ["'job' used after it was moved"],
  },
  {
    ...createDebianTool('clang-format'),
    slug: 'clang-format-dry-run',
    tool: 'clang-format',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      '.clang-format': 'BasedOnStyle: LLVM\n',
      'src/sum.cpp':
        '#include <numeric>\n#include <vector>\n\nint sum(const std::vector<int>& values)\n{\n    return std::accumulate(values.begin(),values.end(),0);\n}\n',
    },
    green: {
      'src/sum.cpp':
        '#include <numeric>\n#include <vector>\n\nint sum(const std::vector<int> &values) {\n  return std::accumulate(values.begin(), values.end(), 0);\n}\n',
    },
    run: "find src -name '*.cpp' | xargs clang-format --dry-run --Werror",
    exitCode: 123,
    telling: ['code should be clang-formatted'],
  },
  {
    ...createDebianTool('cppcheck'),
    slug: 'cppcheck-memory-leak',
    tool: 'cppcheck',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'src/buffer.c':
        '#include <stdlib.h>\n\nint fill(int count)\n{\n    char *buffer = malloc(count);\n    if (count < 4)\n        return -1;\n    buffer[0] = 1;\n    free(buffer);\n    return 0;\n}\n',
    },
    run: 'cppcheck --error-exitcode=1 --quiet src',
    exitCode: 1,
    telling: ['Memory leak: buffer'],
  },
  {
    ...createDebianTool('splint'),
    slug: 'splint-null-pointer',
    tool: 'splint',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'name.c': '#include <stdlib.h>\n\nchar first(/*@null@*/ char *name)\n{\n    return name[0];\n}\n',
    },
    green: { 'name.c': '#include <stdlib.h>\n\nint twice(int value)\n{\n    return value * 2;\n}\n' },
    run: 'splint -exportlocal name.c',
    exitCode: 1,
    telling: ['Index of possibly null pointer name'],
  },
  {
    ...createDebianTool('sparse'),
    slug: 'sparse-plain-integer-null',
    tool: 'sparse',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'list.c':
        'struct node {\n\tstruct node *next;\n};\n\nstatic struct node head = { 0 };\n\nstruct node *reset(void);\nstruct node *reset(void)\n{\n\thead.next = 0;\n\treturn head.next;\n}\n',
    },
    run: 'sparse -Wsparse-error list.c',
    exitCode: 1,
    telling: ['Using plain integer as NULL pointer'],
  },
  {
    ...createDebianTool('binutils'),
    slug: 'ld-multiple-definition',
    tool: 'ld',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'config.h': 'int retries = 3;\n',
      'main.c': '#include "config.h"\nint send(void);\nint main(void) { return send() - retries; }\n',
      'send.c': '#include "config.h"\nint send(void) { return retries; }\n',
    },
    run: 'gcc -c main.c\ngcc -c send.c\ngcc -o sender main.o send.o',
    exitCode: 1,
    telling: ["multiple definition of `retries'"],
  },
  {
    ...createDebianTool('pkg-config'),
    slug: 'pkg-config-missing-library',
    tool: 'pkg-config',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: {
      'build.sh': 'gcc -o viewer viewer.c $(pkg-config --cflags --libs gtk4)\n',
      'viewer.c': 'int main(void) { return 0; }\n',
    },
    run: 'pkg-config --print-errors --exists "gtk4 >= 4.10"\nsh build.sh',
    exitCode: 1,
    telling: ["Package 'gtk4', required by 'virtual:world', not found"],
  },
  {
    ...createDebianTool('cmake'),
    slug: 'cmake-unknown-target-source',
    tool: 'cmake',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.20)\nproject(buoys C)\nadd_executable(buoys src/main.c src/signal.c)\n',
      'src/main.c': 'int main(void) { return 0; }\n',
    },
    green: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.20)\nproject(buoys C)\nadd_executable(buoys src/main.c)\n',
    },
    run: 'cmake -S . -B build\ncmake --build build',
    exitCode: 1,
    telling: ['Cannot find source file', 'src/signal.c'],
  },
  {
    ...createDebianTool('cmake'),
    slug: 'ctest-timeout',
    tool: 'ctest',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.20)\nproject(locks C)\nenable_testing()\nadd_executable(level level.c)\nadd_executable(gate gate.c)\nadd_test(NAME level COMMAND level)\nadd_test(NAME gate_closes COMMAND gate)\nset_tests_properties(gate_closes PROPERTIES TIMEOUT 2)\n',
      'level.c': 'int main(void) { return 0; }\n',
      'gate.c': '#include <unistd.h>\nint main(void) { while (1) sleep(1); }\n',
    },
    before: 'cmake -S . -B build\ncmake --build build',
    run: 'ctest --test-dir build --output-on-failure',
    exitCode: 8,
    telling: ['gate_closes (Timeout)'],
  },
  {
    ...createDebianTool('meson'),
    slug: 'meson-dependency-missing',
    tool: 'meson',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: {
      'meson.build':
        "project('winch', 'c', version: '0.3.0')\nserial = dependency('libserialport', version: '>=0.1.1')\nexecutable('winch', 'winch.c', dependencies: serial)\n",
      'winch.c': 'int main(void) { return 0; }\n',
    },
    run: 'meson setup builddir',
    exitCode: 1,
    telling: ['Dependency "libserialport" not found'],
  },
  {
    ...createDebianTool('ninja-build'),
    slug: 'ninja-missing-input',
    tool: 'ninja',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'build.ninja':
        'rule copy\n  command = cp $in $out\nbuild out/logo.svg: copy art/logo.svg\nbuild out/icon.svg: copy art/icon.svg\n',
      'art/logo.svg': '<svg/>\n',
    },
    green: { 'art/icon.svg': '<svg/>\n' },
    run: 'ninja -C .',
    exitCode: 1,
    telling: ["'art/icon.svg', needed by 'out/icon.svg', missing"],
  },
  {
    ...createDebianTool('make'),
    slug: 'make-no-rule',
    tool: 'make',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      Makefile:
        'all: report.txt\n\nreport.txt: data/march.csv data/april.csv\n\tcat data/*.csv > report.txt\n',
      'data/march.csv': '1,2\n',
    },
    green: { 'data/april.csv': '3,4\n' },
    run: 'make all',
    exitCode: 2,
    telling: ["No rule to make target 'data/april.csv'"],
  },
  {
    debian: ['bmake'],
    slug: 'bmake-missing-operator',
    tool: 'bmake',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { Makefile: 'PREFIX= /usr\nall: build\nbuild:\n    echo building\n' },
    green: { Makefile: 'PREFIX= /usr\nall: build\nbuild:\n\techo building\n' },
    run: 'bmake all',
    exitCode: 1,
    telling: ['Makefile'],
  },
  {
    ...createDebianTool('autoconf', 'automake'),
    slug: 'autoreconf-missing-macro',
    tool: 'autoreconf',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR', 'CODE_ERROR'],
    files: {
      'configure.ac':
        'AC_INIT([crane], [1.0])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAM_CHECK_WIDGETS\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n',
      'Makefile.am': 'bin_PROGRAMS = crane\ncrane_SOURCES = crane.c\n',
      'crane.c': 'int main(void) { return 0; }\n',
    },
    run: 'autoreconf --install\n./configure',
    exitCode: 1,
    telling: ['possibly undefined macro: AM_CHECK_WIDGETS'],
  },
  {
    ...createDebianTool('scons'),
    slug: 'scons-source-missing',
    tool: 'scons',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      SConstruct: "env = Environment()\nenv.Program('pump', ['pump.c', 'valve.c'])\n",
      'pump.c': 'int main(void) { return 0; }\n',
    },
    green: { SConstruct: "env = Environment()\nenv.Program('pump', ['pump.c'])\n" },
    run: 'scons -Q',
    exitCode: 2,
    telling: ["Source `valve.c' not found"],
  },
  {
    ...createDebianTool('premake4'),
    slug: 'premake4-undefined-language',
    tool: 'premake4',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'premake4.lua':
        'solution "harbor"\n  configurations { "Debug", "Release" }\n\nproject "harbor"\n  kind "ConsoleApp"\n  language "Rust"\n  files { "src/*.c" }\n',
      'src/main.c': 'int main(void) { return 0; }\n',
    },
    green: {
      'premake4.lua':
        'solution "harbor"\n  configurations { "Debug", "Release" }\n\nproject "harbor"\n  kind "ConsoleApp"\n  language "C"\n  files { "src/*.c" }\n',
    },
    run: 'premake4 gmake',
    exitCode: 1,
    telling: ['Rust'],
  },
  {
    ...createDebianTool('bison'),
    slug: 'bison-undeclared-token',
    tool: 'bison',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'grammar.y': '%token NUMBER\n%%\nsum: NUMBER\n   | sum PLUS NUMBER\n   ;\nproduct: factor\n%%\n',
    },
    run: 'bison -d -o grammar.c grammar.y',
    exitCode: 1,
    telling: ['symbol ‘PLUS’ is used', 'symbol ‘factor’ is used'],
  },
  {
    ...createDebianTool('flex'),
    slug: 'flex-unrecognized-rule',
    tool: 'flex',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'words.l': '%%\n[a-z]+   { return 1; }\n[0-9+    { return 2; }\n%%\nint yywrap(void) { return 1; }\n',
    },
    green: {
      'words.l': '%%\n[a-z]+   { return 1; }\n[0-9]+   { return 2; }\n%%\nint yywrap(void) { return 1; }\n',
    },
    run: 'flex -o words.c words.l',
    exitCode: 1,
    telling: ['bad character class'],
  },
  {
    ...createDebianTool('nasm'),
    slug: 'nasm-operand-size',
    tool: 'nasm',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'boot.asm': 'section .text\nglobal start\nstart:\n    mov rax, 1\n    mov al, rbx\n    jmp finish\n',
    },
    green: { 'boot.asm': 'section .text\nglobal start\nstart:\n    mov rax, 1\n    ret\n' },
    run: 'nasm -f elf64 boot.asm -o boot.o',
    exitCode: 1,
    telling: ['invalid combination of opcode and operands', 'finish'],
  },
  {
    ...createDebianTool('valgrind'),
    slug: 'valgrind-definitely-lost',
    tool: 'valgrind',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'lost.c':
        '#include <stdlib.h>\n\nstatic int *buoy(int depth)\n{\n    int *place = malloc(sizeof *place);\n    *place = depth;\n    return place;\n}\n\nint main(void)\n{\n    return *buoy(0);\n}\n',
    },
    before: 'gcc -g -O0 -o lost lost.c',
    run: 'valgrind --leak-check=full --error-exitcode=9 ./lost',
    exitCode: 9,
    telling: ['definitely lost in loss record'],
  },
  {
    ...createDebianTool('check'),
    slug: 'check-assertion',
    tool: 'check',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'test_fare.c':
        '#include <check.h>\n#include <stdlib.h>\n\nstatic int fare(int zones) { return zones * 150; }\n\nSTART_TEST(single_zone) { ck_assert_int_eq(fare(1), 150); }\nEND_TEST\nSTART_TEST(three_zones) { ck_assert_int_eq(fare(3), 400); }\nEND_TEST\n\nint main(void)\n{\n    Suite *suite = suite_create("fare");\n    TCase *zones = tcase_create("zones");\n    tcase_add_test(zones, single_zone);\n    tcase_add_test(zones, three_zones);\n    suite_add_tcase(suite, zones);\n    SRunner *runner = srunner_create(suite);\n    srunner_run_all(runner, CK_NORMAL);\n    return srunner_ntests_failed(runner) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;\n}\n',
    },
    before: 'gcc -o test_fare test_fare.c -lcheck -lsubunit -lm -lrt -lpthread',
    run: './test_fare',
    exitCode: 1,
    telling: ["Assertion 'fare(3) == 400' failed"],
  },
  {
    ...createDebianTool('libcmocka-dev'),
    slug: 'cmocka-string-compare',
    tool: 'cmocka',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'test_label.c':
        '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <cmocka.h>\n\nstatic const char *label(int level) { return level > 2 ? "high" : "low"; }\n\nstatic void low_water(void **state) { (void)state; assert_string_equal(label(1), "low"); }\nstatic void mid_water(void **state) { (void)state; assert_string_equal(label(2), "middle"); }\n\nint main(void)\n{\n    const struct CMUnitTest tests[] = { cmocka_unit_test(low_water), cmocka_unit_test(mid_water) };\n    return cmocka_run_group_tests_name("labels", tests, NULL, NULL);\n}\n',
    },
    before: 'gcc -o test_label test_label.c -lcmocka',
    run: './test_label',
    exitCode: 1,
    telling: ['"low" != "middle"'],
  },
];
