import type { VersionNeed } from './need.ts';

interface RequirementRow {
  readonly tool: VersionNeed['tool'];
  /**
   * Groups: `needs`, the required version; optionally `has`, the running version, and `subject`, what needs
   * it.
   */
  readonly pattern: RegExp;
  /** The name of what needs it, if the line does not state it. */
  readonly subject?: string;
  /** Converts what the tool counts, such as class file versions, to a version. */
  readonly convert?: (needed: string) => string;
}

const V = String.raw`v?\d{1,3}(?:\.\d{1,3}){0,2}`;
/** Class files of Java N have the version N + 44 (Java Virtual Machine Specification, table 4.1-A). */
const fromClassFile = (version: string) => String(Number.parseInt(version, 10) - 44);

/** Forms in which tools state what they need. */
// biome-ignore format: one row for each form
const ROWS: readonly RequirementRow[] = [
  { tool: 'Java', pattern: /class file has wrong version (?<needs>\d{2}(?:\.\d)?), should be (?<has>\d{2}(?:\.\d)?)/, subject: 'A class file', convert: fromClassFile },
  { tool: 'Java', pattern: /(?<subject>[\w/.$]{1,200}) has been compiled by a more recent version of the Java Runtime \(class file version (?<needs>\d{2}(?:\.\d)?)\).{0,80}up to (?<has>\d{2}(?:\.\d)?)/, convert: fromClassFile },
  { tool: 'Java', pattern: /Unsupported class file major version (?<needs>\d{2})/, subject: 'A class file', convert: fromClassFile },
  { tool: 'Java', pattern: /(?:release version (?<needs>\d{1,2}) not supported|invalid (?:target|source) release: (?:1\.)?(?<needs2>\d{1,2}))/, subject: "The compiler's release option" },
  { tool: 'Node', pattern: new RegExp(`[Uu]nsupported engine.{0,20}package: ?['"](?<subject>[^'"]{1,120})['"].{0,20}node"?: ?['"][>=^~ ]{0,4}(?<needs>${V})[^'"]{0,60}['"].{0,20}current: ?\\{ ?"?node"?: ?['"](?<has>${V})`) },
  { tool: 'Node', pattern: new RegExp(`(?:(?<subject>\\S{1,120}): )?The engine "node" is incompatible with this module\\. Expected version "[>=^~ ]{0,4}(?<needs>${V})[^"]{0,60}"\\. Got "(?<has>${V})"`), subject: 'The package' },
  { tool: 'Python', pattern: new RegExp(`Package '(?<subject>[^'\\n]{1,120})' requires a different Python: (?<has>${V}) not in '[^'\\n]{0,40}?>=? ?(?<needs>${V})`) },
  { tool: 'Python', pattern: new RegExp(`current Python version \\((?<has>${V})\\) does not satisfy Python ?>=(?<needs>${V})`), subject: 'The project' },
  { tool: 'Go', pattern: new RegExp(`(?<subject>[\\w./@-]{2,200})?:? ?requires go >= (?<needs>${V}) \\(running go (?<has>${V})`), subject: 'The module' },
  { tool: 'Rust', pattern: new RegExp(String.raw`package .(?<subject>[\w.@-]{1,80}(?: [\w.-]{1,30})?). cannot be built because it requires rustc (?<needs>${V}).{0,80}rustc version is (?<has>${V})`) },
  { tool: 'Rust', pattern: new RegExp(`(?<subject>[\\w-]{1,80}@\\d\\S{0,40}) requires rustc (?<needs>${V})`) },
  { tool: 'Rust', pattern: /feature `(?<subject>edition2024)` is required/, convert: () => '1.85' },
  { tool: 'Rust', pattern: /lock ?file version `?(?<needs>4)`? (?:was found|requires)/, subject: 'Version 4 of Cargo.lock', convert: () => '1.78' },
  { tool: 'glibc', pattern: /version [`'"]GLIBC_(?<needs>2\.\d{1,2})['"`] not found(?: \(required by (?<subject>[^)\n]{1,300})\))?/, subject: 'A binary' },
];

/** Returns the version that a line says something needs. Returns null if it states none. */
export function findRequirement(text: string): VersionNeed | null {
  for (const { tool, pattern, subject, convert = (needed: string) => needed } of ROWS) {
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const { has } = groups;
    const named = groups.subject?.split('/').at(-1);
    return {
      tool,
      subject: named === undefined ? (subject ?? 'It') : named,
      version: stripVersionMark(convert(groups.needs ?? groups.needs2 ?? '')),
      isGone: false,
      running: has === undefined ? null : stripVersionMark(convert === fromClassFile ? convert(has) : has),
      isFromTable: false,
    };
  }
  return null;
}

function stripVersionMark(version: string): string {
  return version.replace(/^v/, '');
}
