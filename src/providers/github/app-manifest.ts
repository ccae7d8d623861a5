import { z } from 'zod';
import { type AppRegistration, CONNECT_MS } from '../connection.ts';
import { buildPath, createRestClient } from '../rest-client.ts';

/** GitHub's limit for the name of an App. */
const MAX_NAME = 34;
const MAX_REPLY_BYTES = 1024 * 1024;

/** The fields of a new App that we use. */
const NewApp = z.object({
  id: z.int().positive(),
  name: z.string(),
  html_url: z.url({ protocol: /^https?$/ }),
  pem: z.string().startsWith('-----BEGIN '),
  webhook_secret: z.string().min(8),
});

/**
 * Registers a GitHub App by a manifest: the browser posts it to GitHub, a person confirms it there, and
 * GitHub sends them back with a code for the App's credentials. The App may do what FAULTLINE_GITHUB_WRITES
 * asks for.
 */
export function createAppRegistration({
  baseUrl,
  siteUrl,
  writes,
  events,
}: {
  readonly baseUrl: string;
  readonly siteUrl: string;
  readonly writes: readonly string[];
  readonly events: readonly string[];
}): Omit<AppRegistration, 'isConfigured'> {
  const may = (write: string) => (writes.includes(write) ? 'write' : undefined);
  const permissions = {
    actions: may('rerun') ?? 'read',
    checks: may('check'),
    contents: 'read',
    metadata: 'read',
    pull_requests: may('comment') ?? 'read',
    statuses: may('status'),
  };
  return {
    permissions: Object.entries(permissions).flatMap(([name, level]) =>
      level === undefined ? [] : `${name}: ${level}`,
    ),
    describe: ({ publicUrl, webhook, returnTo, organization }) => ({
      address: `${siteUrl}${toOwnerPath(organization)}/settings/apps/new`,
      manifest: {
        name: `Faultline ${new URL(publicUrl).hostname}`.slice(0, MAX_NAME).trim(),
        url: publicUrl,
        hook_attributes: { url: webhook, active: true },
        redirect_url: returnTo,
        public: false,
        default_permissions: permissions,
        default_events: events,
      },
    }),
    redeem: async (code, signal) => {
      const client = createRestClient({
        label: 'GitHub',
        baseUrl,
        headers: { accept: 'application/vnd.github+json' },
        tokenSetting: 'FAULTLINE_GITHUB_TOKEN',
        timeoutMs: CONNECT_MS,
      });
      const made = await client.send(NewApp, {
        method: 'POST',
        path: buildPath`/app-manifests/${code}/conversions`,
        what: 'the credentials of the new App',
        right: 'a code that is younger than an hour and was not used before',
        maxBytes: MAX_REPLY_BYTES,
        signal,
      });
      return {
        name: made.name,
        installAt: `${made.html_url}/installations/new`,
        settings: {
          FAULTLINE_GITHUB_APP_ID: String(made.id),
          FAULTLINE_GITHUB_APP_KEY: made.pem,
          FAULTLINE_GITHUB_WEBHOOK_SECRET: made.webhook_secret,
        },
      };
    },
  };
}

function toOwnerPath(organization: string | null): string {
  return organization === null ? '' : buildPath`/organizations/${organization}`;
}
