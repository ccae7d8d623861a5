import { compileRulePattern } from '../log/rule-pattern.ts';

/**
 * The dialect of a CODEOWNERS file: GitHub and GitLab use globs, GitLab also sections, Gitea and Forgejo
 * regular expressions.
 */
export type CodeOwnersForm = 'github' | 'gitlab' | 'gitea';

export interface CodeOwners {
  /**
   * Returns the owners of a file and the 1-based line that names them. Returns null if it has none. The path
   * is relative to the root of the repository.
   */
  findOwners(path: string): { readonly names: readonly string[]; readonly line: number } | null;
  /** The lines that were left out, with the reasons; 20 at most. */
  readonly problems: readonly { readonly line: number; readonly why: string }[];
}

export const MAX_LINES = 5_000;
/**
 * The maximum number of characters of a file that are read. The largest files of public projects have half of
 * that.
 */
export const MAX_CHARACTERS = 500_000;
const MAX_LINE = 1_000;
const MAX_OWNERS = 20;
const MAX_PROBLEMS = 20;

interface Rule {
  readonly line: number;
  readonly section: string;
  readonly excludes: boolean;
  readonly names: readonly string[];
  matches(path: string): boolean;
}

/** Lists the locations of the file for each provider, in order of precedence. */
export function listPlacesOfCodeOwners(provider: string): readonly string[] {
  const [root, docs] = ['CODEOWNERS', 'docs/CODEOWNERS'];
  if (provider === 'github') return ['.github/CODEOWNERS', root, docs];
  if (provider === 'gitlab') return [root, docs, '.gitlab/CODEOWNERS'];
  if (provider === 'gitea') return [root, docs, '.gitea/CODEOWNERS', '.forgejo/CODEOWNERS'];
  return ['.github/CODEOWNERS', '.gitlab/CODEOWNERS', '.gitea/CODEOWNERS', root, docs];
}

/**
 * Determines the dialect of a file: by the provider, or else by its folder, or else by whether it has
 * sections.
 */
export function detectCodeOwnersForm(
  provider: string,
  file: string,
  lines: readonly string[],
): CodeOwnersForm {
  const names =
    provider === 'github' || provider === 'gitlab' || provider === 'gitea'
      ? provider
      : /^\.(github|gitlab|gitea)\//.exec(file)?.[1];
  if (names !== undefined) return names as CodeOwnersForm;
  return lines.some((line) => SECTION.test(line)) ? 'gitlab' : 'github';
}

const SECTION = /^\^?\[([^\]]{1,200})\](?:\[\d{1,3}\])?(.*)$/;

/**
 * Reads a CODEOWNERS file as its host documents it: the last match wins (GitHub), in each section and with
 * exclusions (GitLab), or all matches count (Gitea). Invalid lines are left out and reported. Matching takes
 * linear time in the length of the path for each rule.
 */
export function parseCodeOwners(lines: readonly string[], form: CodeOwnersForm): CodeOwners {
  const rules: Rule[] = [];
  const problems: { line: number; why: string }[] = [];
  let [section, defaults]: [string, readonly string[]] = ['', []];
  for (const [at, raw] of lines.slice(0, MAX_LINES).entries()) {
    const text = raw.trim();
    const heading = form === 'gitlab' ? SECTION.exec(text) : null;
    if (heading?.[1] !== undefined) {
      section = heading[1].trim().toLowerCase();
      defaults = splitFields(heading[2] ?? '', form).flatMap((word) => parseOwner(word) ?? []);
    } else if (text !== '' && !text.startsWith('#')) {
      const rule =
        text.length > MAX_LINE
          ? `has more than ${MAX_LINE} characters`
          : parseRule(text, at + 1, section, defaults, form);
      if (typeof rule !== 'string') rules.push(rule);
      else if (problems.length < MAX_PROBLEMS) problems.push({ line: at + 1, why: rule });
    }
  }
  if (lines.length > MAX_LINES && problems.length < MAX_PROBLEMS)
    problems.push({ line: MAX_LINES + 1, why: `only the first ${MAX_LINES} lines are read` });
  return { problems, findOwners: (path) => findOwners(rules, path.slice(0, MAX_LINE), form) };
}

function findOwners(
  rules: readonly Rule[],
  path: string,
  form: CodeOwnersForm,
): ReturnType<CodeOwners['findOwners']> {
  if (form === 'github') return toOwners(rules.findLast((rule) => rule.matches(path)));
  const matching = rules.filter((rule) => rule.matches(path));
  const excluded = new Set(
    matching.filter(({ excludes }) => excludes && form === 'gitlab').map(({ section }) => section),
  );
  const counted = form === 'gitea' ? matching : matching.filter(({ section }) => !excluded.has(section));
  const last =
    form === 'gitea' ? counted : [...new Map(counted.map((rule) => [rule.section, rule])).values()];
  const names = [...new Set(last.flatMap((rule) => rule.names))].slice(0, MAX_OWNERS);
  return toOwners(
    last.find((rule) => rule.names.length > 0),
    names,
  );
}

function toOwners(rule: Rule | undefined, names = rule?.names): ReturnType<CodeOwners['findOwners']> {
  return rule === undefined || names === undefined || names.length === 0 ? null : { names, line: rule.line };
}

/** Returns a rule, or the problem with its line. */
function parseRule(
  text: string,
  line: number,
  section: string,
  defaults: readonly string[],
  form: CodeOwnersForm,
): Rule | string {
  const [pattern = '', ...words] = splitFields(text, form);
  const named = words.map(parseOwner);
  const wrong = words.find((_, at) => named[at] === null);
  if (wrong !== undefined && form !== 'gitlab')
    return `“${wrong.slice(0, 100)}” is neither @name, @team nor an e-mail address`;
  const owners = named.filter((name) => name !== null).slice(0, MAX_OWNERS);
  const excludes = form !== 'github' && pattern.startsWith('!');
  const rule = { line, section, excludes, names: owners.length === 0 && !excludes ? defaults : owners };
  if (form === 'gitea') {
    const regex = compileRulePattern(
      `^(?:${(excludes ? pattern.slice(1) : pattern).replaceAll(/\\([# \\])/g, '$1')})$`,
    );
    if ('refused' in regex) return regex.refused;
    return { ...rule, matches: (path) => (regex.matchedLine(path) !== null) !== excludes };
  }
  if (form === 'github' && /^(?:!|\\#)|\[/.test(pattern))
    return 'GitHub does not support “!”, “\\#” or “[ ]” in a pattern';
  const glob = parseGlob(excludes ? pattern.slice(1) : pattern, form);
  return { ...rule, matches: (path) => matchesGlob(glob, path) };
}

/** Splits a line at unescaped blanks. A comment may follow the fields, except in GitLab's dialect. */
function splitFields(text: string, form: CodeOwnersForm): string[] {
  const fields: string[] = [];
  let word = '';
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '\\') word += text.slice(at, ++at + 1);
    else if (sign === '#' && word === '' && form !== 'gitlab') break;
    else if (sign !== ' ' && sign !== '\t') word += sign;
    else if (word !== '') {
      fields.push(word);
      word = '';
    }
  }
  return word === '' ? fields : [...fields, word];
}

/** Returns an owner in its stored form; of an e-mail address, only the part before the @. */
function parseOwner(word: string): string | null {
  if (word.startsWith('@')) return /^@{1,2}[\w./-]{1,200}$/.test(word) ? word : null;
  return /^([^@\s]{1,100})@[^@\s]{1,200}$/.exec(word)?.[1] ?? null;
}

/**
 * An element of a pattern. `folders`: any number of whole folders; `name`: any part of one name; `one`: one
 * character of it; `rest`: everything that follows.
 */
type Atom = { readonly sign: string } | 'folders' | 'name' | 'one' | 'rest';
interface Glob {
  readonly atoms: readonly Atom[];
  /** True if a match may be a folder, which then includes everything below it. */
  readonly tree: boolean;
}

function parseGlob(pattern: string, form: 'github' | 'gitlab'): Glob {
  const inside = pattern.slice(0, -1).includes('/');
  const anchored = pattern.startsWith('/') || (form === 'github' && inside);
  const text = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  const atoms: Atom[] = anchored ? [] : ['folders'];
  for (let at = 0; at < text.length; at += 1) {
    const begins = at === 0 || text[at - 1] === '/';
    if (text[at] === '\\' && at + 1 < text.length) atoms.push({ sign: text.charAt(++at) });
    else if (begins && text.startsWith('**/', at)) {
      atoms.push('folders');
      at += 2;
    } else if (begins && text.slice(at) === '**') {
      atoms.push('rest');
      at += 1;
    } else if (text[at] === '*') atoms.push('name');
    else if (text[at] === '?') atoms.push('one');
    else atoms.push({ sign: text.charAt(at) });
  }
  if (text.endsWith('/')) atoms.push('rest');
  return { atoms, tree: form === 'github' && !text.endsWith('/*') };
}

/** Follows all ways through the pattern at once: steps at most the path's length times the pattern's. */
function matchesGlob({ atoms, tree }: Glob, path: string): boolean {
  let states = expandStates(atoms, [0], true);
  for (let at = 0; at < path.length && states.length > 0; at += 1) {
    const sign = path.charAt(at);
    if (tree && sign === '/' && states.includes(atoms.length)) return true;
    const next = states.flatMap((state) => {
      const atom = atoms[state];
      if (atom === undefined) return [];
      if (atom === 'folders' || atom === 'rest') return [state];
      if (atom === 'name' || atom === 'one') return sign === '/' ? [] : [atom === 'name' ? state : state + 1];
      return atom.sign === sign ? [state + 1] : [];
    });
    states = expandStates(atoms, next, sign === '/');
  }
  return states.includes(atoms.length);
}

/**
 * Adds the states that can be reached without a character. A `folders` atom may be skipped only at the
 * beginning of a name.
 */
function expandStates(atoms: readonly Atom[], states: readonly number[], begins: boolean): number[] {
  const all = new Set<number>();
  for (let state of states) {
    all.add(state);
    for (
      ;
      atoms[state] === 'name' || atoms[state] === 'rest' || (begins && atoms[state] === 'folders');
      state += 1
    )
      all.add(state + 1);
  }
  return [...all];
}
