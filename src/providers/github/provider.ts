import type { Build } from '../../domain/build.ts';
import { buildRule, commentRule, isOfCommit, statusRule } from '../notice-rules.ts';
import type { Provider, ProviderChannel } from '../provider.ts';
import { examineGithub, githubHealth } from './doctor.ts';
import type { GithubSettings } from './settings.ts';
import { githubWebhook } from './webhook.ts';

/** GitHub and GitHub Enterprise: Actions, code, comments, checks and commit statuses; as an App where it is installed, else with a token. */
export function githubProvider(settings: GithubSettings): Provider {
  const { baseUrl, token, app, webhookSecrets } = settings;
  const credentials = { baseUrl, token, app };
  return {
    name: 'github',
    webhook: githubWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token]), ...keyLines(app?.privateKey)],
    connection: async () => (await import('./connection.ts')).githubConnection(settings),
    openBuildSource: async (options) => (await import('./build-source.ts')).createGithubBuildSource({ ...credentials, ...options }),
    openPastRuns: async (options) => (await import('./past-runs.ts')).createGithubPastRuns({ ...credentials, ...options }),
    code: {
      configured: token !== null || app !== null,
      baseUrl,
      open: async (options) => (await import('./code-host.ts')).createGithubHost({ ...credentials, ...options }),
    },
    channels: channelsOf(settings),
    health: githubHealth(settings),
    examine: (context) => examineGithub(settings, context),
  };
}

/** Line by line, without the frame that every key has alike: line ends are also written `\\n`. */
function keyLines(pem: string | undefined): readonly string[] {
  return (pem ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
}

/** A repository as GitHub names it; a Jenkins job may be called anything. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/;
/** What Jenkins builds, or somebody uploads, may lie on GitHub too. */
const BUILT_BY: readonly Build['provider'][] = ['github', 'jenkins', 'upload'];
const isOfOurs = ({ repository, provider }: Build) => BUILT_BY.includes(provider) && NAME.test(repository);
/** How the tokens of GitHub Apps and of Actions begin. */
const INSTALLATION_TOKEN = 'ghs_';

function channelsOf(settings: GithubSettings): ProviderChannel[] {
  const { baseUrl, token, app, comment, commentMode: mode, check, status } = settings;
  const credentials = { baseUrl, token, app };
  const isApp = app !== null || token?.startsWith(INSTALLATION_TOKEN) === true;
  const isSomebody = isApp || token !== null;
  const nobody = 'no token or App is configured to write it';
  const channels: ProviderChannel[] = [];
  if (comment) {
    const rule = commentRule({ channel: 'github-comment', isOfOurs });
    const open: ProviderChannel['open'] = async ({ logger, publicUrl }) => {
      const { createGithubCommentClient } = await import('./notices.ts');
      return (await import('../notice-channels.ts')).commentChannel(
        rule,
        createGithubCommentClient({ ...credentials, logger, mode }),
        publicUrl,
      );
    };
    channels.push(isSomebody ? { rule, open } : { rule, open: null, because: nobody });
  }
  if (check) {
    const rule = buildRule({ channel: 'github-check', isOfOurs: (build) => isOfCommit(build) && isOfOurs(build) });
    const open: ProviderChannel['open'] = async ({ logger, publicUrl }) => {
      const { createGithubCheckClient } = await import('./check.ts');
      return (await import('../notice-channels.ts')).checkChannel(rule, createGithubCheckClient({ ...credentials, logger }), publicUrl);
    };
    channels.push(isApp ? { rule, open } : { rule, open: null, because: isSomebody ? 'only GitHub Apps can write checks' : nobody });
  }
  if (status) {
    const rule = statusRule({ channel: 'github-status', isOfOurs });
    const open: ProviderChannel['open'] = async ({ logger, publicUrl }) => {
      const { createGithubStatusClient } = await import('./notices.ts');
      return (await import('../notice-channels.ts')).statusChannel(rule, createGithubStatusClient({ ...credentials, logger }), publicUrl);
    };
    channels.push(isSomebody ? { rule, open } : { rule, open: null, because: nobody });
  }
  return channels;
}
