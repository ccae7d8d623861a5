import { createPrivateKey, createPublicKey } from 'node:crypto';
import { z } from 'zod';
import { apiAddress, credential, flag, setting, webhookSecrets } from '../../config/variable.ts';

/** A GitHub App as configured. */
const GithubAppConfig = z.object({
  /** Its number or its client id, as its settings show them. */
  id: setting(
    'FAULTLINE_GITHUB_APP_ID',
    z.string('is not set').regex(/^(?:\d{1,20}|Iv[\w.]{8,60})$/, "must be the App's number or its client ID, which begins with Iv"),
    'Number or client ID of a GitHub App with read access to Actions, contents and pull requests. Takes precedence over the token.',
  ),
  privateKey: setting(
    'FAULTLINE_GITHUB_APP_KEY',
    z.string('is not set').transform((text, { issues }) => {
      const key = withLineEnds(text);
      const complaint = complaintAbout(key);
      if (complaint !== null) issues.push({ code: 'custom', message: complaint, input: '' });
      return key;
    }),
    'Private key of the App in PEM format, with real line breaks or \\n.',
    { secret: true },
  ),
});

/** GitHub: what it sends, where logs and code are read, and what is written there. */
export const GithubSettings = z.object({
  webhookSecrets: webhookSecrets(
    'FAULTLINE_GITHUB_WEBHOOK_SECRET',
    'GitHub webhook secret. Two secrets, separated by a comma, during rotation.',
  ),
  /** Of the REST API; what people see in the browser becomes it. */
  baseUrl: setting(
    'FAULTLINE_GITHUB_URL',
    apiAddress(githubApiAddress).default('https://api.github.com'),
    'URL of GitHub or its API: https://ghe.example.com and https://ghe.example.com/api/v3 mean the same.',
  ),
  token: credential('FAULTLINE_GITHUB_TOKEN', 'Token that can read Actions logs and, for suspects from code, contents and pull requests.'),
  /** Asked before the token, which serves repositories on which the App is not installed. */
  app: GithubAppConfig.nullable().default(null),
  /** Written with the App or the token. */
  comment: flag(
    'FAULTLINE_GITHUB_COMMENT',
    'Set to true to post one comment on each pull request with a failed build and keep it up to date. The token or App needs write access to pull requests.',
  ),
  commentMode: setting(
    'FAULTLINE_GITHUB_COMMENT_MODE',
    z.enum(['edit', 'recreate']).default('edit'),
    'How the comment is updated. With edit, it stays in place and GitHub notifies nobody; with recreate, it is deleted and posted again.',
  ),
  check: flag(
    'FAULTLINE_GITHUB_CHECK',
    "Set to true to create a check run named Faultline for each failed build, always neutral, with annotations in the pull request's files. Requires a GitHub App with write access to checks.",
  ),
  status: flag(
    'FAULTLINE_GITHUB_STATUS',
    'Set to true to set a commit status on each commit with a failed build. The token or App needs write access to commit statuses.',
  ),
});
export type GithubSettings = z.infer<typeof GithubSettings>;

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
/** What people copy from a browser, or from the page about the other API. */
const ENTERPRISE_PATH = /^\/(?:api(?:\/v3|\/graphql)?\/?)?$/;

/**
 * The address of GitHub's REST API, from that or from what people see in the browser: github.com, an Enterprise server
 * (`https://host/api/v3`) or a tenant of ghe.com (`https://api.tenant.ghe.com`). A loopback address and one with a path of its
 * own, such as a proxy's, stay as they are. Without a slash at the end. Throws a TypeError where it is no address.
 */
export function githubApiAddress(text: string): string {
  const url = new URL(text);
  const { hostname, pathname } = url;
  const own = `${url.origin}${pathname.replace(/\/$/, '')}`;
  if (LOOPBACK.test(hostname)) return own;
  if (/^(?:www\.|api\.)?github\.com$/.test(hostname)) return 'https://api.github.com';
  if (/^[a-z0-9-]{1,63}\.ghe\.com$/.test(hostname)) return `https://api.${hostname}`;
  if (/^api\.[a-z0-9-]{1,63}\.ghe\.com$/.test(hostname)) return `https://${hostname}`;
  return ENTERPRISE_PATH.test(pathname) ? `${url.origin}/api/v3` : own;
}

/** PEM as it was before somebody put it on one line. */
function withLineEnds(text: string): string {
  return text.replaceAll('\\r', '').replaceAll('\\n', '\n').replaceAll('\r', '').trim();
}

const FILE = 'name the downloaded .pem file in FAULTLINE_GITHUB_APP_KEY_FILE';

/** What is wrong with a key, and how to mend it; never a part of it. Null: nothing. */
function complaintAbout(key: string): string | null {
  if (!key.startsWith('-----BEGIN ')) return `is not a PEM private key, which begins with -----BEGIN; ${FILE}`;
  if (/^-----BEGIN [A-Z ]{0,20}PUBLIC KEY-----/.test(key)) return 'is a public key; set the private key (.pem file) downloaded from GitHub';
  if (key.includes('ENCRYPTED')) return 'is protected by a passphrase; set the key as downloaded from GitHub';
  if (key.includes('OPENSSH')) return 'is an OpenSSH key; set the .pem file downloaded from GitHub';
  if (!key.includes('-----END ')) return `is cut off: write its line breaks as \\n, or ${FILE}`;
  try {
    const { asymmetricKeyType } = createPrivateKey(key);
    // What signs nothing would only be found out by the first build.
    createPublicKey(key);
    return asymmetricKeyType === 'rsa' ? null : `is a key of type ${asymmetricKeyType}; GitHub Apps use RSA keys`;
  } catch {
    return `is damaged; ${FILE}`;
  }
}
