import { randomBytes } from 'node:crypto';
import { createMaskingOptions } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import { createMasker } from '../../log/mask/mask.ts';
import type { Finding } from '../../ports/health.ts';
import type { Connection } from '../../providers/connection.ts';
import { createProviders } from '../../providers/registry.ts';
import {
  type Connectable,
  connect,
  findProvider,
  getWebhookAddress,
  MADE_SECRETS,
} from '../../service/connect.ts';
import {
  type DataOptions,
  findSecrets,
  getDataDirectory,
  readConfig,
  readServedConfig,
} from '../settings.ts';
import { EXIT, formatJson, print } from '../terminal.ts';
import { renderFinding, toFindingJson } from './doctor.ts';

export interface ConnectOptions extends DataOptions {
  readonly repository?: string;
  /** The URL of this service for the provider. */
  readonly url?: string;
  readonly newSecret?: boolean;
  readonly create?: boolean;
  readonly test?: boolean;
}

/**
 * Runs `faultline connect PROVIDER`: shows what to configure on both sides, and on request configures and
 * tests it. Exits with 4 if something is wrong.
 */
export async function runConnect(name: string, options: ConnectOptions): Promise<void> {
  const { config, isMade } = readConfigured(options, name);
  const provider = findProvider(createProviders(config.providers), name);
  const publicUrl = options.url ?? config.http.publicUrl;
  const address = publicUrl === null ? null : getWebhookAddress(provider, publicUrl);
  const made = options.newSecret === true ? `whs_${randomBytes(24).toString('base64url')}` : null;
  const secret = made ?? provider.webhook.secrets[0] ?? null;
  const plan: Plan = {
    connection: await provider.connection(),
    provider,
    address,
    shownSecret: made ?? (isMade ? secret : null),
    isNew: made !== null,
  };
  if (!options.json) await print(guide(plan));
  const { repository = null, create = false, test = false } = options;
  const findings: Finding[] = [];
  const masker = createMasker(createMaskingOptions(config));
  for await (const found of connect(
    provider,
    { repository, address, secret, create, test },
    AbortSignal.timeout(LIMIT_MS),
  )) {
    const finding = { ...found, says: (await masker.mask(found.says)).text };
    findings.push(finding);
    if (!options.json) await print(renderFinding(finding));
  }
  const isWell = findings.every(({ state }) => state !== 'wrong');
  if (!isWell) process.exitCode = EXIT.refused;
  if (options.json)
    await print(
      formatJson({
        ok: isWell,
        provider: name,
        ...createConnectFacts(plan),
        findings: findings.map(toFindingJson),
      }),
    );
}

const LIMIT_MS = 120_000;

/**
 * Reads the configuration. `isMade` is true if the webhook secret comes from the data directory, because none
 * is configured. The default directory gets no secret here, because the service may use another one.
 */
function readConfigured(
  { data }: DataOptions,
  name: string,
): { readonly config: Config; readonly isMade: boolean } {
  const dataDir = getDataDirectory(data);
  const config = readConfig(dataDir);
  const given = Object.entries(config.providers).some(
    ([provider, { webhookSecrets }]) => provider === name && webhookSecrets.length > 0,
  );
  const isNamed = data !== undefined || process.env.FAULTLINE_DATA_DIR !== undefined;
  const isServed = isNamed || findSecrets(dataDir) !== null;
  if (given || !MADE_SECRETS.includes(name) || config.database.driver !== 'pglite' || !isServed)
    return { config, isMade: false };
  return { config: readServedConfig(dataDir).config, isMade: true };
}

interface Plan {
  readonly connection: Connection;
  readonly provider: Connectable;
  readonly address: string | null;
  /** The secret to show; null if the operator knows it, or there is none. */
  readonly shownSecret: string | null;
  readonly isNew: boolean;
}

function createConnectFacts({ connection, provider, address, shownSecret }: Plan) {
  const { events, secretSetting, tokenSetting, rights, steps, page } = connection;
  const secret = shownSecret === null ? {} : { secret: shownSecret };
  return {
    webhook: { address, contentType: provider.webhook.accepts[0], events, secretSetting, ...secret },
    tokenSetting,
    rights,
    clicks: steps,
    page,
  };
}

function guide(plan: Plan): string {
  const { connection, provider, address, isNew } = plan;
  const { label, page, events, rights, steps, secretSetting, tokenSetting } = connection;
  return [
    `${label} (${page})`,
    '',
    'Webhook',
    `  address  ${address ?? `https://YOUR-FAULTLINE${provider.webhook.path}  (pass --url, or set FAULTLINE_PUBLIC_URL)`}`,
    `  secret   ${formatSecretLine(plan)}`,
    `  content  ${provider.webhook.accepts[0]}`,
    `  events   ${events.join(', ')}`,
    ...(isNew
      ? [
          `  Set ${secretSetting} to this secret and restart the service. ` +
            'While the old one is in use: new,old.',
        ]
      : []),
    '',
    'because' in connection.hooks ? 'Setup' : 'Setup by hand (--create does it for you)',
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
    '',
    `Permissions that the token in ${tokenSetting} needs`,
    ...rights.map(({ right, why }) => `  ${right}: ${why}`),
    '',
  ].join('\n');
}

function formatSecretLine({ shownSecret, provider, connection: { secretSetting } }: Plan): string {
  if (shownSecret !== null) return shownSecret;
  if (provider.webhook.secrets.length > 0) return `the value of ${secretSetting}`;
  const made = MADE_SECRETS.includes(provider.name)
    ? '; or pass the data directory of the service with --data'
    : '';
  return `none yet; --new-secret creates one for ${secretSetting}${made}`;
}
