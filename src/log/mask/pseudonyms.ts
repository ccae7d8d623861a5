export interface PseudonymOptions {
  readonly emails: boolean;
  /** Private addresses, and host names under endings that no public name has. */
  readonly hosts: boolean;
  /** Further endings of private host names, such as `.corp.example.com`. */
  readonly hostSuffixes?: readonly string[];
  /** False: all are called `<EMAIL>` and `<HOST>`, and nothing can be put back. By default they are numbered. */
  readonly numbered?: boolean;
}

/** Numbered names for e-mail addresses and private hosts, the same for the same one as long as this object lives. */
export interface Pseudonyms {
  /** Puts `<EMAIL_1>`, `<HOST_1>` … in their place. Lines stay; hiding twice is hiding once. */
  hide(text: string): string;
  /** The names put back, for whoever may see them. Never for a model, a store or a comment. */
  reveal(text: string): string;
}

const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,5}\.[A-Za-z]{2,24}(?![\w-]|\.\w)/g;
/** `git@host:path` and `noreply@` of code hosts name a service and no person. */
const SERVICE = /^(?:git|noreply|no-reply|hg|svn|root)@/i;
const PRIVATE_V4 =
  /(?<![\w.-])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2}|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d{1,3}){2})(?![\w-]|\.\d)/g;
const PRIVATE_V6 = /(?<![\w:.])f(?:[cd][0-9a-f]{2}|e[89ab][0-9a-f])(?::[0-9a-f]{0,4}){2,7}(?![\w:])/gi;
const PRIVATE_ENDINGS = ['local', 'internal', 'intranet', 'intra', 'lan', 'corp', 'private', 'localdomain', 'home.arpa'];
const NAMED = /<(EMAIL|HOST)_(\d{1,6})>/g;
/** Names given in one run; a hostile log could hold any number. What comes after them is all called the same. */
const MAX_NAMES = 10_000;
/** A name that was put in may uncover what ran into it, as in `fe80::1x.local`: the text is looked through again while that happens. */
const MAX_ROUNDS = 4;

/** For one run: the table lives in this object alone, and is never stored or sent. */
export function createPseudonyms(options: PseudonymOptions): Pseudonyms {
  const names = new Map<string, string>();
  const values = new Map<string, string>();
  const taken = new Set<string>();
  const counts = { EMAIL: 0, HOST: 0 };
  const nameOf = (kind: keyof typeof counts, value: string): string => {
    const key = value.toLowerCase();
    const known = names.get(key);
    if (known !== undefined) return known;
    if (options.numbered === false || names.size >= MAX_NAMES) return `<${kind}>`;
    do counts[kind]++;
    while (taken.has(`<${kind}_${counts[kind]}>`));
    const name = `<${kind}_${counts[kind]}>`;
    names.set(key, name);
    values.set(name, value);
    return name;
  };
  const hostName = hostPattern(options.hostSuffixes ?? []);
  const hideOnce = (text: string): string => {
    let hidden = text;
    if (options.emails && text.includes('@'))
      hidden = hidden.replace(EMAIL, (email) => (SERVICE.test(email) ? email : nameOf('EMAIL', email)));
    if (!options.hosts) return hidden;
    return hidden
      .replace(PRIVATE_V4, (address) => (isAddress(address) ? nameOf('HOST', address) : address))
      .replace(PRIVATE_V6, (address) => nameOf('HOST', address))
      .replace(hostName, (host) => nameOf('HOST', host));
  };
  return {
    hide: (text) => {
      // A text that says <HOST_1> itself must not come back with somebody's host in it.
      for (const [name] of text.matchAll(NAMED)) if (!values.has(name)) taken.add(name);
      let hidden = text;
      for (let round = 0, before = ''; round < MAX_ROUNDS && hidden !== before; round++) {
        before = hidden;
        hidden = hideOnce(before);
      }
      return hidden;
    },
    reveal: (text) => text.replace(NAMED, (name) => values.get(name) ?? name),
  };
}

function isAddress(text: string): boolean {
  return text.split('.').every((part) => Number(part) <= 255);
}

function hostPattern(suffixes: readonly string[]): RegExp {
  const endings = [...PRIVATE_ENDINGS, ...suffixes.map((suffix) => suffix.replace(/^\.+/, ''))].filter((ending) => ending !== '');
  const any = endings.map((ending) => ending.replace(/[^A-Za-z0-9]/g, '\\$&')).join('|');
  return new RegExp(`(?<![\\w.@/-])[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\\.[A-Za-z0-9-]{1,63}){0,4}?\\.(?:${any})(?![\\w-]|\\.\\w|\\()`, 'gi');
}
