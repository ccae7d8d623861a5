import { assertion, type MixedBuild, missingFile, thrown } from '../../../scripts/parts/capture/mixed-row.ts';
import { createDebianTool } from '../../../scripts/parts/capture/row.ts';

const unreachable = { category: 'INFRA_ERROR', also_ok: ['CONFIG_ERROR'], kind: 'network' } as const;

/** Feature probes that fail, as they may, before something real does, and runs that pass in spite of what they print. */
export const builds: readonly MixedBuild[] = [
  {
    ...createDebianTool('cmake', 'gcc', 'make'),
    id: 'cmake-probe-then-download',
    runner: 'cmake',
    project: 'map-room',
    network: 'none',
    files: {
      'CMakeLists.txt': `cmake_minimum_required(VERSION 3.20)
project(map_room C)
include(CheckIncludeFile)
include(CheckCSourceCompiles)

check_include_file(sys/pstat.h HAVE_PSTAT)
check_c_source_compiles("int main(void) { return getcontextptr(0); }" HAVE_CONTEXT)
try_compile(HAVE_PIN \${CMAKE_BINARY_DIR}/probe \${CMAKE_SOURCE_DIR}/probes/pin.c OUTPUT_VARIABLE said)
message(STATUS "Pinning threads: \${HAVE_PIN}")
message(STATUS "The compiler said: \${said}")

file(DOWNLOAD http://maps.example.test/coast.bin \${CMAKE_BINARY_DIR}/coast.bin STATUS status)
list(GET status 0 code)
list(GET status 1 reason)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the map of the coast was not downloaded: \${reason}")
endif()
`,
      'probes/pin.c': '#include <sys/pin.h>\n\nint main(void)\n{\n    return pin_thread(0);\n}\n',
    },
    run: 'cmake -S . -B build',
    tally: 'sys/pin.h: No such file or directory',
    failures: [
      {
        ...unreachable,
        message: 'the map of the coast was not downloaded: "Couldn\'t resolve host name"',
        lines: ['CMake Error at CMakeLists.txt:16 (message)'],
        cause: 'maps-host',
      },
    ],
  },
  {
    ...createDebianTool('autoconf', 'automake', 'gcc', 'make'),
    setup: 'autoreconf --install',
    id: 'autoconf-probe-then-tests',
    runner: 'autoconf',
    project: 'clockwork',
    files: {
      'configure.ac': `AC_INIT([clockwork], [1.0])
AM_INIT_AUTOMAKE([foreign subdir-objects])
AC_PROG_CC
AC_CHECK_HEADERS([sys/clockwork.h sys/brass.h unistd.h])
AC_CHECK_FUNCS([wind_spring clock_gettime])
AC_SEARCH_LIBS([pendulum_start], [pendulum])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
`,
      'Makefile.am': `check_PROGRAMS = t/strike t/alarm t/moon
TESTS = $(check_PROGRAMS)
t_strike_SOURCES = t/strike.c
t_alarm_SOURCES = t/alarm.c
t_moon_SOURCES = t/moon.c
`,
      't/strike.c':
        '#include <stdio.h>\n\nint main(void)\n{\n    int strokes = 11;\n    if (strokes != 12) {\n        fprintf(stderr, "noon: struck %d times, wanted 12\\n", strokes);\n        return 1;\n    }\n    return 0;\n}\n',
      't/alarm.c':
        '#include <stdio.h>\n\nint main(void)\n{\n    if (fopen("alarms/list.txt", "r") == NULL) {\n        perror("alarms/list.txt");\n        return 1;\n    }\n    return 0;\n}\n',
      't/moon.c': 'int main(void)\n{\n    return 0;\n}\n',
    },
    run: './configure\nsed -n "/Core tests/,/Cache variables/p" config.log | grep -v "^configure:.*: gcc"\nmake check VERBOSE=1',
    exitCode: 2,
    tally: ['# FAIL:  2', 'checking for sys/brass.h... no', 'configure: failed program was:'],
    failures: [
      { ...assertion, test: 't/strike', message: 'noon: struck 11 times, wanted 12', cause: 'noon' },
      {
        ...missingFile,
        test: 't/alarm',
        message: 'alarms/list.txt: No such file or directory',
        cause: 'alarms-file',
      },
    ],
  },
  {
    ...createDebianTool('meson', 'ninja-build', 'gcc'),
    id: 'meson-probe-then-tests',
    runner: 'meson',
    project: 'organ',
    files: {
      'meson.build': `project('organ', 'c')
compiler = meson.get_compiler('c')
compiler.has_header('bellows.h')
compiler.has_function('open_valve')
compiler.compiles('int main(void) { return pipe_of(3) }', name: 'long pipes')
dependency('libtremulant', required: false)
find_program('tune-organ', required: false)
foreach name : ['pedal', 'stop', 'pipe', 'wind']
  test(name, executable(name, 'test_' + name + '.c'))
endforeach
`,
      'test_pedal.c':
        '#include <stdio.h>\n\nint main(void)\n{\n    printf("pedal: 30 keys, expected 32\\n");\n    return 1;\n}\n',
      'test_stop.c':
        '#include <stdlib.h>\n#include <stdio.h>\n\nint main(void)\n{\n    fprintf(stderr, "stop: Vox Humana is not connected\\n");\n    abort();\n}\n',
      'test_pipe.c':
        '#include <stdio.h>\n\nint main(void)\n{\n    perror(fopen("pipes/list.csv", "r") ? "open" : "pipes/list.csv");\n    return 1;\n}\n',
      'test_wind.c': 'int main(void)\n{\n    return 0;\n}\n',
    },
    run: 'meson setup build\nmeson test -C build --print-errorlogs',
    exitCode: 3,
    tally: ['Fail:               3', 'Run-time dependency libtremulant found: NO'],
    failures: [
      { ...assertion, test: 'pedal', message: 'pedal: 30 keys, expected 32', cause: 'pedal-keys' },
      {
        ...thrown,
        test: 'stop',
        message: 'stop: Vox Humana is not connected',
        lines: ['killed by signal 6 SIGABRT'],
        cause: 'vox-humana',
      },
      {
        ...missingFile,
        test: 'pipe',
        message: 'pipes/list.csv: No such file or directory',
        cause: 'pipes-file',
      },
    ],
  },
  {
    ...createDebianTool('cmake', 'gcc', 'make'),
    id: 'cmake-probe-green',
    runner: 'cmake',
    project: 'bell-tower',
    files: {
      'CMakeLists.txt': `cmake_minimum_required(VERSION 3.20)
project(bells C)
try_compile(HAVE_CHIME \${CMAKE_BINARY_DIR}/probe \${CMAKE_SOURCE_DIR}/probes/chime.c OUTPUT_VARIABLE said)
message(STATUS "Chimes: \${HAVE_CHIME}\n\${said}")
add_executable(bells bells.c)
enable_testing()
add_test(NAME ring COMMAND bells)
`,
      'probes/chime.c': '#include <chime.h>\n\nint main(void)\n{\n    return 0;\n}\n',
      'bells.c':
        '#include <stdio.h>\n\nint main(void)\n{\n    puts("ERROR: bell 3 is out of tune (this is what the test wants to hear)");\n    return 0;\n}\n',
    },
    run: 'cmake -S . -B build\ncmake --build build\nctest --test-dir build --verbose',
    exitCode: 0,
    tally: '100% tests passed, 0 tests failed out of 1',
    green: true,
    failures: [],
  },
  {
    version: 'go version',
    id: 'go-dam-watch-green',
    runner: 'go test',
    project: 'dam-watch',
    files: {
      'go.mod': 'module example.test/watch\n\ngo 1.22\n',
      'watch.go': `package watch

import (
	"log"
	"net"
)

// Report tells the control room, if it listens.
func Report() bool {
	_, err := net.Dial("tcp", "127.0.0.1:2525")
	if err != nil {
		log.Printf("ERROR: control room: %v", err)
		return false
	}
	return true
}

// Guard survives what it calls.
func Guard(call func()) (failed bool) {
	defer func() {
		if r := recover(); r != nil {
			log.Printf("panic: %v", r)
			failed = true
		}
	}()
	call()
	return false
}
`,
      'watch_test.go': `package watch

import "testing"

func TestReportWithoutControlRoom(t *testing.T) {
	if Report() {
		t.Fatal("nobody listens")
	}
}

func TestGuard(t *testing.T) {
	if !Guard(func() { panic("runtime error: index out of range [5] with length 3") }) {
		t.Fatal("the panic was lost")
	}
}
`,
    },
    run: 'go test -v ./...',
    exitCode: 0,
    tally: 'ok  	example.test/watch',
    green: true,
    failures: [],
  },
  {
    version: 'python --version',
    id: 'unittest-run-again-green',
    runner: 'unittest',
    project: 'ferry-bell',
    files: {
      'run-tests.sh':
        '#!/bin/sh\nfor attempt in 1 2 3; do\n  echo "Attempt $attempt of 3"\n  python -m unittest && exit 0\n  echo "The tests failed, running them again"\ndone\nexit 1\n',
      'test_bell.py': `import pathlib
import unittest


class BellTest(unittest.TestCase):
    def test_has_stopped_swinging(self):
        mark = pathlib.Path("swings")
        if not mark.exists():
            mark.touch()
            self.fail("the bell is still swinging")

    def test_is_bronze(self):
        self.assertEqual("bronze".upper(), "BRONZE")
`,
    },
    run: 'sh run-tests.sh',
    exitCode: 0,
    tally: 'Attempt 2 of 3',
    passedOnRetry: ['test_has_stopped_swinging'],
    green: true,
    failures: [],
  },
  {
    ...createDebianTool('bats'),
    id: 'bats-run-again',
    runner: 'bats',
    project: 'tide-gate',
    files: {
      'run-tests.sh':
        '#!/bin/sh\nbats test && exit 0\necho "Some tests failed. Second attempt:"\nexec bats test\n',
      'gate.sh':
        '#!/bin/sh\ncase $1 in\n  height) echo 340 ;;\n  open) cat gates/north.state ;;\n  *) echo "gate: no such order: $1" >&2; exit 64 ;;\nesac\n',
      'test/gate.bats': `@test "water has calmed down" {
  if [ ! -e "$BATS_TEST_DIRNAME/../calm" ]; then
    touch "$BATS_TEST_DIRNAME/../calm"
    echo "waves of 2 meters"
    false
  fi
}

@test "height of the gate" {
  run sh gate.sh height
  echo "height is $output, wanted 350"
  [ "$output" = 350 ]
}

@test "north gate opens" {
  sh gate.sh open
}

@test "gate is painted" {
  sh gate.sh paint
}
`,
    },
    run: 'sh run-tests.sh',
    tally: 'Some tests failed. Second attempt:',
    passedOnRetry: ['water has calmed down'],
    failures: [
      {
        ...assertion,
        test: 'height of the gate',
        at: 'not ok 2',
        message: 'height is 340, wanted 350',
        cause: 'gate-height',
      },
      {
        ...missingFile,
        test: 'north gate opens',
        at: 'not ok 3',
        message: 'cat: gates/north.state: No such file or directory',
        cause: 'north-state',
      },
      {
        ...thrown,
        test: 'gate is painted',
        at: 'not ok 4',
        message: 'gate: no such order: paint',
        cause: 'paint-order',
      },
    ],
  },
];
