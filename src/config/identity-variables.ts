import type { Variable } from './variable.ts';

/** Who may sign in to the pages without a token. */
export const IDENTITY_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_OIDC_ISSUER',
    path: 'auth.openId.issuer',
    type: 'text',
    meaning: 'OpenID Connect issuer for console sign-in, for example https://id.example.com.',
  },
  {
    name: 'FAULTLINE_OIDC_CLIENT_ID',
    path: 'auth.openId.clientId',
    type: 'text',
    meaning: 'Client ID at the issuer. The callback URL is <address of Faultline>/sign-in/openid/callback.',
  },
  {
    name: 'FAULTLINE_OIDC_CLIENT_SECRET',
    path: 'auth.openId.clientSecret',
    type: 'text',
    secret: true,
    meaning: 'Client secret. Without it, the client is public and uses PKCE only.',
  },
  {
    name: 'FAULTLINE_OIDC_GROUPS_CLAIM',
    path: 'auth.openId.groupsClaim',
    type: 'text',
    meaning: "ID token claim that lists the user's groups.",
  },
  {
    name: 'FAULTLINE_OIDC_ROLES',
    path: 'auth.openId.roles',
    type: 'pairs',
    meaning: 'Roles per group, for example ci-team=read+review,platform=admin. The group * is everyone who can sign in.',
  },
];
