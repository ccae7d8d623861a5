import type { LogText } from '../lines/lines.ts';

/** A released package that a line of the log names with a version. */
export interface Artifact {
  readonly ecosystem: 'maven' | 'python' | 'cargo' | 'go';
  /** The Maven group; empty for other ecosystems. */
  readonly group: string;
  readonly name: string;
  readonly version: string;
  readonly line: number;
  /** False if only its description was downloaded, as for a parent POM or a bill of materials. */
  readonly isUsed: boolean;
}

/** Literals, case ignored. Every line that names an artifact contains one of them. */
export const ARTIFACT_LITERALS: readonly string[] = [
  'downloaded',
  'downloadin',
  'download h',
  'bad class file',
  ' requires jenkins',
  '+-',
  '<--',
  'successfully installed ',
  'compiling ',
  'go: downlo',
];

/** The maximum number of lines that are read. */
const MAX_LINES = 10_000;
const URL = /\bhttps?:\/\/[^\s/]{1,200}\/(?<path>[\w.+/~-]{5,400}\.(?<type>jar|pom|aar|war|hpi))\b/;
const JAR = /\.m2\/repository\/(?<path>[\w.+/~-]{5,400}\.(?<type>jar))\b/;
const TREE =
  /^(?:\[ERROR\] ?)?\s{0,80}(?:\+-|\\-)\s?(?<coordinates>[\w.-]{1,120}:[\w.-]{1,120}:[\w.:-]{1,120})/;
const REQUIRES = /\bDependency (?<coordinates>[\w.-]{1,120}:[\w.-]{1,120}:jar:[\w.-]{1,80}) requires /;
const INSTALLED = /^Successfully installed (?<all>\S.{0,4000})/;
const CRATE = new RegExp(
  String.raw`^\s{0,12}(?:Compiling|Downloaded|Adding|Updating) (?<name>[\w-]{1,80})` +
    String.raw` v(?<version>\d[\w.+-]{0,40})(?: -> v(?<to>\d[\w.+-]{0,40}))?`,
);
const MODULE = /^go: downloading (?<name>[\w./~-]{3,200}) v(?<version>\d[\w.+-]{0,80})/;
/** Directories of a repository's URL before the group. */
const ROOTS = new RegExp(
  String.raw`^(?:.{0,100}?/)?(?:maven2?|releases|public|repository/[\w-]{1,60}|` +
    String.raw`content/(?:groups|repositories)/[\w-]{1,60})/(?=\w)`,
);

/** Reads the artifacts that a log names. Each version is returned once, with the last line that names it. */
export function readArtifacts(log: LogText, lines: readonly number[]): Artifact[] {
  const found = new Map<string, Artifact>();
  for (const line of lines.slice(-MAX_LINES))
    for (const artifact of readLineArtifacts(log.line(line), line)) {
      const key = `${artifact.ecosystem} ${artifact.group}:${artifact.name}:${artifact.version}`;
      const known = found.get(key);
      if (known?.isUsed !== true || artifact.isUsed) found.set(key, artifact);
    }
  return [...found.values()];
}

/** Reads the artifacts that one line of a log names. */
export function readLineArtifacts(text: string, line: number): Artifact[] {
  const file = (URL.exec(text) ?? JAR.exec(text))?.groups;
  if (file !== undefined) return fromPath(file.path ?? '', file.type ?? '', line);
  const coordinates = (TREE.exec(text) ?? REQUIRES.exec(text))?.groups?.coordinates?.split(':');
  if (coordinates !== undefined) {
    const [group = '', name = ''] = coordinates;
    return [{ ecosystem: 'maven', group, name, version: coordinates.at(-1) ?? '', line, isUsed: true }];
  }
  const installed = INSTALLED.exec(text)?.groups?.all;
  if (installed !== undefined) return installed.split(' ').flatMap((word) => fromWord(word, line));
  const crate = CRATE.exec(text)?.groups;
  if (crate !== undefined)
    return [
      {
        ecosystem: 'cargo',
        group: '',
        name: crate.name ?? '',
        version: crate.to ?? crate.version ?? '',
        line,
        isUsed: true,
      },
    ];
  const module = MODULE.exec(text)?.groups;
  return module === undefined
    ? []
    : [
        {
          ecosystem: 'go',
          group: '',
          name: module.name ?? '',
          version: module.version ?? '',
          line,
          isUsed: true,
        },
      ];
}

/**
 * Reads a path such as `org/flywaydb/flyway-core/9.20.1/flyway-core-9.20.1.jar`, relative to the repository's
 * own directories.
 */
function fromPath(path: string, type: string, line: number): Artifact[] {
  const parts = path.replace(ROOTS, '').split('/');
  const [file = '', version = '', name = ''] = parts.toReversed();
  if (parts.length < 4 || !file.startsWith(`${name}-`)) return [];
  return [
    { ecosystem: 'maven', group: parts.slice(0, -3).join('.'), name, version, line, isUsed: type !== 'pom' },
  ];
}

function fromWord(word: string, line: number): Artifact[] {
  const { name, version } =
    /^(?<name>[A-Za-z][\w.-]{0,80}?)-(?<version>\d[\w.+!]{0,40})$/.exec(word)?.groups ?? {};
  return name === undefined || version === undefined
    ? []
    : [{ ecosystem: 'python', group: '', name, version, line, isUsed: true }];
}
