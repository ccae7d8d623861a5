import { describe, expect, test } from 'vitest';
import type { Category } from '../../src/domain/category.ts';
import type { Kind } from '../../src/domain/kind.ts';
import { classify } from './subject.ts';

/** One line a tool in its own words, the names in it invented; each stands alone, as in a log whose other lines say nothing. */
const SAID: readonly (readonly [string, Category, Kind])[] = [
  // images, compose, clusters, charts
  ['Error response from daemon: manifest for orchard/pear:9.9 not found: manifest unknown', 'DEPENDENCY_ERROR', 'dependency_install'],
  [
    'ERROR: failed to solve: failed to resolve source metadata for docker.io/orchard/pear:9: docker.io/orchard/pear:9: not found',
    'DEPENDENCY_ERROR',
    'dependency_install',
  ],
  ['failed to calculate checksum of ref 4711::x: "/basket.lock": not found', 'CONFIG_ERROR', 'docker_build'],
  ['COPY failed: forbidden path outside the build context: ../pear', 'CONFIG_ERROR', 'docker_build'],
  ['service "scales" depends on undefined service "pear": invalid compose project', 'CONFIG_ERROR', 'workflow_config'],
  ['no configuration file provided: not found', 'CONFIG_ERROR', 'workflow_config'],
  ['error: error validating "scales.yaml": error validating data: unknown field "replica"', 'CONFIG_ERROR', 'workflow_config'],
  ['error: unable to recognize "scales.yaml": no matches for kind "Basket" in version "fruit/v1"', 'CONFIG_ERROR', 'workflow_config'],
  [
    'Error from server (Forbidden): pods is forbidden: User "ci" cannot list resource "pods" in API group ""',
    'CONFIG_ERROR',
    'permission_or_secret',
  ],
  ['error: You must be logged in to the server (Unauthorized)', 'CONFIG_ERROR', 'permission_or_secret'],
  [
    'The connection to the server localhost:8080 was refused - did you specify the right host or port?',
    'CONFIG_ERROR',
    'permission_or_secret',
  ],
  ['0/3 nodes are available: 3 Insufficient memory.', 'INFRA_ERROR', 'service_unavailable'],
  ['Error from server: etcdserver: request timed out', 'INFRA_ERROR', 'service_unavailable'],
  ['Unable to connect to the server: dial tcp 192.0.2.7:6443: i/o timeout', 'INFRA_ERROR', 'network'],
  ['Error: UPGRADE FAILED: template: scales/templates/pod.yaml:4:9: executing "scales" at <.Values>', 'CONFIG_ERROR', 'workflow_config'],
  ['Error: found in Chart.yaml, but missing in charts/ directory: pear', 'DEPENDENCY_ERROR', 'dependency_install'],
  // terraform, ansible, clouds
  ['Error: Unsupported argument', 'CONFIG_ERROR', 'workflow_config'],
  ['Error: Reference to undeclared input variable', 'CONFIG_ERROR', 'workflow_config'],
  [
    `fatal: [scales]: FAILED! => {"changed": false, "msg": "Could not find or access 'pear.conf' on the Ansible Controller."}`,
    'CONFIG_ERROR',
    'missing_file',
  ],
  ['Error: Inconsistent dependency lock file', 'DEPENDENCY_ERROR', 'dependency_install'],
  [
    'Could not retrieve the list of available versions for provider orchard/pear: no available releases match the given constraints ~> 9.0',
    'DEPENDENCY_ERROR',
    'dependency_install',
  ],
  ['Unable to locate credentials. You can configure credentials by running "aws configure".', 'CONFIG_ERROR', 'permission_or_secret'],
  ['An error occurred (ExpiredToken) when calling the PutObject operation: expired', 'CONFIG_ERROR', 'permission_or_secret'],
  ['An error occurred (Throttling): Throttling: Rate exceeded', 'INFRA_ERROR', 'rate_limited'],
  ['api error InsufficientInstanceCapacity: no capacity for pear.large', 'INFRA_ERROR', 'service_unavailable'],
  ["ERROR! couldn't resolve module/action 'pear'. This often indicates a misspelling.", 'CONFIG_ERROR', 'workflow_config'],
  ["ERROR! the role 'pear' was not found in /srv/roles", 'DEPENDENCY_ERROR', 'missing_module'],
  ['fatal: [scales1]: UNREACHABLE! => {"changed": false, "unreachable": true}', 'INFRA_ERROR', 'network'],
  // build services
  [
    'ERROR: Job failed (system failure): prepare environment: waiting for pod running: timed out waiting for pod to start',
    'INFRA_ERROR',
    'runner_lost',
  ],
  ['##[error]We stopped hearing from agent pear-4. Verify the agent machine is running', 'INFRA_ERROR', 'runner_lost'],
  ['Gradle build daemon disappeared unexpectedly (it may have been killed or may have crashed)', 'INFRA_ERROR', 'runner_lost'],
  ["##[error]The action 'Weigh the fruit' has timed out after 15 minutes.", 'INFRA_ERROR', 'timeout'],
  ['Too long with no output (exceeded 10m0s): context deadline exceeded', 'INFRA_ERROR', 'timeout'],
  ['This GitLab CI configuration is invalid: jobs:weigh config contains unknown keys: stages', 'CONFIG_ERROR', 'workflow_config'],
  ['The template is not valid. .github/workflows/scales.yml (Line: 4, Col: 9): Unexpected value', 'CONFIG_ERROR', 'workflow_config'],
  ['Error: The `set-env` command is disabled. Please upgrade to using Environment Files', 'CONFIG_ERROR', 'workflow_config'],
  ["ERROR: Could not find credentials entry with ID 'pear-deploy'", 'CONFIG_ERROR', 'permission_or_secret'],
  ['ERROR: Scripts not permitted to use method java.lang.String weigh', 'CONFIG_ERROR', 'permission_or_secret'],
  ['npm error You cannot publish over the previously published versions: 1.2.3.', 'CONFIG_ERROR', 'workflow_config'],
  ['error: failed to publish: crate version `1.2.3` is already uploaded', 'CONFIG_ERROR', 'workflow_config'],
  // compilers, SDKs, project files
  ['A compatible .NET SDK was not found.', 'CONFIG_ERROR', 'environment'],
  ['SDK location not found. Define a valid SDK location with an ANDROID_HOME environment variable', 'CONFIG_ERROR', 'environment'],
  ["error: toolchain 'nightly-2020-01-01' is not installed", 'CONFIG_ERROR', 'environment'],
  ['error: linker `cc` not found', 'CONFIG_ERROR', 'environment'],
  ['CMake 3.28 or higher is required.  You are running version 3.16.3', 'CONFIG_ERROR', 'environment'],
  ['Your Ruby version is 3.1.0, but your Gemfile specified 3.3.0', 'CONFIG_ERROR', 'environment'],
  ['Could not determine java version from 21.0.1.', 'CONFIG_ERROR', 'environment'],
  ['Error: error:0308010C:digital envelope routines::unsupported', 'CONFIG_ERROR', 'environment'],
  ['ERROR:  py38: InterpreterNotFound: python3.8', 'CONFIG_ERROR', 'environment'],
  ['go: go.mod file not found in current directory or any parent directory; see go help modules', 'CONFIG_ERROR', 'missing_file'],
  ['MSBUILD : error MSB1009: Project file does not exist.', 'CONFIG_ERROR', 'missing_file'],
  ['make: *** No targets specified and no makefile found.  Stop.', 'CONFIG_ERROR', 'missing_file'],
  ['Error: Could not find or load main class org.gradle.wrapper.GradleWrapperMain', 'CONFIG_ERROR', 'missing_file'],
  ["A problem occurred evaluating root project 'scales'.", 'CONFIG_ERROR', 'workflow_config'],
  ['error: failed to parse manifest at `/build/scales/Cargo.toml`', 'CONFIG_ERROR', 'workflow_config'],
  ["E: Type 'orchard' is not known on line 4 in source list /etc/apt/sources.list", 'CONFIG_ERROR', 'workflow_config'],
  ["E: The repository 'https://deb.orchard.example pear Release' does not have a Release file.", 'CONFIG_ERROR', 'workflow_config'],
  ['ActiveRecord::NoDatabaseError: We could not find your database: scales_test.', 'CONFIG_ERROR', 'environment'],
  ['curl: (22) The requested URL returned error: 404', 'CONFIG_ERROR', 'missing_file'],
  // package managers
  ['error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.', 'DEPENDENCY_ERROR', 'dependency_install'],
  ['pyproject.toml changed significantly since poetry.lock was last generated.', 'DEPENDENCY_ERROR', 'dependency_install'],
  ['You are trying to install in deployment mode after changing your Gemfile.', 'DEPENDENCY_ERROR', 'dependency_install'],
  ['npm error code EINTEGRITY', 'DEPENDENCY_ERROR', 'dependency_install'],
  ['ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.', 'DEPENDENCY_ERROR', 'dependency_install'],
  ['[!] CocoaPods could not find compatible versions for pod "Pear":', 'DEPENDENCY_ERROR', 'version_conflict'],
  ['Duplicate class org.fruit.Pear found in modules pear-1.jar (a:b:1) and pear-2.jar (a:b:2)', 'DEPENDENCY_ERROR', 'version_conflict'],
  ['ERROR: unable to select packages:', 'DEPENDENCY_ERROR', 'version_conflict'],
  ['A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.0 as it may crash.', 'DEPENDENCY_ERROR', 'version_conflict'],
  [
    'Error [ERR_REQUIRE_ESM]: require() of ES Module /app/node_modules/pear/index.js from /app/weigh.js not supported.',
    'DEPENDENCY_ERROR',
    'version_conflict',
  ],
  ["scales.swift:3:8: error: no such module 'Pear'", 'DEPENDENCY_ERROR', 'missing_module'],
  ['An error occurred while installing pear (1.2.3), and Bundler cannot continue.', 'DEPENDENCY_ERROR', 'missing_module'],
  ['error[vulnerability]: RUSTSEC-2099-0001', 'DEPENDENCY_ERROR', 'vulnerability'],
  // machine and network
  ['torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB', 'INFRA_ERROR', 'out_of_memory'],
  ['collect2: fatal error: ld terminated with signal 9 [Killed]', 'INFRA_ERROR', 'out_of_memory'],
  ['PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes)', 'INFRA_ERROR', 'out_of_memory'],
  ['Unable to boot the Simulator.', 'INFRA_ERROR', 'service_unavailable'],
  ['CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://conda.orchard.example/noarch>', 'INFRA_ERROR', 'network'],
  ['batch response: This repository is over its data quota.', 'INFRA_ERROR', 'rate_limited'],
  // product code and its gates
  ['scales.obj : error LNK2019: unresolved external symbol weigh referenced in function main', 'CODE_ERROR', 'link_error'],
  ["src/app/scales.ts:4:9 - error NG8001: 'app-pear' is not a known element", 'CODE_ERROR', 'type_error'],
  ['** (CompileError) lib/scales.ex:4: undefined function weigh/1', 'CODE_ERROR', 'compile_error'],
  ['✘ [ERROR] Expected ")" but found "}"', 'CODE_ERROR', 'compile_error'],
  ['PHP Fatal error:  Uncaught Error: Call to undefined function weigh() in /app/scales.php:4', 'CODE_ERROR', 'compile_error'],
  ['NameError: uninitialized constant Scales::Pear', 'CODE_ERROR', 'null_reference'],
  ['Deprecation triggered by Scales\\Tests\\PearTest::testWeigh:', 'CODE_ERROR', 'lint_failure'],
  ['- files were modified by this hook', 'CODE_ERROR', 'formatting_failure'],
  ['src/scales.c:4:9: error: code should be clang-formatted [-Wclang-format-violations]', 'CODE_ERROR', 'formatting_failure'],
  ['12 files inspected, 3 offenses detected', 'CODE_ERROR', 'lint_failure'],
  ['FOUND 3 ERRORS AFFECTING 2 LINES', 'CODE_ERROR', 'lint_failure'],
  ["Execution failed for task ':scales:detekt'.", 'CODE_ERROR', 'lint_failure'],
  ['Jest: "global" coverage threshold for lines (80%) not met: 71.5%', 'TEST_FAILURE', 'threshold'],
  // tests
  ['Failed asserting that 3 matches expected 0.', 'TEST_FAILURE', 'assertion'],
  [
    '/build/ScalesTests.swift:4: error: -[ScalesTests testPear] : XCTAssertEqual failed: ("3") is not equal to ("0")',
    'TEST_FAILURE',
    'assertion',
  ],
  ['Expected equality of these values:', 'TEST_FAILURE', 'assertion'],
  ['  REQUIRE( weigh(pear) == 0 )', 'TEST_FAILURE', 'assertion'],
  ['scales_test.cpp(4): error: in "scales/pear": check weigh(pear) == 0 has failed [3 != 0]', 'TEST_FAILURE', 'assertion'],
  ['Assert.Equal() Failure: Values differ', 'TEST_FAILURE', 'assertion'],
  ['- weighs a pear *** FAILED *** 3 did not equal 0 (ScalesSpec.scala:4)', 'TEST_FAILURE', 'assertion'],
  ['Condition not satisfied:', 'TEST_FAILURE', 'assertion'],
  ["#   Failed test 'weighs a pear'", 'TEST_FAILURE', 'assertion'],
  ['CypressError: Timed out retrying after 4000ms: Expected to find element: `.pear`, but never found it.', 'TEST_FAILURE', 'flaky_timing'],
  ['Test timeout of 30000ms exceeded.', 'TEST_FAILURE', 'flaky_timing'],
];

describe('what tools say', () => {
  test.each(SAID)('%j is %s, %s', (line, category, kind) => {
    const found = classify(`${line}\n`);
    expect(found).toMatchObject({ category, kind, abstained: false });
    expect(found.because).toMatch(/^rule [a-z0-9-]+: /);
  });

  test('knows a missing command where the log was cut off in the middle of the word', () => {
    expect(classify('./ci/pack.sh: line 3: fruitctl: command not fou').category).toBe('CONFIG_ERROR');
  });
});
