import { createDebianTool, createPipTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

const BOM =
  '<project>\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>test.harbor</groupId>\n  <artifactId>harbor-bom</artifactId>\n  <version>2.0</version>\n  <packaging>pom</packaging>\n  <dependencyManagement>\n    <dependencies>\n      <dependency>\n        <groupId>test.harbor</groupId>\n        <artifactId>tides</artifactId>\n        <version>2.0</version>\n      </dependency>\n    </dependencies>\n  </dependencyManagement>\n</project>\n';
const CRATE = '[package]\nname = "chart"\nversion = "0.1.0"\nedition = "2021"\n';

/** Failures whose words look like those of another kind of failure. */
const KINDS: readonly ToolRow[] = [
  {
    slug: 'node-named-export-missing',
    tool: 'node',
    version: 'node --version',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CODE_ERROR', 'CONFIG_ERROR'],
    files: {
      'node_modules/tide-sheets/package.json':
        '{ "name": "tide-sheets", "version": "6.1.0", "main": "index.js" }\n',
      'node_modules/tide-sheets/index.js':
        'const parts = { TideSheet: class {} };\nmodule.exports = parts;\n',
      'render.mjs': "import { TideSheet } from 'tide-sheets';\n\nconsole.log(new TideSheet());\n",
    },
    run: 'node render.mjs',
    exitCode: 1,
    telling: ["SyntaxError: Named export 'TideSheet' not found."],
  },
  {
    slug: 'npm-publish-unknown-name',
    tool: 'npm',
    version: 'npm --version',
    heldOut: false,
    category: 'CONFIG_ERROR',
    files: {
      'package.json': '{ "name": "@harbor/tides", "version": "1.4.0" }\n',
      'index.js': 'export const tides = [];\n',
      '.npmrc': 'registry=http://packages.example.test/\n//packages.example.test/:_authToken=none\n',
    },
    network: 'not-found',
    run: 'npm publish --access public',
    exitCode: 1,
    telling: ['npm error 404 Not Found - PUT http://packages.example.test/@harbor%2ftides'],
  },
  {
    slug: 'cargo-compiler-killed',
    tool: 'cargo',
    version: 'cargo --version',
    heldOut: true,
    category: 'INFRA_ERROR',
    files: {
      'Cargo.toml': CRATE,
      'src/main.rs': 'fn main() {\n    println!("chart");\n}\n',
      // Kills the compiler as the kernel does where memory runs out.
      'ci/rustc.sh': 'case "$*" in *"--crate-name chart"*) kill -9 $$ ;; esac\nexec "$@"\n',
    },
    setup: 'chmod +x ci/rustc.sh && sed -i "1i #!/bin/bash" ci/rustc.sh',
    env: { RUSTC_WRAPPER: 'ci/rustc.sh' },
    run: 'cargo build',
    exitCode: 101,
    telling: ['(signal: 9, SIGKILL: kill)'],
  },
  {
    slug: 'node-test-foreign-service-away',
    tool: 'node',
    version: 'node --version',
    heldOut: true,
    category: 'INFRA_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'tides.test.mjs':
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of the captured script
        "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n\ntest('reads the tide table', async () => {\n  const response = await fetch('http://packages.example.test/tides.json');\n  if (!response.ok) throw new Error(`GET ${response.url}: ${response.status} ${response.statusText}`);\n  const { ports } = await response.json();\n  assert.equal(ports.length, 12);\n});\n",
    },
    network: 'unavailable',
    run: 'node --test',
    exitCode: 1,
    telling: ['GET http://packages.example.test/tides.json: 503 Service Unavailable'],
  },
  {
    ...createDebianTool('apt'),
    slug: 'apt-release-not-signed',
    tool: 'apt-get',
    heldOut: false,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'archive/Packages':
        'Package: tides\nVersion: 1.0\nArchitecture: all\nMaintainer: ci <ci@example.test>\nFilename: ./tides.deb\nSize: 1\n',
      'archive/Release': 'Suite: stable\nDate: Sat, 01 Nov 2025 00:00:00 UTC\n',
      'sources.list': 'deb file:/home/runner/work/harbor/harbor/archive ./\n',
    },
    setup:
      'sed -i "s#/home/runner/work/harbor/harbor#$PWD#" sources.list && mkdir -p state/lists/partial cache/archives/partial',
    run: 'apt-get -o Dir::Etc::SourceList=$PWD/sources.list -o Dir::Etc::SourceParts=- -o Dir::State=$PWD/state -o Dir::Cache=$PWD/cache update',
    exitCode: 100,
    telling: ['is not signed.'],
  },
  {
    slug: 'unittest-below-denied-probe',
    tool: 'unittest',
    version: 'python3 --version',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'probe.sh': '#!/bin/bash\necho "12 m"\n',
      'test_depth.py':
        'import subprocess\nimport unittest\n\n\nclass DepthTest(unittest.TestCase):\n    def test_probe_is_optional(self):\n        self.assertNotEqual(subprocess.run("./probe.sh", shell=True).returncode, 0)\n\n    def test_sum(self):\n        self.assertEqual(sum([4, 4, 5]), 12)\n',
    },
    run: 'python3 -m unittest -v',
    exitCode: 1,
    telling: ['AssertionError: 13 != 12'],
  },
  {
    ...createDebianTool('maven'),
    slug: 'maven-version-no-longer-managed',
    tool: 'maven',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'pom.xml':
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a property of Maven
        '<project>\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>test.harbor</groupId>\n  <artifactId>charts</artifactId>\n  <version>1.0</version>\n  <repositories>\n    <repository>\n      <id>bundled</id>\n      <url>file://${project.basedir}/bundled</url>\n    </repository>\n  </repositories>\n  <dependencyManagement>\n    <dependencies>\n      <dependency>\n        <groupId>test.harbor</groupId>\n        <artifactId>harbor-bom</artifactId>\n        <version>2.0</version>\n        <type>pom</type>\n        <scope>import</scope>\n      </dependency>\n    </dependencies>\n  </dependencyManagement>\n  <dependencies>\n    <dependency>\n      <groupId>test.harbor</groupId>\n      <artifactId>soundings</artifactId>\n    </dependency>\n  </dependencies>\n</project>\n',
      'bundled/test/harbor/harbor-bom/2.0/harbor-bom-2.0.pom': BOM,
    },
    run: 'mvn --batch-mode --no-transfer-progress validate',
    exitCode: 1,
    telling: ["'dependencies.dependency.version' for test.harbor:soundings:jar is missing."],
  },
];

/** Runtimes that lack what the code or a package uses, and class files of a newer one. */
const RUNTIMES: readonly ToolRow[] = [
  {
    slug: 'node-array-member-missing',
    tool: 'node',
    setup: 'npm install --no-audit --no-fund --no-save --prefer-offline node@18',
    version: 'node_modules/.bin/node --version',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: {
      'package.json': '{ "private": true, "type": "module", "scripts": { "draw": "node draw.js" } }\n',
      'draw.js':
        "const configs = ['north', 'south'];\nfor (const config of configs.toReversed()) console.log('drew', config);\n",
    },
    run: 'npm run draw',
    exitCode: 1,
    telling: ['TypeError: configs.toReversed is not a function'],
  },
  {
    slug: 'node-package-needs-newer',
    tool: 'node',
    setup: 'npm install --no-audit --no-fund --no-save --prefer-offline node@18 undici@7.16.0',
    version: 'node_modules/.bin/node --version',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: {
      'package.json': '{ "private": true, "type": "module", "scripts": { "tides": "node tides.js" } }\n',
      'tides.js': "import { Agent } from 'undici';\n\nconsole.log(new Agent().constructor.name);\n",
    },
    run: 'npm run tides',
    exitCode: 1,
    telling: ['ReferenceError: File is not defined'],
  },
  {
    slug: 'python-standard-name-too-new',
    tool: 'python',
    version: 'python3 --version',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR', 'CODE_ERROR'],
    files: {
      'tables.py':
        'from itertools import batched\n\nfor heights in batched(range(12), 4):\n    print(heights)\n',
    },
    before: 'python3 --version',
    run: 'python3 tables.py',
    exitCode: 1,
    telling: ["ImportError: cannot import name 'batched' from 'itertools'"],
  },
  {
    slug: 'javac-method-too-new',
    tool: 'javac',
    version: 'javac -version',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'Chart.java':
        'import java.util.List;\n\npublic class Chart {\n  public static void main(String[] args) {\n    System.out.println(List.of("north", "south").reversed());\n  }\n}\n',
    },
    before: 'javac -version',
    run: 'javac Chart.java',
    exitCode: 1,
    telling: ['error: cannot find symbol'],
  },
  {
    slug: 'java-class-file-too-new',
    tool: 'java',
    version: 'javac -version',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    setup:
      'javac Buoy.java && rm Buoy.java && printf "\\000\\143" | dd of=Buoy.class bs=1 seek=6 conv=notrunc status=none',
    files: {
      'Buoy.java':
        'public class Buoy {\n  public static void main(String[] args) {\n    System.out.println(12);\n  }\n}\n',
    },
    run: 'java -cp . Buoy',
    exitCode: 1,
    telling: ['has been compiled by a more recent version of the Java Runtime'],
  },
];

const SOUNDINGS_C =
  '#include <Python.h>\n\nstatic struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "soundings", NULL, -1, NULL};\n\nPyMODINIT_FUNC PyInit_soundings(void)\n{\n    return PyModule_Create(&module);\n}\n';
const SOUNDINGS = {
  'soundings/setup.py':
    'from setuptools import Extension, setup\n\nsetup(name="soundings", version="1.0", ext_modules=[Extension("soundings", ["soundings.c"])])\n',
  'soundings/soundings.c': SOUNDINGS_C,
};
const DEPTH_TEST =
  'import unittest\n\nimport soundings\n\n\nclass DepthTest(unittest.TestCase):\n    def test_loads(self):\n        self.assertEqual(soundings.__name__, "soundings")\n\n    def test_sum(self):\n        self.assertEqual(sum([4, 4, 5]), 12)\n';

/** What went wrong and did no harm, above what did. */
const HARMLESS: readonly ToolRow[] = [
  {
    slug: 'unittest-below-failed-wheel',
    tool: 'unittest',
    version: 'python3 --version',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: { ...SOUNDINGS, 'test_depth.py': DEPTH_TEST },
    run: 'CC=gcc-3 python3 -m pip install --user ./soundings || CC=gcc python3 -m pip install --user ./soundings\npython3 -m unittest -v',
    exitCode: 1,
    telling: ['AssertionError: 13 != 12'],
  },
  {
    ...createPipTool('pytest'),
    slug: 'pytest-below-failed-wheel',
    tool: 'pytest',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: { ...SOUNDINGS, 'test_depth.py': DEPTH_TEST },
    before:
      'for compiler in gcc-3 gcc; do\n  if CC=$compiler python3 -m pip install --user ./soundings; then break; fi\ndone',
    run: 'python3 -m pytest -q',
    exitCode: 1,
    telling: ['AssertionError: 13 != 12'],
  },
  {
    slug: 'node-test-below-failed-addon',
    tool: 'node-test',
    version: 'node --version',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'package.json': '{ "private": true, "dependencies": { "soundings": "file:soundings" } }\n',
      'soundings/package.json':
        '{ "name": "soundings", "version": "1.0.0", "scripts": { "install": "gcc-3 -shared -o soundings.so soundings.c" } }\n',
      'soundings/index.js': 'exports.sum = (depths) => depths.reduce((sum, depth) => sum + depth, 0);\n',
      'depth.test.mjs':
        "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport soundings from 'soundings';\n\ntest('adds depths', () => assert.equal(soundings.sum([4, 4, 5]), 12));\n",
    },
    run: 'npm install --install-links || npm install --install-links --ignore-scripts\nnode --test',
    exitCode: 1,
    telling: ['13 !== 12'],
  },
  {
    slug: 'node-test-below-expected-refusal',
    tool: 'node-test',
    version: 'node --version',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'depth.test.mjs':
        "import assert from 'node:assert/strict';\nimport { connect } from 'node:net';\nimport { test } from 'node:test';\n\ntest('says that the gauge is away', async () => {\n  const error = await new Promise((resolve) => connect(5439, '127.0.0.1').on('error', resolve));\n  console.error(error);\n  assert.equal(error.code, 'ECONNREFUSED');\n});\n\ntest('adds depths', () => assert.equal(4 + 4 + 5, 12));\n",
    },
    run: 'node --test',
    exitCode: 1,
    telling: ['13 !== 12'],
  },
];

const CRATES = {
  'Cargo.toml': '[workspace]\nmembers = ["chart"]\nresolver = "2"\n\n[workspace.dependencies]\nbuoys = "1"\n',
  'chart/Cargo.toml': `${CRATE}\n[dependencies]\ntides.workspace = true\n`,
  'chart/src/main.rs': 'fn main() {\n    println!("chart");\n}\n',
};

/** Packages, registries and machines behind errors that look like ours. */
const ELSEWHERE: readonly ToolRow[] = [
  {
    ...createPipTool('twine'),
    slug: 'twine-upload-not-found',
    tool: 'twine',
    heldOut: true,
    category: 'CONFIG_ERROR',
    files: {
      'pyproject.toml': '[project]\nname = "tides"\nversion = "1.4.0"\n',
      'tides.py': 'TIDES = []\n',
    },
    before: 'python3 -m pip wheel --quiet --no-deps --wheel-dir dist .',
    network: 'not-found',
    run: 'python3 -m twine upload --non-interactive --disable-progress-bar --repository-url http://packages.example.test/harbor/ -u ci -p none dist/*',
    exitCode: 1,
    telling: ['404 Not Found from http://packages.example.test/harbor/'],
  },
  {
    slug: 'pip-header-missing',
    tool: 'pip',
    version: 'python3 -m pip --version',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      ...SOUNDINGS,
      'soundings/soundings.c': `#include <sounder/sounder.h>\n${SOUNDINGS_C}`,
    },
    setup: 'mv soundings /tmp/soundings && cd /tmp && tar czf soundings-1.0.tar.gz soundings',
    run: 'python3 -m pip install --user /tmp/soundings-1.0.tar.gz',
    exitCode: 1,
    telling: ['fatal error: sounder/sounder.h: No such file or directory'],
  },
  {
    slug: 'cargo-system-library-missing',
    tool: 'cargo',
    version: 'cargo --version',
    debian: ['pkg-config'],
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'Cargo.toml': `${CRATE}\n[dependencies]\nsounder-sys = { path = "vendor/sounder-sys" }\n`,
      'src/main.rs': 'fn main() {\n    sounder_sys::sound();\n}\n',
      'vendor/sounder-sys/Cargo.toml':
        '[package]\nname = "sounder-sys"\nversion = "0.3.1"\nedition = "2021"\nbuild = "build.rs"\n\n[build-dependencies]\npkg-config = "0.3"\n',
      'vendor/sounder-sys/build.rs':
        'fn main() {\n    pkg_config::probe_library("libsounder").unwrap();\n}\n',
      'vendor/sounder-sys/src/lib.rs': 'pub fn sound() {}\n',
    },
    run: 'cargo build',
    exitCode: 101,
    telling: ['libsounder'],
  },
  {
    slug: 'unittest-foreign-service-away',
    tool: 'unittest',
    version: 'python3 --version',
    heldOut: false,
    category: 'INFRA_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'test_tides.py':
        'import json\nimport unittest\nfrom urllib.request import urlopen\n\n\nclass TidesTest(unittest.TestCase):\n    def test_ports(self):\n        with urlopen("http://packages.example.test/tides.json") as reply:\n            self.assertEqual(len(json.load(reply)["ports"]), 12)\n',
    },
    network: 'unavailable',
    run: 'python3 -m unittest',
    exitCode: 1,
    telling: ['urllib.error.HTTPError: HTTP Error 503: Service Unavailable'],
  },
  {
    slug: 'go-build-compiler-killed',
    tool: 'go-build',
    version: 'go version',
    heldOut: false,
    category: 'INFRA_ERROR',
    files: {
      'go.mod': 'module example.test/chart\n\ngo 1.21\n',
      'main.go': 'package main\n\nfunc main() {\n\tprintln("chart")\n}\n',
      // Kills the compiler as the kernel does where memory runs out.
      'ci/tool.sh': '#!/bin/bash\ncase "$*" in *"-p main"*) kill -9 $$ ;; esac\nexec "$@"\n',
    },
    setup: 'chmod +x ci/tool.sh',
    run: 'go build -toolexec "$PWD/ci/tool.sh" .',
    exitCode: 1,
    telling: ['signal: killed'],
  },
  {
    ...createDebianTool('apt', 'gnupg'),
    slug: 'apt-key-not-known',
    tool: 'apt-get',
    heldOut: true,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'archive/Packages': '',
      'archive/Release': 'Suite: stable\nDate: Sat, 01 Nov 2025 00:00:00 UTC\n',
      'sources.list': 'deb file:/home/runner/work/harbor/harbor/archive ./\n',
    },
    setup:
      'sed -i "s#/home/runner/work/harbor/harbor#$PWD#" sources.list && mkdir -p state/lists/partial cache/archives/partial && gpg --quiet --batch --passphrase "" --quick-generate-key archive@example.test && gpg --quiet --batch --clearsign --output archive/InRelease archive/Release',
    run: 'apt-get -o Dir::Etc::SourceList=$PWD/sources.list -o Dir::Etc::SourceParts=- -o Dir::State=$PWD/state -o Dir::Cache=$PWD/cache -o APT::Sandbox::User=runner update',
    exitCode: 100,
    telling: ['NO_PUBKEY'],
  },
  {
    slug: 'cargo-version-no-longer-managed',
    tool: 'cargo',
    version: 'cargo --version',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: CRATES,
    run: 'cargo build',
    exitCode: 101,
    telling: ['`dependency.tides` was not found in `workspace.dependencies`'],
  },
];

/** Failures whose output ends with words about something else: another tool, a wrapper, a summary. */
const ENDINGS: readonly ToolRow[] = [
  {
    slug: 'doctest-two-examples',
    tool: 'python-doctest',
    version: 'python3 --version',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'tides.py':
        'def turn(hours):\n    """Returns the hours until the tide turns.\n\n    >>> turn(2)\n    5\n    >>> turn(3)\n    3\n    """\n    return 6 - hours\n\n\ndef name(place):\n    """Returns the name of a harbor.\n\n    >>> name("Lee")\n    \'Lee Harbor\'\n    """\n    return place + " harbor"\n',
    },
    run: 'python3 -m doctest tides.py',
    exitCode: 1,
    telling: ["    'Lee Harbor'", "    'Lee harbor'"],
  },
  {
    slug: 'pip-wheel-lacks-header',
    tool: 'pip',
    version: 'python3 -m pip --version',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR', 'CODE_ERROR'],
    files: {
      'gauge/setup.py':
        "from setuptools import Extension, setup\n\nsetup(name='gauge', version='1.0', ext_modules=[Extension('gauge', ['gauge.c'])])\n",
      'gauge/gauge.c': '#include <libtide/tide.h>\n\nint depth(void) { return TIDE_DEPTH; }\n',
    },
    run: 'python3 -m pip install --user ./gauge',
    exitCode: 1,
    telling: ['fatal error: libtide/tide.h: No such file or directory'],
  },
];

/** Failures that look like another kind of failure, and failures above or below which something harmless stands. */
export const rows: readonly ToolRow[] = [...KINDS, ...RUNTIMES, ...HARMLESS, ...ELSEWHERE, ...ENDINGS];
