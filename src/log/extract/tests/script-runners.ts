import type { Named, Runner, Shape } from './shapes.ts';

const RULE = /^(?:-{60,120}|={60,120}|\.{60,120})$/;
const EQUALS = /^={20,200}$/;
const PYTEST_BANNER = /^(?:={6,400}|={3,200}\s{0,4}(?<title>[^=\s](?:.{0,200}?[^=\s])?)\s{0,4}={3,200})$/;
const PYTEST_SUBTEST = / (?:\[[^\]\n]{0,200}\] ?)?\(\w{1,60}=.{0,300}\)$| \[[^\]\n]{1,200}\]$/;

/** Runners of scripting languages and of plain language, told by the shape of a line or two. A new one is a row here. */
export const SCRIPT_RUNNERS: readonly Runner[] = [
  {
    name: 'unittest',
    literals: ['FAIL: ', 'ERROR: '],
    shapes: [
      {
        above: EQUALS,
        head: /^(?:FAIL|ERROR): (?<name>\S.{0,500}?)$/,
        body: 'open',
        until: /^={20,200}$|^Ran \d{1,7} tests? in /,
        limit: 300,
        finish: unittestName,
      },
    ],
  },
  {
    name: 'trial',
    literals: ['[FAIL]', '[ERROR]'],
    shapes: [
      { above: EQUALS, head: /^\[(?:FAIL|ERROR)\]$/, body: 'open', until: /^(?:={70,90}|-{70,90})$/, limit: 200, finish: trialName },
    ],
  },
  {
    name: 'pytest',
    literals: [
      '__ ',
      ' __',
      '= FAILURES =',
      '= ERRORS =',
      '= PASSES =',
      '= XPASSES =',
      '= XFAILURES =',
      'warnings summary',
      'FAILED ',
      'ERROR ',
      ' FAILED',
      'short test summary',
      'ERROR collecting',
      ' killed',
      'segmentation fault',
      ' aborted',
      'terminated',
      'fatal python error',
    ],
    banner: PYTEST_BANNER,
    shapes: [
      {
        under: /^(?:FAILURES|ERRORS)$/,
        head: /^_{2,200} (?:(?:(?<collecting>ERROR collecting)|ERROR at (?:setup|teardown) of) )?(?<name>\S.{0,300}?) _{2,200}$/,
        body: 'open',
        until: PYTEST_BANNER,
        limit: 400,
        raises: true,
        finish: pytestName,
      },
      ...[
        /^(?:FAILED|ERROR|SUBFAIL(?:ED)?(?:\[[^\]]{0,200}\])?(?: ?\(.{0,300}?\))?) (?<file>[^\s:]{1,300}\.\w{1,5})(?:::(?<rest>.{1,500}?))?(?: - (?<message>.{1,1000})|$)/,
        /^\[gw\d{1,4}\](?: \[ {0,3}\d{1,3}%\])? (?:FAILED|ERROR) (?<file>[^\s:]{1,300}\.py)::(?<rest>\S.{0,400}?)\s{0,4}$/,
        /^(?<file>[^\s:]{1,300}\.py)::(?<rest>.{1,400}?) (?:FAILED\b|ERROR\b|(?:\S{0,200}: line \d{1,5}: {1,8}\d{1,8} )?(?:Killed|Segmentation fault|Aborted|Fatal Python error|Terminated)\b)/,
      ].map((head): Shape => ({ head, body: 'none', finish: pytestName })),
    ],
  },
  {
    name: 'cucumber',
    literals: [' scenarios:', '.feature:'],
    opens:
      /^\s{0,8}(?:\d{1,5}\) )?(?:Scenario(?: Outline| Template)?|Example): .{1,300}?\s# (?:file:\/\/)?(?<key>[^\s:]{1,300}\.feature:\d{1,7})/,
    banner: /^\s{0,4}(?<title>[A-Z]\w{1,20}) [sS]cenarios:$/,
    shapes: [
      {
        under: /^(?:Failing|Failed|Errored)$/,
        head: /^\s{0,6}(?:(?:rerun )?cucumber (?:-p \S{1,60} )?|file:\/\/)?(?<file>[^\s:]{1,300}\.feature):(?<line>\d{1,7})(?:\s{1,80}(?:# )?(?:Scenario(?: Outline| Template)?: )?(?<name>\S.{0,300}))?$/,
        opened: ({ file, line }) => `${file}:${line}`,
        body: 'none',
        until: /^\s{0,8}(?:Scenario|Example|Rule|Feature|Failing|Failed|Errored)\b[^:]{0,20}:/i,
        finish: scenarioMessage,
      },
    ],
  },
  {
    name: 'robot',
    literals: ['| FAIL |'],
    shapes: [
      {
        head: /^(?<name>\S.{0,300}) \| FAIL \|$/,
        body: 'open',
        until: RULE,
        never: /^\d{1,7} tests?, \d{1,7} passed, \d{1,7} failed/,
        finish: (named) => ({ ...named, name: named.name?.split(' :: ')[0] }),
        suite: /^(?<suite>[A-Z][^|:\n]{0,200})(?: :: .{0,300})?$/,
      },
    ],
  },
  {
    name: 'node-test',
    literals: ['test at '],
    shapes: [
      {
        head: /^\s{0,20}test at (?<file>[^\n]{1,300}?):(?<line>\d{1,7}):\d{1,6}$/,
        next: /^\s{0,20}✖ (?<name>\S.{0,400}?) \(\d[\d.]{0,16}ms\)$/,
        limit: 80,
      },
    ],
  },
  {
    name: 'pester',
    literals: ['[-] '],
    shapes: [
      {
        head: /^\s{0,20}\[-\] (?<name>\S.{0,300}?) \d[\d.,]{0,10}m?s(?: \(.{1,40}\))?$/,
        suite: /^\s{0,4}Describing (?<suite>\S.{0,200})$/,
        until: /^\s{1,20}\[[+!-]\] /,
        limit: 30,
      },
    ],
  },
  {
    name: 'minitest',
    literals: ['#test_', ') Failure:', ') Error:'],
    shapes: [
      { above: /^\s{0,4}(?:\d{1,5}\) )?(?:Failure|Error):$/, head: minitestTitle() },
      { head: /^\s{0,4}\d{1,5}\) (?:Failure|Error):$/, next: minitestTitle() },
    ].map(
      (shape): Shape => ({
        ...shape,
        body: 'open',
        limit: 40,
        until: /^\s{0,4}\d{1,5}\) \w{1,20}:$|^(?:Failure|Error):$|^\d{1,7} (?:runs|tests), |^bin\/rails test /,
      }),
    ),
  },
  {
    name: 'pest',
    literals: ['  FAILED  ', '  • '],
    shapes: [
      {
        head: /^\s{2,4}(?:FAILED|•)\s{1,4}(?<suite>[\w\\]{2,300}) > (?<name>\S.{0,300}?)(?:\s{3,200}\w{1,100})?$/,
        body: 'open',
        until: /^\s{2}(?:Tests: |─{20})/,
      },
    ],
  },
  {
    name: 'codeception',
    literals: [' Test  '],
    shapes: [
      {
        head: /^\s{0,4}Test {1,4}(?<file>[^\s:]{1,300}):(?<name>\w{1,200})$/,
        above: /^\d{1,5}\) (?<suite>[\w\\]{2,200}): \S/,
        titled: true,
        body: 'open',
        until: /^$|^--$|^\d{1,5}\) /,
      },
    ],
  },
  {
    name: 'prove',
    literals: ['Failed test'],
    shapes: [
      {
        head: /^\s{0,12}#?\s{1,8}Failed test (?:'(?<name>.{1,300}?)'|\((?<bare>.{1,300}?)\))(?:$| at (?<file>\S{1,300}) line (?<line>\d{1,7})\.)/,
        body: 'open',
        until: /^(?!\s{0,12}#\s{2,})/,
        limit: 8,
        finish: proveCheck,
      },
    ],
  },
  {
    name: 'prove',
    literals: ['Dubious, test returned', ' subtests'],
    fillsIn: true,
    shapes: [
      {
        head: /^(?<message>(?:Failed \d{1,5}\/\d{1,5} subtests|Dubious, test returned|No subtests run).{0,200})/,
        above: /^(?:\[[\d:]{5,10}\] )?(?<file>\S{1,200}\.(?:t|sh|pl)) \.{2,80}/,
        within: 2,
        body: 'none',
        finish: (named) => ({ ...named, name: named.file }),
      },
    ],
  },
  {
    name: 'bats',
    literals: ['in test file '],
    shapes: [
      {
        head: /^\s{1,8}\((?:from function .{1,200} in file .{1,300}, line \d{1,7},)?\s{0,4}in test file (?<file>[^\n]{1,300}), line (?<line>\d{1,7})\)$/,
        above: /^[^✗✖\n]{0,300}[✗✖] (?<name>\S.{0,300}?)(?: \[\d{1,9}(?:ms)?\])?$/,
        within: 4,
        titled: true,
        until: /^\s{0,3}\S/,
        limit: 30,
      },
    ],
  },
];

function minitestTitle(): RegExp {
  return /^(?:(?<suite>\w[^#\n]{0,200})#(?<name>test_.{1,300}?)|(?<old>test\w{0,200})\((?<class>[\w:]{1,200})\))(?: \[(?<file>[^\s:]{1,300}):(?<line>\d{1,7})\])?:$/;
}

function unittestName(named: Named): Named {
  const groups = /^(?<name>\S[^()]{0,200}?(?:\(.{0,200}?\))?) \((?<path>[\w.<>-]{1,300})\)(?: .{0,300})?$/.exec(named.name ?? '')?.groups;
  const path = groups?.path?.split('.') ?? [];
  const name = groups?.name ?? named.name;
  return { name, suite: (path.at(-1) === name ? path.slice(0, -1) : path).join('.') };
}

function trialName(_: Named, body: readonly string[]): Named | null {
  const path = body.findLast((text) => /^[A-Za-z_][\w.]{2,300}$/.test(text.trimEnd()))?.trimEnd();
  if (path === undefined) return null;
  const dot = path.lastIndexOf('.');
  return { name: path.slice(dot + 1), suite: path.slice(0, Math.max(0, dot)) };
}

/** A test is named by its path in the summary, and by a dotted one in its section; what a subtest adds is left out. */
function pytestName(named: Named): Named {
  const { file, rest } = named;
  const title = (rest ?? named.name ?? file ?? '').replace(/ <- .{1,300}$/, '').replace(PYTEST_SUBTEST, '');
  if (named.collecting !== undefined || (rest === undefined && file !== undefined)) return { ...named, name: title, file: title };
  const mark = rest === undefined ? '.' : '::';
  // Parametrised names hold dots and colons inside their brackets.
  const head = title.split('[')[0] ?? title;
  const at = head.lastIndexOf(mark);
  const suite = at === -1 ? undefined : title.slice(0, at).replaceAll('::', '.');
  return { ...named, suite, name: title.slice(at === -1 ? 0 : at + mark.length) };
}

function scenarioMessage(named: Named, body: readonly string[]): Named {
  const said = body.map(
    (text) =>
      /^\s{2,20}(?:(?:Assertion Failed|ASSERT FAILED|ERROR): )?(?<said>(?:(?<=FAILED: |Failed: )|[\w:.]{1,80}(?:Error|Exception)\b).{1,500})/.exec(
        text,
      )?.groups?.said,
  );
  return { ...named, message: said.find((one) => one !== undefined) ?? '' };
}

/** `#   Failed test 'adds up'`, with the place on the same line or the next, and what was got and expected below. */
function proveCheck(named: Named, body: readonly string[]): Named | null {
  const said = body.map((text) => text.replace(/^\s{0,12}#\s{0,20}/, ''));
  const groups = (pattern: RegExp) => said.map((text) => pattern.exec(text)?.groups).find((one) => one !== undefined);
  const place = named.file === undefined ? groups(/^(?:in|at) (?<file>\S{1,300}) (?:at )?line (?<line>\d{1,7})\.$/) : named;
  if (place?.file === undefined) return null;
  const { actual } = groups(/^got: (?<actual>.{1,300})$/) ?? {};
  const { expected } = groups(/^expected: (?<expected>.{1,300})$/) ?? {};
  const message =
    actual === undefined ? (said.find((text) => !/^(?:in|at) \S{1,300} /.test(text)) ?? '') : `got: ${actual} expected: ${expected}`;
  return { name: named.name ?? named.bare, suite: place.file, file: place.file, line: place.line, message, expected, actual };
}
