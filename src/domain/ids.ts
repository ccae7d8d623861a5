import { randomBytes } from 'node:crypto';

export type IdPrefix =
  | 'bld'
  | 'fal'
  | 'tri'
  | 'ana'
  | 'rev'
  | 'dec'
  | 'bat'
  | 'lib'
  | 'rul'
  | 'cal'
  | 'doc'
  | 'dlv'
  | 'job'
  | 'thr'
  | 'ses'
  | 'tok'
  | 'exp'
  | 'ntr'
  | 'ntm';

/**
 * Creates an id such as `ana_01jd…`: prefix, 8 base-36 characters of time in milliseconds (so that ids sort
 * by age), and 80 random bits.
 */
export function createId(prefix: IdPrefix, now: number = Date.now()): string {
  const time = now.toString(36).padStart(9, '0');
  return `${prefix}_${time}${randomBytes(10).toString('hex')}`;
}
