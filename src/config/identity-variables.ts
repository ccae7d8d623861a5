import type { Variable } from './variable.ts';

/** Who may sign in to the pages without a token. */
export const IDENTITY_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_OIDC_ISSUER',
    path: 'auth.openId.issuer',
    type: 'text',
    meaning: 'OpenID Connect issuer that signs people in to the pages, as https://id.example.com.',
  },
  {
    name: 'FAULTLINE_OIDC_CLIENT_ID',
    path: 'auth.openId.clientId',
    type: 'text',
    meaning: 'Client id there; its callback is <address of Faultline>/sign-in/openid/callback.',
  },
  {
    name: 'FAULTLINE_OIDC_CLIENT_SECRET',
    path: 'auth.openId.clientSecret',
    type: 'text',
    secret: true,
    meaning: 'Its secret; without one the client is public, with PKCE alone.',
  },
  {
    name: 'FAULTLINE_OIDC_GROUPS_CLAIM',
    path: 'auth.openId.groupsClaim',
    type: 'text',
    meaning: "The claim of the ID token that lists somebody's groups.",
  },
  {
    name: 'FAULTLINE_OIDC_ROLES',
    path: 'auth.openId.roles',
    type: 'pairs',
    meaning: 'Roles of groups, as ci-team=read+review,platform=admin; the group * is everybody whom the issuer signs in.',
  },
];
