import { describe, expect, it } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { insightOf } from './subject.ts';

/** Answers a failed step of GitHub Actions that ran a command and printed some lines. */
function answerOn(command: string, ...output: readonly string[]) {
  const lines = [
    `##[group]Run ${command}`,
    command,
    'shell: /usr/bin/bash -e {0}',
    '##[endgroup]',
    ...output,
  ];
  const log = lines.concat('##[error]Process completed with exit code 1.');
  return composeAnswer(insightOf(log.map((line) => `2026-05-04T10:00:00.0000000Z ${line}`).join('\n')));
}

describe('advice about what a compiler reports', () => {
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

  it('names its place behind the package and the script of a task runner', () => {
    const { fixRecommendation } = answerOn(
      'pnpm -r typecheck',
      "apps/press typecheck: src/valve.ts(8,2): error TS2304: Cannot find name 'open'.",
      'apps/press typecheck: Failed',
    );
    expect(fixRecommendation).toContain('At src/valve.ts:8, import or define `open`');
  });

  it('names its place in a checkout below a folder called build', () => {
    const { fixRecommendation } = answerOn(
      'npx tsc',
      "/home/travis/build/orchard/scales/src/valve.ts(8,2): error TS2304: Cannot find name 'open'.",
    );
    expect(fixRecommendation).toContain('At src/valve.ts:8, import or define `open`');
  });
});

describe('advice about what a tool prints', () => {
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
      'an environment variable',
      ['./deploy', 'Error: In this mode it is necessary to set a PRESS_TOKEN environment variable.'],
      'Set PRESS_TOKEN in the `env` of the step that needs it, or give it a default value.',
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

  it('is no hint where a tool shouts that an act failed', () => {
    const { fixRecommendation } = answerOn(
      'helm upgrade press',
      'Error: UPGRADE FAILED: the press is in use by somebody else',
    );
    expect(fixRecommendation).toBe('No fix found.');
  });

  it('names no place that is not a file', () => {
    const { fixRecommendation } = answerOn(
      'dotnet build',
      'MSBUILD : error MSB1003: Specify a project or solution file.',
    );
    expect(fixRecommendation).not.toContain('MSBUILD');
  });

  it('is silent about a missing file below an earlier error', () => {
    const { fixRecommendation } = answerOn(
      './make-press',
      'ERROR: the valve of the press cannot be opened: the handle is missing',
      ...Array.from({ length: 8 }, (_, at) => `Cleaning up part ${at}`),
      "cp: cannot stat 'parts/press': No such file or directory",
    );
    expect(fixRecommendation).toBe('No fix found.');
  });

  it('points to the own code that throws an error of which nothing else is known', () => {
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
  it('is what a wrapper ran into, not the wrapper', () => {
    const { rootCause } = answerOn(
      './make-press',
      'ERROR: the valve of the press cannot be opened: the handle is missing',
      'error: failed to run custom build command for `press-sys v0.9.1`',
    );
    expect(rootCause).toMatch(/failed with “the valve of the press cannot be opened/);
  });

  it('leaves out the goal of Maven around it', () => {
    const { rootCause, title } = answerOn(
      'mvn -B verify',
      '[ERROR] Failed to execute goal org.orchard:press-maven-plugin:3.2:check (default) on project ' +
        'cellar: The valve of the press is missing -> [Help 1]',
    );
    expect(title).toBe('The valve of the press is missing');
    expect(rootCause).not.toMatch(/Help 1|maven-plugin/);
  });

  it('has a title that keeps what a long wrapper says', () => {
    const { title } = answerOn(
      './deploy',
      'An error occurred (ValveException) when calling the UpdateHarvest operation: Harvest 12 is closed',
    );
    expect(title).toBe('Harvest 12 is closed');
  });

  it('is the file that the job generates again', () => {
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

  it('shows what a test prints after its place, and not its name again', () => {
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

  it('has a title about a test that keeps its message and drops the type', () => {
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

describe('the reason that is further in', () => {
  it('is the innermost level of what Gradle lists', () => {
    const { rootCause } = answerOn(
      './gradlew build',
      "Execution failed for task ':cellar:mergeLabels'.",
      "> Could not resolve all files for configuration ':cellar:runtimeClasspath'.",
      '   > Failed to transform press.jar (project :press) to match attributes {artifactType=android-dex}.',
      '      > Execution failed for IdentityTransform: /orchard/press/build/libs/press.jar.',
      '         > File/directory does not exist: /orchard/press/build/libs/press.jar',
    );
    expect(rootCause).toContain('File/directory does not exist');
    expect(rootCause).not.toContain('Could not resolve all files');
  });

  it('is the error that a class could not be initialized for', () => {
    const { title } = answerOn(
      'sbt test',
      '[error] Test orchard.ScalesSuite failed: java.lang.NoSuchMethodError: orchard.Log: method <init>()V not found, took 0.0 sec',
      '[error]     at orchard.Binder.<init>(Binder.java:53)',
      '[error] Test orchard.ScalesSuite failed: java.lang.NoClassDefFoundError: Could not initialize class orchard.ScalesSuite, took 0.0 sec',
    );
    expect(title).toBe('The method <init> of orchard.Log is missing at run time');
  });
});

describe('what a test compares', () => {
  it('is read from testify in the list of gotestsum', () => {
    const { rootCause } = answerOn(
      'gotestsum',
      '=== FAIL: cellar TestRack/label (0.00s)',
      '    rack_test.go:13:',
      '        \tError Trace:\t/home/runner/work/orchard/orchard/cellar/rack_test.go:13',
      '        \tError:      \tNot equal:',
      '        \t            \texpected: 0x263d880',
      '        \t            \tactual  : 0x263cbc0',
      '        \tTest:       \tTestRack/label',
    );
    expect(rootCause).toContain(
      '“TestRack/label” (rack_test.go:13) fails: it expects 0x263d880 but gets 0x263cbc0.',
    );
  });

  it('is both sides where no test is named', () => {
    const { rootCause } = answerOn(
      './run-checks',
      '    [FAIL] Full_Bottle : weigh-2',
      '        Expected: Heavy',
      '        But was:  Light',
    );
    expect(rootCause).toContain('“Full_Bottle : weigh-2, Expected: Heavy, But was: Light”');
  });

  it('is not taken from the line that only names the test', () => {
    const { title, rootCause } = answerOn(
      'prove -v t/rack.t',
      'not ok 18 - rack holds all bottles of the harvest',
      'error: last command exited with $?=1',
      '# failed 1 among 18 test(s)',
    );
    expect(title).toBe('“rack holds all bottles of the harvest” fails');
    expect(rootCause).not.toContain('not ok 18');
  });
});

describe('a refused operation', () => {
  it.each([
    ['mkdir /var/lib/orchard: permission denied', '/var/lib/orchard'],
    ['Error: creating events dirs: mkdir /run/user/1000: permission denied', '/run/user/1000'],
    ['chown /srv/cellar: operation not permitted', '/srv/cellar'],
  ])('asks for access, not for an executable file: %s', (line, target) => {
    const { title, fixRecommendation } = answerOn('./press', line);
    expect(title).toBe(`No permission to access ${target}`);
    expect(fixRecommendation).not.toContain('chmod');
  });

  it('is of an archived repository where the server says so', () => {
    const { fixRecommendation } = answerOn(
      'git push origin nightly',
      'remote: This repository was archived so it is read-only.',
      "fatal: unable to access 'https://git.example/orchard/press/': The requested URL returned error: 403",
    );
    expect(fixRecommendation).toBe(
      'Remove the push to https://git.example/orchard/press, or ask its owner to unarchive the repository.',
    );
  });
});

describe('a panic of Go', () => {
  it('is read where the runner indents what the test printed', () => {
    const { rootCause } = answerOn(
      'gotestsum',
      '=== RUN   TestRack',
      '    --- FAIL: TestRack (0.01s)',
      '    panic: runtime error: invalid memory address or nil pointer dereference [recovered]',
      '        panic: runtime error: invalid memory address or nil pointer dereference',
      '    goroutine 110 [running]:',
      '    testing.tRunner.func1.2({0x180e0e0, 0x2af5180})',
      '        /usr/local/go/src/testing/testing.go:1389 +0x1c8',
      '    github.com/orchard/cellar/rack.(*Store).bottles(0x0?)',
      '        /go/src/github.com/orchard/cellar/rack/store.go:76 +0x38',
    );
    expect(rootCause).toContain('(*Store).bottles (rack/store.go:76) panics');
  });
});

describe('who says it', () => {
  it('is Python for a file that it cannot parse', () => {
    const { title, rootCause } = answerOn(
      'python press.py',
      '  File "/home/runner/work/orchard/orchard/press.py", line 16',
      '    print("squeeze',
      '          ^',
      'SyntaxError: unterminated string literal (detected at line 16)',
    );
    expect(title).toBe('press.py:16: unterminated string literal');
    expect(rootCause).toContain('Python reports an error at press.py:16');
  });

  it('names the files that Prettier would change', () => {
    const { title } = answerOn(
      'prettier --check .',
      'Checking formatting...',
      '[\u001b[33mwarn\u001b[39m] src/press.ts',
      '[\u001b[33mwarn\u001b[39m] Code style issues found in the above file. Run Prettier with --write to fix.',
    );
    expect(title).toBe('src/press.ts is not formatted to the project style');
  });

  it('names the repository that Git asked a user name for', () => {
    const { title } = answerOn(
      './feeds update',
      "Updating feed 'press' from 'https://git.example/orchard/press.git;main' ...",
      "Cloning into './feeds/press'...",
      "fatal: could not read Username for 'https://git.example': No such device or address",
      "Updating feed 'cellar' from 'https://git.example/orchard/cellar.git;main' ...",
    );
    expect(title).toBe('Git has no credentials for https://git.example/orchard/press.git');
  });

  it('upgrades from the version that is there to the one that is needed', () => {
    const { fixRecommendation } = answerOn(
      'npm run build',
      'Node.js v20.20.2 is not supported by Press!',
      'Please upgrade Node.js to a supported version: ">=22.12.0"',
    );
    expect(fixRecommendation).toBe('Upgrade Node.js from v20.20.2 to 22.12.0 or newer.');
  });

  it('reads both sides of a test of Bun', () => {
    const { rootCause } = answerOn(
      'bun test',
      'error: expect(received).toContain(expected)',
      '',
      'Expected to contain: "juice"',
      'Received: "water"',
      '',
      '      at <anonymous> (/home/runner/work/orchard/orchard/press.test.ts:5:20)',
      '(fail) press > fills the bottle [342.00ms]',
      '',
      ' 0 pass',
      ' 1 fail',
    );
    expect(rootCause).toContain('it expects "juice" but gets "water"');
  });
});

describe('what Java prints', () => {
  it('names the symbol that javac cannot find', () => {
    const { title } = answerOn(
      'mvn -B compile',
      '[ERROR] /home/runner/work/orchard/orchard/src/main/java/orchard/Rack.java:[30,12] cannot find symbol',
      '[ERROR]   symbol:   class Bottle',
      '[ERROR]   location: class orchard.Rack',
    );
    expect(title).toBe('src/main/java/orchard/Rack.java:30: cannot find symbol: class Bottle');
  });

  it('is placed by the file of a frame, not by its function', () => {
    const { rootCause, fixRecommendation } = answerOn(
      'mvn -B test',
      '[ERROR] Tests run: 6, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 1.385 s <<< FAILURE! - in orchard.RackTest',
      '[ERROR] holdsBottles(orchard.RackTest)  Time elapsed: 0.012 s  <<< FAILURE!',
      'java.lang.AssertionError',
      '\tat orchard.RackTest.holdsBottles(RackTest.java:35)',
    );
    expect(rootCause).toContain(
      '“holdsBottles” (RackTest.java:35) fails; the log does not say what it expected.',
    );
    expect(fixRecommendation).toBe('Start at RackTest.java:35, where “holdsBottles” fails.');
  });
});

describe('what completes a cause', () => {
  it('is what Playwright waited for, or what was in the way', () => {
    const failed = (...calls: readonly string[]) =>
      answerOn(
        'npx playwright test',
        '  1) [chromium] › tests/press.spec.ts:9:5 › fills a bottle ',
        '',
        '    TimeoutError: locator.click: Timeout 30000ms exceeded.',
        '    Call log:',
        ...calls.map((call) => `      - ${call}`),
        '',
        '        at tests/press.spec.ts:12:40',
        '',
        '  1 failed',
      ).rootCause;
    expect(failed("waiting for locator('#cork')")).toContain("exceeded: waiting for locator('#cork')");
    expect(
      failed(
        "waiting for locator('#cork')",
        'attempting click action',
        '  <div id="lid"></div> intercepts pointer events',
      ),
    ).toContain('exceeded: <div id="lid"></div> intercepts pointer events');
  });

  it('is the place that the tool prints above its message', () => {
    const { rootCause } = answerOn(
      'npm run build',
      './src/app/cellar/page.tsx:16:1',
      'A string literal cannot be used as an imported binding',
    );
    expect(rootCause).toContain('failed at src/app/cellar/page.tsx:16 with “A string literal');
  });

  it('is an earlier error where a file is missing', () => {
    const { rootCause } = answerOn(
      './build-and-pack',
      "BUILD FAILED: The term 'press.exe' is not recognized as a name of a cmdlet or executable program",
      'packing',
      'step 2',
      'step 3',
      'step 4',
      'step 5',
      'step 6',
      'cp: cannot stat dist/cellar.tgz: No such file or directory',
    );
    expect(rootCause).toMatch(/An earlier error may be the reason: “BUILD FAILED|press\.exe/);
  });
});

describe('a killed process', () => {
  it('has not run out of memory where it was stopped for its time', () => {
    const { title } = answerOn(
      './press --all',
      'Error: timed out after 20m waiting for the press',
      'sending the last signal',
      'ended by SIGKILL',
    );
    expect(title).not.toContain('memory');
  });
});
