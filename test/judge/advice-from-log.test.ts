import { describe, expect, it } from 'vitest';
import { answerOn } from './subject.ts';

describe("advice about a compiler's error", () => {
  it('names the first error of each other file', () => {
    const { fixRecommendation } = answerOn(
      'npx tsc --noEmit',
      "src/press.ts(4,9): error TS2304: Cannot find name 'squeeze'.",
      "src/press.ts(7,3): error TS2304: Cannot find name 'bottle'.",
      "src/cellar/rack.ts(12,5): error TS2339: Property 'age' does not exist on type 'Bottle'.",
      "src/label.ts(3,1): error TS2304: Cannot find name 'print'.",
    );
    expect(fixRecommendation).toBe(
      'At src/press.ts:4, import or define `squeeze`, or correct its spelling. ' +
        'Continue with src/cellar/rack.ts:12 and src/label.ts:3.',
    );
  });

  it('names the place even after the package and script names of a task runner', () => {
    const { fixRecommendation } = answerOn(
      'pnpm -r typecheck',
      "apps/press typecheck: src/valve.ts(8,2): error TS2304: Cannot find name 'open'.",
      'apps/press typecheck: Failed',
    );
    expect(fixRecommendation).toContain('At src/valve.ts:8, import or define `open`');
  });

  it('names the place in a checkout below a folder called build', () => {
    const { fixRecommendation } = answerOn(
      'npx tsc',
      "/home/travis/build/orchard/scales/src/valve.ts(8,2): error TS2304: Cannot find name 'open'.",
    );
    expect(fixRecommendation).toContain('At src/valve.ts:8, import or define `open`');
  });
});

describe("advice from a tool's output", () => {
  it.each([
    [
      'a column without a value',
      [
        './seed-cellar',
        'ERROR: null value in column "vintage" of relation "bottles" violates not-null constraint',
      ],
      'Give `vintage` a value in every row that is inserted into `bottles`, or allow NULL there.',
    ],
    [
      'a table that does not exist',
      ['./seed-cellar', 'ERROR: relation "bottles" does not exist'],
      'Run the migration that creates the table `bottles` before this step.',
    ],
    [
      'a column that does not exist',
      ['./seed-cellar', 'ERROR: column "vintage" of relation "bottles" does not exist'],
      'Run the migration that adds `vintage` to `bottles` before this step.',
    ],
    [
      'a file that a check misses',
      ['./check-labels', '❌ Missing required file: docs/labels.md'],
      'Create or commit docs/labels.md before this step, or correct its path.',
    ],
    [
      'a file that a tool was told to read',
      ['hayfmt barn/', 'hayfmt: Cannot find specified template file: barn.toml'],
      'Create or commit barn.toml before this step, or correct its path.',
    ],
    [
      'a file that has to be generated again',
      ['./check-labels', 'Error: labels.md is out of date'],
      'Generate labels.md again and commit it.',
    ],
    [
      'a relative import',
      ['baler pack', `Error: Could not resolve '../rack/shelf' in src/cellar/Bottle.jsx`],
      'Commit the file that src/cellar/Bottle.jsx imports as `../rack/shelf`, or correct the import.',
    ],
    [
      'files that are not committed',
      [
        'baler sell',
        'error: 2 files in the barn contain changes that were not yet committed into git:',
        '',
        'barn.lock',
        'loft.lock',
      ],
      'Commit barn.lock and loft.lock before this step runs, or discard the changes.',
    ],
    [
      'a name that a file of settings holds',
      ['baler pack', 'error: unknown key `tihgt` in barn.toml'],
      'Correct or remove `tihgt` in barn.toml.',
    ],
    [
      'a task with options that hold a percentage',
      ['npx baler run pack weigh --concurrency=100%', 'Could not find task `weigh` in project'],
      'Define the task weigh, or remove it from `npx baler run pack weigh --concurrency=100%`.',
    ],
    [
      'the version that a package needs',
      [
        'baler install',
        'barn requires straw ^8.3 but your straw version (8.1.2) does not satisfy that requirement.',
      ],
      'Upgrade straw from 8.1.2 to 8.3 or newer.',
    ],
    [
      'arguments that a command requires',
      ['./weigh.py', 'weigh.py: error: the following arguments are required: --unit'],
      'Call the command with the arguments that it requires: --unit.',
    ],
    [
      'a plugin',
      ['baler pack', 'Error: Plugin "baler-plugin-twine" was not found'],
      'Declare and install the plugin baler-plugin-twine, or correct its name.',
    ],
    [
      'a scheme',
      ['hayfmt barn/', 'hayfmt: error: cannot find the scheme HarvestTests in the project'],
      'Define the scheme HarvestTests, or correct its name.',
    ],
    [
      'a file in the middle of a sentence',
      ['baler pack', 'Error: twine.toml was not found in the barn, and no default is known'],
      'Create or commit twine.toml before this step, or correct its path.',
    ],
    [
      'an image that does not exist',
      ['docker build .', 'ERROR: failed to solve: orchard/press:99: docker.io/orchard/press:99: not found'],
      'Use an image that exists instead of orchard/press:99.',
    ],
    [
      'a spelling',
      ['hayspell docs', 'error: `recieve` should be `receive`'],
      'Use `receive` instead of `recieve`.',
    ],
    [
      'a branch that takes no pushes',
      ['git push', 'remote: error: GH006: Protected branch update failed for refs/heads/harvest.'],
      'Push to another branch, or let the job bypass the protection of harvest.',
    ],
    [
      'a property of a build script',
      [
        'gradle press',
        "Build file '/home/runner/work/orchard/orchard/app/build.gradle' line: 14",
        '* What went wrong:',
        "> Could not get unknown property 'pressure' for project ':app'.",
      ],
      'Define the property `pressure`, or correct its name at app/build.gradle:14.',
    ],
    [
      'a Java release that a newer JDK dropped',
      ['mvn compile', '[ERROR] error: release version 7 not supported'],
      'Use a JDK that supports Java 7 in the job, or change the Java release that the build compiles for.',
    ],
    [
      'an environment variable',
      ['./deploy', 'Error: In this mode it is necessary to set a PRESS_TOKEN environment variable.'],
      'Set the variable PRESS_TOKEN for the step that needs it, or give it a default value.',
    ],
    [
      'an argument of Terraform',
      [
        'terraform plan',
        'Error: Missing required argument',
        '',
        '  on cellar.tf line 3, in module "press":',
        '',
        'The argument "region" is required, but no definition was found.',
      ],
      'Set `region` in the block at cellar.tf line 3.',
    ],
    [
      "an export of the project's own module",
      [
        'node press.js',
        "SyntaxError: The requested module './valve.js' does not provide an export named 'open'",
      ],
      'Export `open` from ./valve.js, or correct the import.',
    ],
    [
      'a file that a bundler was told to read',
      ['npx esbuild pages/menu.js --bundle', '✘ [ERROR] Could not resolve "pages/menu.js"'],
      'Correct the import of pages/menu.js, or commit the file that it refers to.',
    ],
  ])('names %s', (_, [command = '', ...output], advice) => {
    expect(answerOn(command, ...output).fixRecommendation).toBe(advice);
  });

  it('does not repeat a message in capitals that an act failed', () => {
    const { fixRecommendation } = answerOn(
      'helm upgrade press',
      'Error: UPGRADE FAILED: the press is in use by somebody else',
    );
    expect(fixRecommendation).toBe('No fix found.');
  });

  it('names only places that are files', () => {
    const { fixRecommendation } = answerOn(
      'dotnet build',
      'MSBUILD : error MSB1003: Specify a project or solution file.',
    );
    expect(fixRecommendation).not.toContain('MSBUILD');
  });

  it('does not mention a missing file that follows from an earlier error', () => {
    const { fixRecommendation } = answerOn(
      './make-press',
      'ERROR: the valve of the press cannot be opened: the handle is missing',
      ...Array.from({ length: 8 }, (_, at) => `Cleaning up part ${at}`),
      "cp: cannot stat 'parts/press': No such file or directory",
    );
    expect(fixRecommendation).toBe('No fix found.');
  });

  it("points to the project's code that throws an otherwise unknown error", () => {
    const { fixRecommendation } = answerOn(
      'npx vitest run',
      ' FAIL  src/valve.test.js > valve > opens',
      'PressureError: the press has no pressure',
      '    at openValve (/home/runner/work/orchard/orchard/src/valve.js:14:9)',
      '    at /home/runner/work/orchard/orchard/src/valve.test.js:5:3',
    );
    expect(fixRecommendation).toBe('Start at src/valve.js:14, where the error is thrown.');
  });
});

describe('a cause', () => {
  it('is the error that a wrapper reports, not the wrapper', () => {
    const { rootCause } = answerOn(
      './make-press',
      'ERROR: the valve of the press cannot be opened: the handle is missing',
      'error: failed to run custom build command for `press-sys v0.9.1`',
    );
    expect(rootCause).toMatch(/failed with “the valve of the press cannot be opened/);
  });

  it('omits the Maven goal around it', () => {
    const { rootCause, title } = answerOn(
      'mvn -B verify',
      '[ERROR] Failed to execute goal org.orchard:press-maven-plugin:3.2:check (default) on project ' +
        'cellar: The valve of the press is missing -> [Help 1]',
    );
    expect(title).toBe('The valve of the press is missing');
    expect(rootCause).not.toMatch(/Help 1|maven-plugin/);
  });

  it('has a title that keeps the message of a long wrapper', () => {
    const { title } = answerOn(
      './deploy',
      'An error occurred (ValveException) when calling the UpdateHarvest operation: Harvest 12 is closed',
    );
    expect(title).toBe('Harvest 12 is closed');
  });

  it('is the file that the job regenerates', () => {
    const { title } = answerOn(
      './generate && git diff --exit-code src/press.gen.ts',
      'diff --git a/src/press.gen.ts b/src/press.gen.ts',
      '--- a/src/press.gen.ts',
      '+++ b/src/press.gen.ts',
      '+export const size = 3;',
    );
    expect(title).toBe('src/press.gen.ts differs from what the job generates');
  });

  it('is an import of a name that a module of the project lacks', () => {
    const { rootCause } = answerOn(
      'pytest',
      'tests/test_valve.py:2: in <module>',
      '    from press.valve import open_valve',
      "E   ImportError: cannot import name 'open_valve' from 'press.valve' " +
        '(/home/runner/work/orchard/orchard/press/valve.py)',
    );
    expect(rootCause).toContain(
      'tests/test_valve.py:2 imports open_valve from press.valve, which does not define it.',
    );
  });

  it('contains what a test prints after its place, without its name again', () => {
    const { rootCause } = answerOn(
      'go test ./...',
      '--- FAIL: TestPress (0.00s)',
      '    press_test.go:14: ',
      '        	Error Trace:	press_test.go:14',
      '        	Error:      	the press has no pressure',
      '        	Test:       	TestPress',
      'FAIL',
    );
    expect(rootCause).not.toContain('with “Error Trace');
  });

  it('of a failed test has a title with the message and without its type', () => {
    const { title } = answerOn(
      'npx jest',
      'FAIL src/label.test.tsx',
      '  ● Label of a bottle › shows the year of the harvest',
      '',
      '    ElementLookupFailureError: Found two elements with the text of the year of the harvest',
      '',
      '      at Object.<anonymous> (src/label.test.tsx:9:5)',
    );
    expect(title).toContain('Found two elements');
  });
});
