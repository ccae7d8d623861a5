import { describe, expect, it } from 'vitest';
import { answerOn } from './subject.ts';

describe('a nested reason', () => {
  it("is the innermost level of Gradle's list", () => {
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

  it('is the error because of which a class could not be initialized', () => {
    const { title } = answerOn(
      'sbt test',
      '[error] Test orchard.ScalesSuite failed: java.lang.NoSuchMethodError: orchard.Log: method <init>()V not found, took 0.0 sec',
      '[error]     at orchard.Binder.<init>(Binder.java:53)',
      '[error] Test orchard.ScalesSuite failed: java.lang.NoClassDefFoundError: Could not initialize class orchard.ScalesSuite, took 0.0 sec',
    );
    expect(title).toBe('The method <init> of orchard.Log is missing at run time');
  });
});

describe('the values that a test compares', () => {
  it('are read from testify in the list of gotestsum', () => {
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

  it('are read from both sides if no test is named', () => {
    const { rootCause } = answerOn(
      './run-checks',
      '    [FAIL] Full_Bottle : weigh-2',
      '        Expected: Heavy',
      '        But was:  Light',
    );
    expect(rootCause).toContain('“Full_Bottle : weigh-2, Expected: Heavy, But was: Light”');
  });

  it('are not taken from a line that only names the test', () => {
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
  ])('needs access, not an executable file: %s', (line, target) => {
    const { title, fixRecommendation } = answerOn('./press', line);
    expect(title).toBe(`No permission to access ${target}`);
    expect(fixRecommendation).not.toContain('chmod');
  });

  it('concerns an archived repository if the server says so', () => {
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

describe('a panic in Go', () => {
  it('is read if the runner indents the output of the test', () => {
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

describe('a cause in the words of the tool', () => {
  it("is Python's for a file that it cannot parse", () => {
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

  it('names the repository for which Git requested a user name', () => {
    const { title } = answerOn(
      './feeds update',
      "Updating feed 'press' from 'https://git.example/orchard/press.git;main' ...",
      "Cloning into './feeds/press'...",
      "fatal: could not read Username for 'https://git.example': No such device or address",
      "Updating feed 'cellar' from 'https://git.example/orchard/cellar.git;main' ...",
    );
    expect(title).toBe('Git has no credentials for https://git.example/orchard/press.git');
  });

  it('names the present and the required version of an upgrade', () => {
    const { fixRecommendation } = answerOn(
      'npm run build',
      'Node.js v20.20.2 is not supported by Press!',
      'Please upgrade Node.js to a supported version: ">=22.12.0"',
    );
    expect(fixRecommendation).toBe('Upgrade Node.js from v20.20.2 to 22.12.0 or newer.');
  });

  it('contains both sides of a comparison in Bun', () => {
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

describe('output of Java', () => {
  it('names the symbol that javac cannot find', () => {
    const { title } = answerOn(
      'mvn -B compile',
      '[ERROR] /home/runner/work/orchard/orchard/src/main/java/orchard/Rack.java:[30,12] cannot find symbol',
      '[ERROR]   symbol:   class Bottle',
      '[ERROR]   location: class orchard.Rack',
    );
    expect(title).toBe('src/main/java/orchard/Rack.java:30: cannot find symbol: class Bottle');
  });

  it('gives the place by the file of a frame, not by its function', () => {
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

describe('the addition to a cause', () => {
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

  it('is an earlier error if a file is missing', () => {
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
  it('did not run out of memory if it was stopped for its time limit', () => {
    const { title } = answerOn(
      './press --all',
      'Error: timed out after 20m waiting for the press',
      'sending the last signal',
      'ended by SIGKILL',
    );
    expect(title).not.toContain('memory');
  });
});

describe('the place where the code throws', () => {
  it('is quoted from the line that prints it, not from another with its file name and number', () => {
    const { claims } = answerOn(
      'pytest -v',
      'tests/test_press.py::test_empty_press PASSED         [  3%]',
      'tests/test_press.py::test_full_press FAILED     [  4%]',
      '=================================== FAILURES ===================================',
      '_______________________________ test_full_press ________________________________',
      '',
      '    def weigh(crate):',
      '>       return crate.apples',
      "E       AttributeError: 'NoneType' object has no attribute 'apples'",
      '',
      'orchard/press.py:3: AttributeError',
      '=========================== short test summary info ============================',
      "FAILED tests/test_press.py::test_full_press - AttributeError: 'NoneType' object has no attribute 'apples'",
    );
    const quoted = claims.flatMap(({ quotes }) => quotes.map(({ text }) => text));
    expect(quoted).toContain('orchard/press.py:3: AttributeError');
    expect(quoted.join('\n')).not.toContain('PASSED');
  });
});
