import { isTestClass } from './jvm-classes.ts';

/** Bolder guesses than the twin at what a test file tests, by its name alone; at most two, the likelier first. */
export function guessesOf(file: string, twin: string | null): string[] {
  return (file.endsWith('.py') ? moduleGuesses(file) : classGuesses(twin ?? file)).slice(0, 2);
}

/** `test_utils_gz.py` tests `utils/gz.py` where tests lie flat, or `utils.py`; the package `test_settings` tests `settings`. */
function moduleGuesses(file: string): string[] {
  const name = /(?:^|[\\/])test_([a-z0-9_]{2,120})(?:\.py|[\\/]__init__\.py)$/.exec(file)?.[1];
  if (name === undefined) return [];
  const packaged = file.endsWith('__init__.py');
  const at = name.lastIndexOf('_');
  if (at < 2 || at === name.length - 1) return packaged ? [`${name}/__init__.py`, `${name}.py`] : [];
  return [`${name.slice(0, at)}/${name.slice(at + 1)}.py`, packaged ? `${name}.py` : `${name.slice(0, at)}.py`];
}

/** The name without a ticket's number, and the longest part of it that ends as classes usually do. */
function classGuesses(path: string): string[] {
  const [, folder = '', name = '', extension = ''] = /^(.*\/)?([A-Z][A-Za-z0-9]{1,120})(\.(?:java|kt|scala|groovy|cs))$/.exec(path) ?? [];
  const whole = name.replace(/(?:Bug|Issue|Jira)?\d{2,7}$/, '');
  const role = ROLE.exec(whole.slice(0, -1))?.[0];
  const shorter = [whole, role].filter((one) => one !== undefined && one.length > 3 && one !== name && !isTestClass(one));
  return [...new Set(shorter)].map((one) => `${folder}${one}${extension}`);
}

/** What classes are usually called by at their end, with another word behind it. */
const ROLE =
  /^[A-Z]\w{0,80}(?:Utils?|Helper|Builder|Factory|Parser|Reader|Writer|Formatter|Converter|Handler|Manager|Service|Controller|Repository|Provider|Client|Server|Serializer|Deserializer|Mapper|Validator|Resolver|Generator|Processor|Iterator|Buffer|Cache|Registry|Engine|Compiler|Loader|Scanner)(?=[A-Z0-9])/;
