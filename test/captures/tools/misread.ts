import { debian, type ToolRow } from '../../../scripts/parts/capture/row.ts';

const BOM =
  '<project>\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>test.harbor</groupId>\n  <artifactId>harbor-bom</artifactId>\n  <version>2.0</version>\n  <packaging>pom</packaging>\n  <dependencyManagement>\n    <dependencies>\n      <dependency>\n        <groupId>test.harbor</groupId>\n        <artifactId>tides</artifactId>\n        <version>2.0</version>\n      </dependency>\n    </dependencies>\n  </dependencyManagement>\n</project>\n';
const CRATE = '[package]\nname = "chart"\nversion = "0.1.0"\nedition = "2021"\n';

/** Failures whose words look like those of another kind of failure. */
export const rows: readonly ToolRow[] = [
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
    ...debian('apt'),
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
    ...debian('maven'),
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
