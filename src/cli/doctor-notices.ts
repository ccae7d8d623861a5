import { noticeRulesOf } from '../app/open-notices.ts';
import type { Config } from '../config/schema.ts';
import { type Finding, note, ok } from './doctor-finding.ts';

const NAME = 'github notices';

/** What is to be said on GitHub and what of it can be, as far as the configuration tells. Nothing where nothing is asked for. */
export function noticeFindings(config: Config): Finding[] {
  const { comment, check, status } = config.publishers.github;
  const asked = [...(comment ? ['github-comment'] : []), ...(check ? ['github-check'] : []), ...(status ? ['github-status'] : [])];
  if (asked.length === 0) return [];
  const said = noticeRulesOf(config).map(({ channel }) => channel);
  const { app, token } = config.buildSource.github;
  if (app === null && token === null) {
    return [
      note(
        NAME,
        `${asked.join(', ')} enabled, but no token or App is configured to write them`,
        'set FAULTLINE_GITHUB_APP_ID and its key, or FAULTLINE_GITHUB_TOKEN',
      ),
    ];
  }
  const apps = check && !said.includes('github-check');
  return [
    ...(apps
      ? [note(NAME, 'github-check is off: only GitHub Apps can write checks', 'configure a GitHub App with write access to checks')]
      : []),
    ...(config.http.publicUrl === null ? [note(NAME, 'the texts have no links', 'set FAULTLINE_PUBLIC_URL')] : []),
    ...(said.some((channel) => asked.includes(channel)) ? [ok(NAME, said.filter((channel) => asked.includes(channel)).join(', '))] : []),
  ];
}
