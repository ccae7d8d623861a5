import type { RecordRow } from './record-row.ts';

const NAME = String.raw`[A-Za-z][\w.-]{0,100}`;
const VERSION = String.raw`v?\d[\w.+~:-]{0,60}`;
const JS = String.raw`(?:@[\w.-]{1,60}/)?[A-Za-z][\w.-]{0,100}`;
/** Rows of package managers, most exact first. If several lines match for one name, the last line wins. */
export const PACKAGE_ROWS: readonly RecordRow[] = [
  {
    kind: 'python',
    pattern: new RegExp(
      String.raw`^Requirement already satisfied: (?<name>${NAME})(?:[^\w. -][^ ]{0,200})? in \S{1,300} ` +
        String.raw`(?:\(from [^()]{0,200}(?:\([^()]{0,60}\))?\) )?\((?<version>\d[\w.+!]{0,40})\)$`,
    ),
    matches: [
      [
        'Requirement already satisfied: numpy>=1.26 in /opt/venv/lib/python3.12/site-pa' +
          'ckages (from pandas) (2.1.3)',
        'numpy',
        '2.1.3',
      ],
    ],
    ignores: ['Requirement already satisfied: numpy'],
  },
  {
    kind: 'python',
    pattern: new RegExp(
      String.raw`^\s{0,4}(?:[+~] )?(?<name>${NAME})(?:\[[\w,.-]{1,80}\])?==(?<version>\d[\w.+!-` +
        String.raw`]{0,40})(?: \(from .{1,200}\))?$`,
    ),
    matches: [
      ['pandas==2.3.1', 'pandas', '2.3.1'],
      [' + ruff==0.8.1', 'ruff', '0.8.1'],
    ],
    ignores: [' - ruff==0.8.0', 'if x==1', 'ERROR: x==1 not found'],
  },
  {
    kind: 'python',
    pattern: new RegExp(
      String.raw`^\s{1,4}[-•] (?:Installing|Updating|Downgrading) (?<name>${NAME}) \((?:\d[\w.+` +
        String.raw`!-]{0,40} -> )?(?<version>\d[\w.+!-]{0,40})\)`,
    ),
    matches: [
      ['  - Installing pandas (2.3.1)', 'pandas', '2.3.1'],
      ['  - Updating pandas (2.3.1 -> 3.0.0)', 'pandas', '3.0.0'],
    ],
    ignores: ['  - Removing pandas (2.3.1)'],
  },
  {
    kind: 'npm',
    pattern: new RegExp(
      String.raw`^[│├└─┬|+\x60\\ -]{2,60}[ ─-](?<name>${JS})@(?:npm:)?(?<version>\d[\w.+-]` +
        String.raw`{0,60})(?: (?:deduped|overridden|extraneous|invalid\b.{0,300}))?$`,
    ),
    matches: [
      ['├── lodash@4.17.21', 'lodash', '4.17.21'],
      ['│ └── @babel/core@7.26.0', '@babel/core', '7.26.0'],
      ['+-- chalk@5.3.0', 'chalk', '5.3.0'],
    ],
    ignores: ['├── UNMET DEPENDENCY lodash@^4', 'mail ada@1und1.de', '> app@1.0.0 test'],
  },
  {
    kind: 'npm',
    pattern: new RegExp(String.raw`^npm (?:ERR!|error) Found: (?<name>${JS})@(?<version>\d[\w.+-]{0,60})$`),
    matches: [['npm error Found: react@19.0.0', 'react', '19.0.0']],
    ignores: ['npm error Found: node_modules/react'],
  },
  {
    kind: 'npm',
    pattern: new RegExp(String.raw`\+ (?<name>${JS})@(?:npm:)?(?<version>\d[\w.+-]{0,60})$`),
    matches: [
      ['➤ YN0085: │ + lodash@npm:4.17.21', 'lodash', '4.17.21'],
      ['+ zod@3.23.8', 'zod', '3.23.8'],
    ],
    ignores: ['- zod@3.23.8'],
  },
  {
    kind: 'npm',
    pattern: new RegExp(
      String.raw`/(?<name>(?:@[\w.-]{1,60}(?:/|%2f))?[\w.-]{1,100})/-/[\w.-]{1,160}?-` +
        String.raw`(?<version>\d[\w.+-]{0,60})\.tgz`,
    ),
    matches: [
      [
        'npm http fetch GET 200 https://packages.example.org/lodash/-/lodash-4.17.21.tgz 45ms (cache miss)',
        'lodash',
        '4.17.21',
      ],
    ],
    ignores: ['https://packages.example.org/lodash'],
  },
  {
    kind: 'cargo',
    pattern: new RegExp(
      String.raw`^\s{0,12}(?:Compiling|Checking|Downloaded|Adding|Updating|Locking) (?<name>[\w` +
        String.raw`-]{1,80}) v(?<version>\d[\w.+-]{0,40})(?: -> v(?<to>\d[\w.+-]{0,40}))?`,
    ),
    matches: [
      ['   Compiling serde v1.0.203', 'serde', '1.0.203'],
      ['    Updating time v0.3.34 -> v0.3.36', 'time', '0.3.36'],
    ],
    ignores: ['   Compiling 3 files with Solc 0.8.19'],
  },
  {
    kind: 'go',
    pattern: new RegExp(
      String.raw`^go: (?:downloading|added|found \S{1,200} in|upgraded) (?<name>[\w.-]{1,80}/[` +
        String.raw`\w./~-]{1,200}) (?:v\d[\w.+-]{0,80} => )?(?<version>v\d[\w.+-]{0,80})`,
    ),
    matches: [
      ['go: downloading golang.org/x/net v0.31.0', 'golang.org/x/net', 'v0.31.0'],
      ['go: upgraded golang.org/x/net v0.30.0 => v0.31.0', 'golang.org/x/net', 'v0.31.0'],
    ],
    ignores: ['go: finding module for package x'],
  },
  {
    kind: 'go',
    pattern:
      /^(?<name>[\w-]{1,60}(?:\.[\w-]{1,40}){1,3}\/[\w./~-]{1,200}) (?<version>v\d{1,4}\.\d[\w.+-]{0,80})$/,
    matches: [['github.com/stretchr/testify v1.9.0', 'github.com/stretchr/testify', 'v1.9.0']],
    ignores: ['ok github.com/x/y 0.1s'],
  },
  {
    kind: 'maven',
    pattern: new RegExp(
      String.raw`^(?:\[INFO\])?[\s|+\\-]{1,80}(?<name>[\w.-]{2,120}:[\w.-]{2,120}):(?:(?:jar|aa` +
        String.raw`r|war):)?(?:[\w-]{2,40}:)?(?<version>\d[\w.-]{0,60})(?: -> (?<to>\d[\w.-]` +
        String.raw`{0,60}))?(?::(?:compile|runtime|test|provided)| \(\*\))?$`,
    ),
    matches: [
      ['[INFO] +- org.slf4j:slf4j-api:jar:2.0.16:compile', 'org.slf4j:slf4j-api', '2.0.16'],
      ['+--- com.google.guava:guava:32.1 -> 33.3.1-jre', 'com.google.guava:guava', '33.3.1-jre'],
    ],
    ignores: ['[INFO] --- surefire:3.2.5:test (default-test) @ app ---'],
  },
  {
    kind: 'ruby',
    pattern: new RegExp(
      String.raw`^(?:Installing|Using|Fetching) (?<name>[\w.-]{1,80}) (?:\d[\w.-]{0,40} \(was )` +
        String.raw`?(?<version>\d[\w.-]{0,40})(?:\)| with native extensions)?$`,
    ),
    matches: [['Installing rake 13.2.1', 'rake', '13.2.1']],
    ignores: ['Using cache from 2024', 'Installing dependencies'],
  },
  {
    kind: 'php',
    pattern: new RegExp(
      String.raw`^\s{0,4}- (?:Installing|Upgrading|Locking) (?<name>[\w.-]{1,60}/[\w.-]{1,80}) ` +
        String.raw`\((?:v?\d[\w.-]{0,40} => )?(?<version>v?\d[\w.-]{0,40})\)`,
    ),
    matches: [['  - Installing symfony/console (v6.4.1): Extracting archive', 'symfony/console', 'v6.4.1']],
    ignores: ['  - Removing symfony/console (v6.4.1)'],
  },
  {
    kind: 'nuget',
    pattern: /^(?:info : )?Installed (?<name>[\w.-]{2,100}) (?<version>\d[\w.-]{0,40}) from https/,
    matches: [
      [
        'info : Installed Newtonsoft.Json 13.0.3 from https://api.nuget.org/v3/index.json',
        'Newtonsoft.Json',
        '13.0.3',
      ],
    ],
    ignores: ['Installed 3 packages'],
  },
  {
    kind: 'os',
    pattern: new RegExp(
      String.raw`^Setting up (?<name>[a-z\d][\w.+-]{1,80})(?::\w{2,12})? \((?<version>${VERSION})\)`,
    ),
    matches: [['Setting up libssl3t64:amd64 (3.0.13-0ubuntu3.4) ...', 'libssl3t64', '3.0.13-0ubuntu3.4']],
    ignores: ['Setting up database'],
  },
  {
    kind: 'os',
    pattern: new RegExp(
      String.raw`^\(\s{0,3}\d{1,4}/\d{1,4}\) (?:Installing|Upgrading) (?<name>[a-z\d][\w.+-]` +
        String.raw`{1,80}) \((?:\d[\w.+-]{0,60} -> )?(?<version>\d[\w.+-]{0,60})\)`,
    ),
    matches: [['(3/12) Installing openssl (3.3.2-r1)', 'openssl', '3.3.2-r1']],
    ignores: [],
  },
  {
    kind: 'os',
    pattern: new RegExp(
      String.raw`^\s{0,4}(?:Installing|Upgrading|Installed)\s{0,16}: (?<name>[A-Za-z\d][\w.+-]` +
        String.raw`{1,80}?)-(?:\d{1,3}:)?(?<version>\d[\w.+~^]{0,40}-[\w.+~^]{1,40}?)\.(?:x86_64|` +
        String.raw`noarch|aarch64)(?=\s|$)`,
    ),
    matches: [
      ['  Installing       : openssl-libs-3.2.2-6.el9_5.x86_64   1/5', 'openssl-libs', '3.2.2-6.el9_5'],
    ],
    ignores: [],
  },
  {
    kind: 'os',
    pattern: new RegExp(
      String.raw`^==> Pouring (?<name>[\w@.+-]{1,80}?)--(?<version>\d[\w.+-]{0,40}?)\.(?:arm64_` +
        String.raw`|x86_64_|\w{3,20}\.bottle|bottle)`,
    ),
    matches: [['==> Pouring cmake--3.31.0.arm64_sonoma.bottle.tar.gz', 'cmake', '3.31.0']],
    ignores: [],
  },
];
