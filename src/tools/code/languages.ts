import type { Lexis } from './code-only.ts';

export type DefinitionKind = 'function' | 'method' | 'class' | 'type' | 'module' | 'constant' | 'macro';

/** A form of definition; its first group is the name. Tested on lines without comments and strings. */
export type DefinitionForm = readonly [DefinitionKind, RegExp];

export interface Language {
  readonly name: string;
  readonly lexis: Lexis;
  /** The mark of a definition's last line: braces, indentation, or an `end` of the same indent. */
  readonly body: 'braces' | 'indent' | 'end';
  readonly forms: readonly DefinitionForm[];
}

const SLASHES: Lexis = { comments: ['//'], block: ['/*', '*/'], quotes: ['"', "'"] };

const SCRIPT: Language = {
  name: 'JavaScript',
  lexis: {
    ...SLASHES,
    long: ['`'],
    hasPatterns: true,
    inserts: { mark: '${', opening: /`$/ },
  },
  body: 'braces',
  forms: [
    ['function', /^\s*(?:export )?(?:default )?(?:declare )?(?:async )?function ?\*? ?([\w$]+)/],
    ['class', /^\s*(?:export )?(?:default )?(?:declare )?(?:abstract )?class ([\w$]+)/],
    ['class', /^\s*(?:module\.)?exports(?:\.[\w$]+)? ?= ?class ([\w$]+)/],
    ['type', /^\s*(?:export )?(?:declare )?(?:const )?(?:interface|enum) ([\w$]+)/],
    ['type', /^\s*(?:export )?(?:declare )?type ([\w$]+)(?:<[^=]*>)? ?=/],
    ['module', /^\s*(?:export )?(?:declare )?(?:namespace|module) ([\w$]+)/],
    [
      'function',
      new RegExp(
        String.raw`^(?:export )?(?:const|let|var) ([\w$]+)\b[^=]*= ?` +
          String.raw`(?:async ?)?(?:function\b|\([^()]*\)[^=]*=>|[\w$]+ ?=>)`,
      ),
    ],
    // What is required or awaited from another module is defined there.
    ['constant', /^(?:export )?(?:const|let|var) ([\w$]+)\b(?!.*(?:\brequire ?\(|\bimport ?\())/],
    ['function', /^\s*(?:module\.)?exports\.([\w$]+) ?= ?(?:async )?(?:function\b|\([^()]*\) ?=>)/],
    ['method', /^\s*[\w$]+(?:\.[\w$]+)*\.([\w$]+) ?= ?(?:async )?function\b/],
    [
      'method',
      new RegExp(
        String.raw`^\s+(?:(?:public|private|protected|static|async|override|readonly|abstract|get|set) )*` +
          String.raw`\*? ?#?([\w$]+) ?(?:<[^()]*>)?\([^()]*(?:\([^()]*\)[^()]*)*\) ?(?::[^=()]*)?\{$`,
      ),
    ],
  ],
};

const JVM: readonly DefinitionForm[] = [
  ['class', /^\s*(?:[\w@]+ )*(?:class|interface|enum|record|object|trait|@interface) (\w+)/],
  ['method', /^\s*(?:[\w@]+ )*(?:fun|def) (?:<[^<>()]*> )?(?:\w+\.)*(\w+)/],
  // A body or more parameters follow: the line ends without a semicolon.
  [
    'method',
    new RegExp(
      String.raw`^\s+(?!(?:return|new|else|throw|case|await|yield|assert)\b)` +
        String.raw`[\w.@[\] ]*(?:<[^()=;]*>[\w.@[\] ]*)? (\w+) ?\([^;=]*$`,
    ),
  ],
  ['method', /^\s+(?:public|protected|private) (\w+) ?\([^;=]*$/],
  // Without a body: abstract, native, or of an interface.
  ['method', /^\s+(?:(?:public|protected|abstract|native) )+[^()=;]* (\w+) ?\([^;={}]*;$/],
  ['constant', /^\s+(?:(?:public|protected|private) )?(?:static final|final static) [^()=;]* (\w+) ?=/],
];

const LANGUAGES: Readonly<Record<string, Language>> = {
  js: SCRIPT,
  ts: { ...SCRIPT, name: 'TypeScript' },
  py: {
    name: 'Python',
    lexis: {
      comments: ['#'],
      quotes: ['"', "'"],
      long: ['"""', "'''"],
      inserts: { mark: '{', opening: /(?:^|\W)(?:[fF][rR]?|[rR][fF])["']{1,3}$/ },
    },
    body: 'indent',
    forms: [
      ['function', /^(?:async )?def (\w+)/],
      ['method', /^\s+(?:async )?def (\w+)/],
      ['class', /^\s*class (\w+)/],
      ['constant', /^([A-Za-z_]\w*) ?(?::[^=]+)?=(?!=)/],
    ],
  },
  go: {
    name: 'Go',
    lexis: { ...SLASHES, long: ['`'] },
    body: 'braces',
    forms: [
      ['function', /^func (\w+)/],
      ['method', /^func \([^)]*\) ?(\w+)/],
      ['type', /^type (\w+)/],
      ['constant', /^(?:var|const) (\w+)/],
      ['type', /^\t(\w+) (?:struct|interface) ?\{/],
    ],
  },
  rs: {
    name: 'Rust',
    lexis: { comments: ['//'], block: ['/*', '*/'], quotes: [], long: ['"'] },
    body: 'braces',
    forms: [
      [
        'function',
        new RegExp(
          String.raw`^\s*(?:pub(?:\([^)]*\))? )?(?:default )?(?:const )?(?:async )?(?:unsafe )?` +
            String.raw`(?:extern "\s*" )?fn (\w+)`,
        ),
      ],
      ['type', /^\s*(?:pub(?:\([^)]*\))? )?(?:unsafe )?(?:struct|enum|union|trait|type) (\w+)/],
      ['module', /^\s*(?:pub(?:\([^)]*\))? )?mod (\w+)/],
      ['constant', /^\s*(?:pub(?:\([^)]*\))? )?(?:const|static) (?:mut )?(\w+) ?:/],
      ['macro', /^\s*macro_rules! ?(\w+)/],
    ],
  },
  java: { name: 'Java', lexis: SLASHES, body: 'braces', forms: JVM },
  kt: {
    name: 'Kotlin',
    lexis: { ...SLASHES, long: ['"""'], inserts: { mark: '${', opening: /"$/ } },
    body: 'braces',
    forms: JVM,
  },
  scala: {
    name: 'Scala',
    lexis: { ...SLASHES, long: ['"""'], inserts: { mark: '${', opening: /\w"{1,3}$/ } },
    body: 'braces',
    forms: JVM,
  },
  cs: {
    name: 'C#',
    lexis: { ...SLASHES, inserts: { mark: '{', opening: /\$@?"$/ } },
    body: 'braces',
    forms: [['class', /^\s*(?:\w+ )*(?:class|interface|enum|record|struct) (\w+)/], ...JVM],
  },
  c: {
    name: 'C',
    lexis: SLASHES,
    body: 'braces',
    forms: [
      ['macro', /^\s*# ?define (\w+)/],
      ['type', /^\s*(?:typedef )?(?:struct|class|enum|union)(?: class)? (\w+)[^;()]*$/],
      [
        'function',
        /^(?!(?:return|else|case|typedef|using)\b)[\w~][\w:*&<>~, \t]*[ \t*&](\w+(?:::~?\w+)*) ?\([^;=]*$/,
      ],
    ],
  },
  rb: {
    name: 'Ruby',
    lexis: { comments: ['#'], quotes: ['"', "'"], inserts: { mark: '#{', opening: /"$/ } },
    body: 'end',
    forms: [
      ['method', /^\s*def (?:self\.)?(\w+[?!]?)/],
      ['class', /^\s*class (\w+)/],
      ['module', /^\s*module (\w+)/],
      ['constant', /^\s*([A-Z]\w*) ?=(?!=)/],
    ],
  },
  php: {
    name: 'PHP',
    lexis: { comments: ['//', '#'], block: ['/*', '*/'], quotes: ['"', "'"] },
    body: 'braces',
    forms: [
      ['function', /^\s*(?:(?:public|protected|private|static|abstract|final) )*function &?(\w+)/],
      ['class', /^\s*(?:(?:abstract|final|readonly) )*(?:class|interface|trait|enum) (\w+)/],
      ['constant', /^\s*(?:(?:public|protected|private|final) )*const (\w+)/],
    ],
  },
};

const BY_ENDING: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['js', 'jsx', 'mjs', 'cjs'].map((ending) => [ending, 'js'])),
  ...Object.fromEntries(['ts', 'tsx', 'mts', 'cts'].map((ending) => [ending, 'ts'])),
  py: 'py',
  pyi: 'py',
  go: 'go',
  rs: 'rs',
  java: 'java',
  kt: 'kt',
  kts: 'kt',
  scala: 'scala',
  cs: 'cs',
  ...Object.fromEntries(['c', 'h', 'cc', 'cpp', 'cxx', 'hh', 'hpp', 'm'].map((ending) => [ending, 'c'])),
  rb: 'rb',
  php: 'php',
};

/** Returns the language of a file by its ending; null if its definitions are not known. */
export function findLanguage(path: string): Language | null {
  const ending = /\.(\w{1,6})$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return LANGUAGES[BY_ENDING[ending] ?? ''] ?? null;
}
