import { isPlaceholder, looksSecret } from './judge.ts';
import type { Span } from './span.ts';

export const HEADER_LITERALS: readonly string[] = ['authorization', 'bearer', 'cookie'];
export const ADDRESS_LITERALS: readonly string[] = ['://', ':\\/\\/', 'jdbc:oracle'];

const AUTHORIZATION =
  /\b(?:(?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:basic|bearer|token|apikey|negotiate|digest)\s{1,3})?|(?:authorization["']?\s{0,3}[:=]\s{0,3}["']?)?bearer\s{1,3})([\w+/=.~-]{8,8192})/gi;
const BASIC = /\bbasic\s{1,3}$/i;

/** The credentials in `Authorization: Bearer …` and the like, and the values in `Cookie` and `Set-Cookie` that look random. */
export function findHeaders(line: string): Span[] {
  const spans: Span[] = [];
  for (const { 0: whole, 1: value = '', index } of line.matchAll(AUTHORIZATION)) {
    const to = index + whole.length;
    const isBasic = BASIC.test(whole.slice(0, -value.length)) && value.length >= 8 && holdsPair(value);
    if (isBasic || (!isPlaceholder(value) && looksSecret(value))) spans.push({ from: to - value.length, to });
  }
  return [...spans, ...findCookies(line)];
}

/** Base64 of `user:password`. */
export function holdsPair(value: string): boolean {
  if (!/^[A-Za-z0-9+/]{4,4096}={0,2}$/.test(value)) return false;
  return /^[\x21-\x7e]{0,200}:[\x20-\x7e]{1,2000}$/.test(Buffer.from(value, 'base64').toString('latin1'));
}

const COOKIE = /\b(?:set-)?cookie["']?\s{0,3}[:=]\s{0,3}["']?/gi;
const PAIR = /([\w.-]{1,100})=([^;\s"',]{8,4096})/g;

function findCookies(line: string): Span[] {
  const start = line.search(COOKIE);
  if (start === -1) return [];
  return Array.from(line.slice(start).matchAll(PAIR)).flatMap(({ 0: pair, 2: value = '', index }) => {
    const to = start + index + pair.length;
    return isPlaceholder(value) || !looksSecret(decoded(value)) ? [] : [{ from: to - value.length, to }];
  });
}

function decoded(value: string): string {
  return value.replace(/%[0-9a-f]{2}/gi, '+');
}

/** Longest part before a host: user, colon, password. */
const MAX_AUTHORITY = 2_000;
const END_OF_AUTHORITY = /[\s/"'<>`\\\u0000-\u001f]/;

/** `scheme://user:password@host`: the password, or the long token that stands alone in the place of both. */
export function findAddresses(line: string): Span[] {
  const spans: Span[] = [];
  for (let at = line.indexOf(':'); at !== -1; at = line.indexOf(':', at + 1)) {
    const slashes = line.startsWith('//', at + 1) ? 2 : line.startsWith('\\/\\/', at + 1) ? 4 : 0;
    if (slashes === 0) continue;
    const from = at + 1 + slashes;
    const near = line.slice(from, from + MAX_AUTHORITY);
    const end = near.search(END_OF_AUTHORITY);
    const userEnd = near.lastIndexOf('@', end === -1 ? near.length : end);
    if (userEnd > 0) spans.push(...inUser(near.slice(0, userEnd), from));
    at = from + Math.max(0, (end === -1 ? near.length : end) - 1);
  }
  return /jdbc:oracle/i.test(line) ? spans.concat(findOracle(line)) : spans;
}

function inUser(user: string, from: number): Span[] {
  const colon = user.indexOf(':');
  const name = colon === -1 ? user : user.slice(0, colon);
  const password = colon === -1 ? '' : user.slice(colon + 1);
  const nameIsToken = (password === '' || password === 'x-oauth-basic') && name.length >= 20 && !isPlaceholder(name) && looksSecret(name);
  if (nameIsToken) return [{ from, to: from + name.length }];
  if (password === '' || isPlaceholder(password)) return [];
  return [{ from: from + colon + 1, to: from + user.length }];
}

function findOracle(line: string): Span[] {
  return Array.from(
    line.matchAll(/\bjdbc:oracle:\w{1,10}:[\w$#.-]{1,100}\/([^\s@"'/]{1,200})@/gi),
    ({ 0: whole, 1: password = '', index }) => {
      const to = index + whole.length - 1;
      return isPlaceholder(password) ? { from: to, to } : { from: to - password.length, to };
    },
  );
}
