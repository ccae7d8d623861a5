import { z } from 'zod';

const ROLES = ['ingest', 'read', 'review', 'admin'] as const;

/** One or more roles, as "read+review". */
const RoleList = z
  .string()
  .transform((text) => text.split('+').map((role) => role.trim()))
  .pipe(z.array(z.enum(ROLES, { error: `must be roles joined by "+": ${ROLES.join(', ')}` })).min(1));

/** Signing in to the pages by OpenID Connect. Without an issuer there are tokens only. */
export const OpenIdConfig = z
  .object({
    issuer: z.url({ protocol: /^https?$/ }).nullable(),
    clientId: z.string().min(1).nullable(),
    clientSecret: z.string().min(1).nullable(),
    /** The claim that lists somebody's groups. */
    groupsClaim: z.string().min(1).max(100),
    /** Group → roles; the group "*" is everybody whom the issuer signs in. */
    roles: z.record(z.string(), RoleList),
  })
  .refine(({ issuer, clientId }) => issuer === null || clientId !== null, {
    path: ['clientId'],
    error: 'is not set, but the issuer needs it',
  })
  .refine(({ issuer, roles }) => issuer === null || Object.keys(roles).length > 0, {
    path: ['roles'],
    error: 'is not set, so nobody who signs in would have any permissions',
  });
export type OpenIdConfig = z.infer<typeof OpenIdConfig>;

export const NO_OPENID = { issuer: null, clientId: null, clientSecret: null, groupsClaim: 'groups', roles: {} };
