import { describe, expect, it } from 'vitest';
import { readLines } from './read-lines.ts';

type Row = readonly [tool: string, lines: readonly string[], known: object];

const FOUND: readonly Row[] = [
  [
    'docker',
    ['ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1'],
    {},
  ],
  [
    'docker',
    [
      'Dockerfile:3',
      '--------------------',
      '   2 | COPY . .',
      '   3 | >>> RUN npm ci',
      '--------------------',
    ],
    { file: 'Dockerfile', line: 3, message: 'RUN npm ci' },
  ],
  ['compose', ['dependency failed to start: container cart-db-1 is unhealthy'], {}],
  [
    'helm',
    ['Error: template: cart/templates/web.yaml:3:5: executing "cart/templates/web.yaml"'],
    { file: 'cart/templates/web.yaml', line: 3 },
  ],
  ['kubectl', ['error: error validating "web.yaml": error validating data: unknown field "replica"'], {}],
  [
    'terraform',
    [
      '│ Error: Reference to undeclared resource',
      '│ ',
      '│   on main.tf line 3, in resource "x" "y":',
      '│    3:   a = x.z',
    ],
    { file: 'main.tf', line: 3, message: 'Reference to undeclared resource' },
  ],
  [
    'terraform',
    ['Error: Unsupported argument', '', '  on main.tf line 3, in resource "x" "y":'],
    { file: 'main.tf', line: 3 },
  ],
  [
    'ansible',
    ['fatal: [web-1]: FAILED! => {"changed": false, "msg": "No package matching \'leftpad\' is available"}'],
    { message: "No package matching 'leftpad' is available" },
  ],
  [
    'ansible',
    ['fatal: [web-1]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect", "unreachable": true}'],
    { message: 'Failed to connect' },
  ],
]; // prettier-ignore

const SAID: readonly string[] = [
  'CONFLICT (content): Merge conflict in src/cart.js',
  'curl: (22) The requested URL returned error: 404',
  'ssh: connect to host build.example.test port 22: Connection refused',
  'Error from server (NotFound): deployments.apps "web" not found',
  'An error occurred (AccessDenied) when calling the PutObject operation: Access Denied',
  "wget: unable to resolve host address 'files.example.test'",
  'kernel: Memory cgroup out of memory: Killed process 812 (java) total-vm:9000kB',
];

describe('services', () => {
  it.each(FOUND)('are read: %s: %j', (tool, lines, known) => {
    expect(readLines('deploying', ...lines).diagnostics[0]).toMatchObject({
      tool,
      severity: 'error',
      ...known,
    });
  });

  it.each(SAID)('are described by %s', (line) => {
    const first = readLines('deploying', line, '##[error]Process completed with exit code 1.').messages[0];
    expect(line).toContain(first?.text);
  });

  it('exclude failures that a play ignores', () => {
    const lines = ['TASK [stop] ***', 'fatal: [web-1]: FAILED! => {"msg": "not running"}', '...ignoring'];
    expect(readLines(...lines).diagnostics).toMatchObject([{ severity: 'warning' }]);
  });

  it('state the code of a crash on Windows', () => {
    expect(readLines('vstest.exe exited with code -1073741819').messages[0]?.text).toContain(
      '0xC0000005: access violation',
    );
  });
});
