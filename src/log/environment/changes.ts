import type { AnnouncedChange } from '../../domain/environment.ts';
import type { LogText } from '../lines/lines.ts';

/** Literals, case ignored. Every line that announces a change contains one of them. */
export const CHANGE_LITERALS: readonly string[] = [
  'bump ',
  'update dep',
  'update mod',
  'update rus',
  'renovate/',
  'dependabot',
  ' -> v',
];

const [MAX_LINES, MAX_CHANGES] = [400, 5];
const NAME = String.raw`(?<name>@?[\w.-]{1,100}(?:[/:][\w.-]{1,100}){0,4})`;
const VERSION = String.raw`(?<to>v?\d[\w.+-]{0,40})`;
const TITLES: readonly RegExp[] = [
  new RegExp(String.raw`\bbump ${NAME} from (?<from>v?\d[\w.+-]{0,40}) to ${VERSION}`, 'i'),
  new RegExp(
    String.raw`\bupdate (?:dependency|module|rust crate) ${NAME} ` +
      String.raw`(?:from (?<from>v?\d[\w.+-]{0,40}) )?to ${VERSION}`,
    'i',
  ),
  new RegExp(String.raw`^\s{0,12}Updating ${NAME} (?<from>v\d[\w.+-]{0,40}) -> ${VERSION}$`),
];
/** Names of branches by Renovate and Dependabot. The last number is the version. */
const BRANCHES: readonly RegExp[] = [
  new RegExp(
    String.raw`\bdependabot/[\w-]{1,40}/(?:[\w.@-]{1,100}/){0,6}` +
      String.raw`(?<name>[A-Za-z@][\w.@-]{0,100}?)-${VERSION}(?![\w/])`,
  ),
  new RegExp(String.raw`\brenovate/(?:[\w.-]{1,60}/)?(?<name>[A-Za-z@][\w.@-]{0,100}?)-${VERSION}(?![\w/])`),
];

/** Reads the dependency changes that titles, branches and package managers announce in the log, each once. */
export function readChanges(log: LogText, lines: readonly number[]): AnnouncedChange[] {
  const changes = new Map<string, AnnouncedChange>();
  for (const line of lines.slice(0, MAX_LINES)) {
    const change = changeIn(log.line(line));
    if (change === null || changes.size >= MAX_CHANGES) continue;
    const known = changes.get(change.name);
    if (known === undefined || known.from === null)
      changes.set(change.name, { ...change, at: { source: log.name, line } });
  }
  return [...changes.values()];
}

/** Reads the change that a title or branch name announces. Returns null if it announces none. */
export function changeIn(text: string): Omit<AnnouncedChange, 'at'> | null {
  for (const pattern of [...TITLES, ...BRANCHES]) {
    const { name, from, to } = pattern.exec(text)?.groups ?? {};
    if (name !== undefined && to !== undefined)
      return {
        name,
        from: from?.replace(/^v/, '') ?? null,
        to: to.replace(/^v/, '').replace(/[.-]{1,10}$/, ''),
      };
  }
  return null;
}
