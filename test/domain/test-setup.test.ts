import { describe, expect, test } from 'vitest';
import { changesHowTestsRun } from '../../src/domain/test-setup.ts';

/** A diff that shows the whole of a file. */
const createDiff = (before: string, from: string, to: string, after = '') => {
  const lines = (mark: string, text: string) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `${mark}${line}`);
  return [
    '@@ -1,9 +1,9 @@',
    ...lines(' ', before),
    ...lines('-', from),
    ...lines('+', to),
    ...lines(' ', after),
  ].join('\n');
};
const ONE_LINE = createDiff('', 'a', 'b');

describe('a change that alters how tests run', () => {
  test.each([
    'vite.config.ts',
    'vitest.workspace.ts',
    'jest.config.js',
    'web/.mocharc.yml',
    'babel.config.js',
    'turbo.json',
    'bunfig.toml',
    '.pnpmfile.cjs',
    'conftest.py',
    'pytest.ini',
    'tox.ini',
    'noxfile.py',
    '.coveragerc',
    'pytest.py',
    'sitecustomize.py',
    '_pytest/main.py',
    'app/tests.py',
    'Makefile',
    'build/rules.mk',
    'justfile',
    'Taskfile.yml',
    'Rakefile',
    'gradlew',
    '.mvn/jvm.config',
    'settings.gradle.kts',
    '.cargo/config.toml',
    'node_modules/.bin/jest',
    '.venv/bin/pytest',
    'vendor/bin/phpunit',
    'phpunit.dist.xml',
    'Shop.Tests/Cart.cs',
    'src/integrationTest/java/A.java',
    'scripts/run-tests.sh',
    'ci/unit-test.sh',
    'test.js',
    'src/cart-test.js',
    'manage.py',
  ])('is recognized by the name of its file: %s', (path) => {
    expect(changesHowTestsRun(path, ONE_LINE)).toBe(true);
  });

  test.each([
    'src/edit.ts',
    'src/latest/index.ts',
    'src/contest.py',
    'attest.go',
    'README.md',
    'package-lock.json',
    'tsconfig.json',
    'src/lib.rs',
    'protest.js',
    'src/greatest.py',
    'inventory/stock.py',
    'docs/testing.md',
    'src/config.ts',
    'requirements.txt',
    '.eslintrc.json',
  ])('is not assumed in %s', (path) => {
    expect(changesHowTestsRun(path, ONE_LINE)).toBe(false);
  });

  const pytest = '[project]\nname = "shop"\n[tool.pytest.ini_options]\n';
  test.each<[string, string, string]>([
    [
      'package.json',
      'scripts',
      createDiff('{\n  "scripts": {', '    "test": "node --test"', `    "test": "echo '# pass 1'"`),
    ],
    [
      'package.json',
      'a script before the tests',
      createDiff('{\n  "scripts": {', '', '    "pretest": "rm sum.test.js",'),
    ],
    [
      'package.json',
      'the settings of a runner',
      createDiff('{\n  "jest": {', '    "testMatch": ["a"]', '    "testMatch": ["b"]'),
    ],
    [
      'package.json',
      "a runner of one's own",
      createDiff('', '    "jest": "^29.0.0"', '    "jest": "file:./fake"'),
    ],
    [
      'package.json',
      'a runner by another name',
      createDiff('', '    "jest": "^29.0.0"', '    "jest": "npm:fake@1.0.0"'),
    ],
    [
      'package.json',
      'everything in one line',
      createDiff('', '{"scripts":{"test":"jest"}}', '{"scripts":{"test":"true"}}'),
    ],
    ['pyproject.toml', 'options', createDiff(pytest, '', 'addopts = "-p forge"')],
    [
      'pyproject.toml',
      'options in several lines',
      createDiff(`${pytest}addopts = [\n"-p",\n`, '"no:cacheprovider",', '"forge",'),
    ],
    [
      'pyproject.toml',
      'a new section',
      createDiff('[project]\nname = "shop"', '', '[tool.pytest.ini_options]\naddopts = "-p forge"'),
    ],
    [
      'pyproject.toml',
      'a plugin of its own',
      createDiff('[project]', '', '[project.entry-points.pytest11]\nforge = "forge"'),
    ],
    ['pyproject.toml', 'where the section is not shown', '@@ -40,3 +40,3 @@\n "a",\n-"b",\n+"c",'],
    ['setup.cfg', 'options', createDiff('[tool:pytest]', 'addopts = -q', 'addopts = -p forge')],
    ['pom.xml', 'skipped tests', createDiff('<properties>', '', '<skipTests>true</skipTests>')],
    [
      'pom.xml',
      'a plugin',
      createDiff(
        '<plugin>',
        '<artifactId>maven-surefire-plugin</artifactId>',
        '<artifactId>other</artifactId>',
      ),
    ],
    ['build.gradle', 'a task', createDiff('', '', 'test { enabled = false }')],
    ['Cargo.toml', 'a harness', createDiff('[package]', '', '[[test]]\nname = "a"\nharness = false')],
    ['Cargo.toml', 'no tests', createDiff('[package]', '', 'autotests = false')],
    ['go.mod', 'a library of tests', createDiff('', '', 'replace github.com/stretchr/testify => ./fake')],
    ['composer.json', 'scripts', createDiff('{ "scripts": {', '"test": "phpunit"', '"test": "true"')],
    ['CMakeLists.txt', 'a test', createDiff('', 'add_test(NAME sum COMMAND sum)', '')],
    ['Dockerfile', 'the command', createDiff('', 'CMD ["pytest"]', 'CMD ["true"]')],
    ['settings.py', "Django's runner", createDiff('', '', 'TEST_RUNNER = "forge.Runner"')],
    ['src/shop.py', 'plugins', createDiff('', '', 'pytest_plugins = ["forge"]')],
    ['src/shop.py', 'a hook', createDiff('', '', 'def pytest_runtest_makereport(item, call):')],
    [
      'src/lib.rs',
      'a test in the file',
      createDiff(
        'fn sum() {}\n#[cfg(test)]\nmod tests {\n#[test]',
        'fn adds() { assert!(false) }',
        'fn adds() {}',
      ),
    ],
  ])('is recognized in %s by %s', (path, _, diff) => {
    expect(changesHowTestsRun(path, diff)).toBe(true);
  });

  test.each<[string, string, string]>([
    [
      'package.json',
      'a version',
      createDiff('{\n  "dependencies": {', '    "left-pad": "^1.0.0",', '    "left-pad": "^1.1.0",'),
    ],
    [
      'web/package.json',
      'a dependency',
      createDiff('{', '', '  "devDependencies": {\n    "@types/node": "24.x"\n  },'),
    ],
    ['package.json', 'the kind of modules', createDiff('{', '', '  "type": "module",')],
    [
      'pyproject.toml',
      'a dependency',
      createDiff('[project]\ndependencies = [', '  "numpy>=2",', '  "numpy<2",\n]\n# pinned'),
    ],
    [
      'pyproject.toml',
      'a linter',
      createDiff(
        '[tool.ruff]',
        'line-length = 80',
        'line-length = 100',
        '[tool.pytest.ini_options]\naddopts = "-q"',
      ),
    ],
    ['setup.cfg', 'a dependency', createDiff('[options]\ninstall_requires =', '  numpy', '  numpy<2')],
    ['pom.xml', 'a version', createDiff('<dependency>', '<version>1.0</version>', '<version>1.1</version>')],
    [
      'pom.xml',
      'a property',
      createDiff(
        '<properties>',
        '<jackson.version>2.1</jackson.version>',
        '<jackson.version>2.2</jackson.version>',
      ),
    ],
    [
      'build.gradle',
      'a dependency',
      createDiff('dependencies {', '', "  implementation 'com.google.guava:guava:33.0.0-jre'"),
    ],
    [
      'Cargo.toml',
      'a dependency',
      createDiff('[dependencies]', 'serde = "1"', 'serde = { version = "1", features = ["derive"] }'),
    ],
    [
      'go.mod',
      'a version',
      createDiff('require (', '\tgolang.org/x/text v0.3.0', '\tgolang.org/x/text v0.4.0'),
    ],
    ['BUILD.bazel', 'a dependency', createDiff('deps = [', '', '    "//cart:lib",')],
    [
      'src/lib.rs',
      'code above its tests',
      createDiff('', 'fn sum() {}', 'fn sum() -> i32 { 1 }', '#[cfg(test)]\nmod tests {}'),
    ],
  ])('is not assumed in %s because of %s', (path, _, diff) => {
    expect(changesHowTestsRun(path, diff)).toBe(false);
  });
});
