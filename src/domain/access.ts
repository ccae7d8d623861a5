import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import type { CiSystem } from './build.ts';
import { TriageError } from './errors.ts';
import { type Principal, Role } from './review.ts';

export const CHECKED = Symbol('checked');

/**
 * A method that answers only about repositories that its caller may see. Only the checks of src/api/scope.ts
 * create such methods.
 */
export type Checked<Method> = Method & { readonly [CHECKED]: true };

/** A store, or a service over stores, of which every method is checked. */
export type Scoped<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (...args: never) => unknown
    ? Checked<Store[Name]>
    : Store[Name];
};

/**
 * The access rule of a route, which the route itself declares. The server does not start if a route has none,
 * so that no route is open by accident. `open` needs a stated reason.
 */
export type RouteAccess =
  | { readonly role: Role }
  | { readonly signature: CiSystem | 'slack' }
  | { readonly open: string };

/**
 * Checks that a principal may submit data for a repository. Throws `forbidden` if the token is for other
 * repositories.
 */
export function requireInScope(principal: Principal | null, repository: string): void {
  if (principal === null || isInScope(principal.repositories, repository)) return;
  throw new TriageError(
    'forbidden',
    `The token "${principal.name}" does not give access to the repository ${repository}.`,
    {
      details: { principal: principal.name },
    },
  );
}

const PREFIX = 'flt_';
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The number of base-62 digits of the secret: 62 ^ 43 > 2 ^ 256. */
const SECRET_DIGITS = 43;
/** The number of base-62 digits of the checksum: 62 ^ 6 > 2 ^ 32. */
const CHECKSUM_DIGITS = 6;
const FORM = /^flt_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/**
 * The schema of a repository: `owner/name`, or `owner/*` for all repositories of an owner. Names of a Jenkins
 * installation are accepted unchanged.
 */
const RepositoryPattern = z
  .string()
  .trim()
  .regex(/^[^\s*\u0000]+(?:\/\*)?$/, 'must be owner/name or owner/*')
  .max(300);

/**
 * A token without its secret value, which is shown only once, when the token is created. Times are ISO 8601
 * in UTC.
 */
export const AccessToken = z.object({
  id: z.string(),
  name: z.string(),
  roles: z.array(Role),
  /** The repositories that it may access. Null means all. */
  repositories: z.array(z.string()).nullable(),
  createdBy: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  /** The ISO 8601 time of the last use, to the minute. Null if the token was never used. */
  lastUsedAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
});
export type AccessToken = z.infer<typeof AccessToken>;

/** The fields of a request to create a token. `checkNewToken` rejects combinations that are not allowed. */
export const NewToken = z.object({
  name: z
    .string()
    .trim()
    .regex(/^[\w.@-]{1,64}$/, 'must be 1 to 64 letters, digits, or any of . _ @ -'),
  roles: z.array(Role).min(1).max(4),
  repositories: z.array(RepositoryPattern).min(1).max(100).nullable().default(null),
  /** The number of days until it expires. Null means never. */
  expiresInDays: z.int().min(1).max(3650).nullable().default(null),
});
export type NewToken = z.infer<typeof NewToken>;

/**
 * Checks that the fields of a new token fit together. Throws `invalid-input` if they do not, and `conflict`
 * if the configuration already uses the name.
 */
export function checkNewToken(
  { name, roles, repositories }: NewToken,
  configuredNames: readonly string[],
): void {
  if (repositories !== null && roles.includes('admin')) {
    throw new TriageError(
      'invalid-input',
      'An admin may do everything, so an admin token cannot be limited to repositories. ' +
        'Leave out one or the other.',
    );
  }
  if (configuredNames.includes(name))
    throw new TriageError(
      'conflict',
      `FAULTLINE_TOKENS already has a token named ${name}. Choose another name.`,
    );
}

/**
 * Creates a token: a prefix that secret scanners know, 256 random bits, and a checksum that distinguishes a
 * mistyped token from an unknown one.
 */
export function makeToken(): string {
  const secret = formatDigits(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_DIGITS);
  return `${PREFIX}${secret}${computeChecksum(secret)}`;
}

/**
 * Returns true if the text has the form of a token and its checksum is correct. Does not check that the token
 * was ever issued.
 */
export function isTokenForm(text: string): boolean {
  const [, secret = '', checksum] = FORM.exec(text) ?? [];
  return checksum !== undefined && checksum === computeChecksum(secret);
}

/**
 * Returns the digest under which a token is stored. A token has 256 random bits, so a slow hash would add no
 * protection.
 */
export function digestOfToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * Returns true if one of the patterns covers the repository. Null or undefined means that all repositories
 * are in scope.
 */
export function isInScope(repositories: readonly string[] | null | undefined, repository: string): boolean {
  if (repositories === null || repositories === undefined) return true;
  return repositories.some((pattern) =>
    pattern.endsWith('/*') ? repository.startsWith(pattern.slice(0, -1)) : repository === pattern,
  );
}

function computeChecksum(secret: string): string {
  return formatDigits(BigInt(crc32(secret)), CHECKSUM_DIGITS);
}

function formatDigits(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = `${DIGITS[Number(rest % 62n)]}${text}`;
  return text.padStart(length, '0');
}

/** The URL schemes that editors register. No page can run a script or open a site through one of them. */
const EDITORS =
  'vscode|vscode-insiders|vscodium|cursor|windsurf|zed|idea|jetbrains|phpstorm|pycharm|webstorm|goland|rubymine|clion|rider|subl|txmt|mvim|emacs';

const EDITOR_ADDRESS = new RegExp(`^(?:${EDITORS})://[^\\s"'<>]*$`);

export const EditorTemplate = z
  .string()
  .trim()
  .max(300)
  .refine((text) => text === '' || (EDITOR_ADDRESS.test(text) && text.includes('{path}')), {
    message: `must begin with the scheme of an editor (${EDITORS.replaceAll('|', ', ')}) and contain {path}`,
  });

/**
 * The settings that a user chose for the console. Unknown fields from other versions are dropped; invalid
 * fields read as the default.
 */
export const Preferences = z.object({
  /** True if single keys act as shortcuts (WCAG 2.1.4 requires that they can be turned off). */
  keys: z.boolean().catch(true).default(true),
  theme: z.enum(['system', 'light', 'dark']).catch('system').default('system'),
  /** True if long lines of logs are wrapped. */
  wrap: z.boolean().catch(true).default(true),
  /** True if time stamps are shown in logs in which every line has one. */
  timestamps: z.boolean().catch(false).default(false),
  /**
   * The handles and teams that CODEOWNERS and commits use for the holder, in addition to the holder's name.
   */
  handles: z.array(z.string().max(200)).max(20).catch([]).default([]),
  /**
   * A URL that opens a file in the holder's editor, with the placeholders `{path}` and `{line}`. Empty if
   * there is none.
   */
  editor: EditorTemplate.catch('').default(''),
});
export type Preferences = z.infer<typeof Preferences>;

export const DEFAULT_PREFERENCES: Preferences = Preferences.parse({});
