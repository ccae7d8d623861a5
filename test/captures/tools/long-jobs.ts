import { createDebianTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

const names = [
  'anchor',
  'berth',
  'buoy',
  'cargo',
  'chart',
  'crane',
  'crew',
  'dock',
  'fare',
  'ferry',
  'gauge',
  'harbor',
  'knot',
  'lamp',
  'lock',
];
const moreNames = [
  ...names,
  'mast',
  'net',
  'pier',
  'pilot',
  'port',
  'pump',
  'queue',
  'rope',
  'rudder',
  'sail',
  'signal',
  'tide',
  'tow',
  'wave',
  'winch',
];

/** Jobs that say much which means nothing before they say why they fail. */
export const rows: readonly ToolRow[] = [
  {
    ...createDebianTool('make', 'gcc'),
    slug: 'make-keep-going-warnings',
    tool: 'make',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      Makefile: `CFLAGS = -O2 -Wall -Wextra\nobjects = ${moreNames.map((name) => `${name}.o`).join(' ')}\n\nall: harbor.a\n\nharbor.a: $(objects)\n\tar rcs $@ $^\n\nclean:\n\trm -f *.o *.a\n`,
      ...each(moreNames, '.c', (name, index) =>
        name === 'pilot'
          ? 'int pilot(int level)\n{\n    return pilot_error(level;\n}\n'
          : `int ${name}(int level)\n{\n${index % 3 === 0 ? '    int unused_error;\n' : ''}    return level + ${index};\n}\n`,
      ),
    },
    green: { 'pilot.c': 'int pilot(int level)\n{\n    return level;\n}\n' },
    run: 'make clean\nmake --keep-going all',
    exitCode: 2,
    telling: ['pilot.c:3:29: error: expected ‘)’ before ‘;’ token'],
  },
  {
    ...createDebianTool('cmake'),
    slug: 'ctest-two-of-thirty',
    tool: 'ctest',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'CMakeLists.txt': `cmake_minimum_required(VERSION 3.20)\nproject(harbor C)\nenable_testing()\n${moreNames.map((name) => `add_executable(test_${name} test_${name}.c)\nadd_test(NAME ${name} COMMAND test_${name})\n`).join('')}`,
      ...each(
        moreNames,
        '.c',
        (name, index) => cTest(name, index, name === 'gauge' || name === 'tow'),
        'test_',
      ),
    },
    green: {
      'test_gauge.c': cTest('gauge', moreNames.indexOf('gauge'), false),
      'test_tow.c': cTest('tow', moreNames.indexOf('tow'), false),
    },
    before: 'cmake -S . -B build -DCMAKE_BUILD_TYPE=Release',
    run: 'cmake --build build\nctest --test-dir build --output-on-failure --no-tests=error',
    exitCode: 8,
    telling: ['gauge: got 13, want 10', 'tow: got 30, want 27'],
  },
  {
    version: 'go version',
    slug: 'go-test-verbose-packages',
    tool: 'go-test',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'go.mod': 'module harbor.example/office\n\ngo 1.24\n',
      ...each(
        names,
        '.go',
        (name, index) =>
          `package ${name}\n\n// Height is the height at an hour.\nfunc Height(hour int) int { return hour*2 + ${index} }\n`,
        '',
        true,
      ),
      ...each(names, '_test.go', (name, index) => goTest(name, index, name === 'lamp'), '', true),
    },
    green: { 'lamp/lamp_test.go': goTest('lamp', names.indexOf('lamp'), false) },
    run: 'go test -v ./...',
    exitCode: 1,
    telling: ['lamp is dark at hour 9: height 31'],
  },
  {
    ...createDebianTool('bats'),
    slug: 'bats-one-of-thirty',
    tool: 'bats',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'bin/level': '#!/bin/sh\necho "level of $1: $(expr length "$1")"\n',
      'test/level.bats': moreNames
        .map(
          (name) =>
            `@test "level of ${name}" {\n  run sh bin/level ${name}\n  [ "$status" -eq 0 ]\n  [ "$output" = "level of ${name}: ${name === 'sail' ? 5 : name.length}" ]\n}\n`,
        )
        .join('\n'),
    },
    green: { 'test/level.bats': ['level of sail: 5', 'level of sail: 4'] },
    run: 'bats --tap test',
    exitCode: 1,
    telling: ['not ok 25 level of sail', '[ "$output" = "level of sail: 5" ]'],
  },
  {
    ...createDebianTool('perl'),
    slug: 'prove-one-of-fifteen',
    tool: 'prove',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: each(
      names,
      '.t',
      (name, index) =>
        `use strict;\nuse warnings;\nuse Test::More tests => 2;\n\nnote('error handling of ${name}');\nok(1, '${name} opens');\nis(${index} * 2, ${name === 'fare' ? 17 : index * 2}, '${name} doubles');\n`,
      't/',
    ),
    green: { 't/fare.t': "use strict;\nuse warnings;\nuse Test::More tests => 1;\n\nok(1, 'fare opens');\n" },
    run: 'prove --verbose t',
    exitCode: 1,
    telling: ["Failed test 'fare doubles'", "got: '16'", "expected: '17'"],
  },
  {
    ...createDebianTool('autoconf', 'automake'),
    slug: 'configure-library-missing',
    tool: 'configure',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: {
      'configure.ac':
        'AC_INIT([gauge], [2.1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CHECK_HEADERS([fcntl.h limits.h netdb.h sys/file.h sys/socket.h sys/timeb.h termio.h unistd.h])\nAC_CHECK_FUNCS([bcopy bzero dup2 gethostname getpagesize memset mkfifo select socket strchr strerror stricmp])\nAC_SEARCH_LIBS([sp_open], [serialport], [], [AC_MSG_ERROR([cannot find libserialport, which the gauge is read with])])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n',
      'Makefile.am': 'bin_PROGRAMS = gauge\ngauge_SOURCES = gauge.c\n',
      'gauge.c': 'int main(void) { return 0; }\n',
    },
    green: {
      'configure.ac':
        'AC_INIT([gauge], [2.1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CHECK_HEADERS([fcntl.h limits.h termio.h unistd.h])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n',
    },
    before: 'autoreconf --install --force',
    run: './configure --prefix=/tmp/gauge\nmake',
    exitCode: 1,
    telling: ['cannot find libserialport'],
  },
  {
    version: 'cargo --version',
    slug: 'cargo-test-overflow',
    tool: 'cargo',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'Cargo.toml': '[package]\nname = "office"\nversion = "0.4.0"\nedition = "2021"\n',
      'src/lib.rs': `pub fn change(paid: u32, price: u32) -> u32 {\n    paid - price\n}\n\n#[cfg(test)]\nmod tests {\n    use super::change;\n\n${moreNames.map((name, index) => `    #[test]\n    fn error_free_change_of_${name}() {\n        assert_eq!(change(${name === 'rope' ? 20 : 50}, ${index}), ${name === 'rope' ? 0 : 50 - index});\n    }\n`).join('\n')}}\n`,
    },
    green: { 'src/lib.rs': ['assert_eq!(change(20, 22), 0)', 'assert_eq!(change(22, 22), 0)'] },
    run: 'cargo test',
    exitCode: 101,
    telling: ['attempt to subtract with overflow'],
  },
  {
    ...createDebianTool('meson'),
    slug: 'meson-test-signal',
    tool: 'meson',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'meson.build': `project('office', 'c')\n${names.map((name) => `test('${name}', executable('test_${name}', 'test_${name}.c'))\n`).join('')}`,
      ...each(
        names,
        '.c',
        (name, index) =>
          name === 'cargo'
            ? 'int main(void)\n{\n    int *load = 0;\n    return *load;\n}\n'
            : cTest(name, index, false),
        'test_',
      ),
    },
    green: { 'test_cargo.c': 'int main(void)\n{\n    return 0;\n}\n' },
    run: 'meson setup --wipe build 2>/dev/null || meson setup build\nmeson test -C build --verbose',
    exitCode: 1,
    telling: ['killed by signal 11 SIGSEGV'],
  },
  {
    ...createDebianTool('ansible-core'),
    slug: 'ansible-command-after-many',
    tool: 'ansible',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'site.yml': `- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n${names
        .map(
          (name) =>
            `    - name: Write the error page of ${name}\n      ansible.builtin.copy:\n        dest: "{{ playbook_dir }}/${name}.html"\n        content: ${name}\n        mode: "0644"\n`,
        )
        .join(
          '',
        )}    - name: Check the settings\n      ansible.builtin.command: grep port settings.ini\n      changed_when: false\n`,
    },
    green: { 'settings.ini': 'port=80\n' },
    run: 'ansible-playbook -i localhost, site.yml',
    exitCode: 2,
    telling: ['grep: settings.ini: No such file or directory'],
  },
  {
    ...createDebianTool('dpkg-dev', 'debhelper'),
    slug: 'dpkg-buildpackage-test-failed',
    tool: 'dpkg-buildpackage',
    heldOut: true,
    category: 'TEST_FAILURE',
    setup: 'chmod +x debian/rules',
    files: {
      'debian/control':
        'Source: tides\nSection: misc\nPriority: optional\nMaintainer: Harbor Office <office@harbor.example>\nBuild-Depends: debhelper-compat (= 13)\nStandards-Version: 4.6.2\n\nPackage: tides\nArchitecture: any\nDescription: tide tables\n Prints tide tables.\n',
      'debian/changelog':
        'tides (1.4-1) unstable; urgency=medium\n\n  * New release.\n\n -- Harbor Office <office@harbor.example>  Sat, 01 Feb 2025 10:00:00 +0000\n',
      'debian/rules': '#!/usr/bin/make -f\n%:\n\tdh $@\n',
      'debian/source/format': '3.0 (native)\n',
      Makefile:
        'all: tides\n\ntides: tides.c\n\t$(CC) $(CFLAGS) -o $@ $<\n\ntest: tides\n\t@./tides 6 | grep -q "high water" || { echo "tides 6 printed \\"$$(./tides 6)\\", not high water"; exit 3; }\n\ninstall:\n\nclean:\n\trm -f tides\n',
      'tides.c': '#include <stdio.h>\n\nint main(void)\n{\n    puts("low water");\n    return 0;\n}\n',
    },
    green: { 'tides.c': ['low water', 'high water'] },
    run: 'dpkg-buildpackage --unsigned-source --unsigned-changes --build=binary --no-check-builddeps',
    exitCode: 2,
    telling: ['tides 6 printed "low water", not high water'],
  },
  {
    ...createDebianTool('rpm'),
    slug: 'rpmbuild-check-failed',
    tool: 'rpmbuild',
    heldOut: true,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR', 'CONFIG_ERROR'],
    files: {
      'tides.spec':
        'Name: tides\nVersion: 1.4\nRelease: 1\nSummary: Tide tables\nLicense: MIT\nBuildArch: noarch\n\n%description\nPrints tide tables.\n\n%build\nfor gauge in north south east west; do echo "table of $gauge written, 0 errors"; done\n\n%install\nmkdir -p %{buildroot}/usr/share/tides\necho 3.4 > %{buildroot}/usr/share/tides/north\n\n%check\nfor gauge in north south; do test -s %{buildroot}/usr/share/tides/$gauge || { echo "no table of $gauge in the package"; exit 1; }; done\n\n%files\n/usr/share/tides/north\n',
    },
    run: 'rpmbuild -bb tides.spec',
    exitCode: 1,
    telling: [{ from: 'no table of south in the package', occurrence: 'last' }],
  },
  {
    ...createDebianTool('curl'),
    slug: 'curl-retries-exhausted',
    tool: 'curl',
    heldOut: false,
    category: 'INFRA_ERROR',
    network: 'unavailable',
    files: {
      'deploy.sh': `set -e\nfor page in ${names.join(' ')}; do\n  echo "checked $page: no errors"\ndone\ncurl --fail --no-progress-meter --retry 3 --retry-delay 1 --upload-file site.tar http://packages.example.test/sites/tides\necho deployed\n`,
      'site.tar': 'site\n',
    },
    run: 'bash deploy.sh',
    exitCode: 22,
    telling: [{ from: 'The requested URL returned error: 503', occurrence: 'last' }],
  },
  {
    ...createDebianTool('latexmk', 'texlive-latex-base'),
    slug: 'latexmk-missing-figure',
    tool: 'latexmk',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'book.tex': `\\documentclass{book}\n\\usepackage{graphicx}\n\\begin{document}\n\\tableofcontents\n${names.map((name, index) => `\\chapter{The ${name}}\\label{${name}}\nSee chapter~\\ref{${name}${index % 4 === 0 ? 's' : ''}}. An\\ overfull\\ line\\ about\\ the\\ ${name}\\ that\\ is\\ much\\ too\\ long\\ \\mbox{and has a box that cannot be broken at the margin}.\n`).join('')}\\includegraphics{figures/harbor}\n\\end{document}\n`,
    },
    green: { 'book.tex': ['\\includegraphics{figures/harbor}\n', ''] },
    run: 'latexmk -pdf -interaction=nonstopmode -halt-on-error book.tex',
    exitCode: 12,
    telling: ["File `figures/harbor' not found"],
  },
];

/** One file for each name. `folders`: each in a folder of its name. */
function each(
  all: readonly string[],
  ending: string,
  text: (name: string, index: number) => string,
  start = '',
  folders = false,
): Record<string, string> {
  return Object.fromEntries(
    all.map((name, index) => [`${folders ? `${name}/` : ''}${start}${name}${ending}`, text(name, index)]),
  );
}

function cTest(name: string, index: number, fails: boolean): string {
  const got = index + 3;
  const want = fails ? index : got;
  return `#include <stdio.h>\n\nint main(void)\n{\n    int got = ${index} + 3;\n    printf("${name}: got %d, want %d\\n", got, ${want});\n    return got == ${want} ? 0 : 1;\n}\n`;
}

function goTest(name: string, index: number, fails: boolean): string {
  const limit = fails ? 20 : 100;
  return `package ${name}\n\nimport "testing"\n\nfunc TestHeight(t *testing.T) {\n\tfor hour := range 12 {\n\t\tt.Logf("${name}: no error at hour %d", hour)\n\t\tif height := Height(hour); hour == 9 && height > ${limit} {\n\t\t\tt.Errorf("${name} is dark at hour %d: height %d", hour, height)\n\t\t}\n\t}\n}\n\nfunc TestZero(t *testing.T) {\n\tif Height(0) != ${index} {\n\t\tt.Error("not ${index}")\n\t}\n}\n`;
}
