import { probeGithubApp } from '../app/probes.ts';
import type { Config } from '../config/schema.ts';
import { type Examination, type Finding, note, ok, wrong } from './doctor-finding.ts';
import { SKEW_MS, skewed } from './doctor-stores.ts';

type Facts = Awaited<ReturnType<typeof probeGithubApp>>;

const NAME = 'github app';
/** Of the repositories with a local clone, so many are asked about. */
const MAX_ASKED = 5;
/** Without it no log can be fetched; the others are missed by suspects from code. */
const LOGS = 'actions';

/** Whether GitHub knows the configured App and its key, what it may read, and whether it sees the repositories that are configured by name. */
export function examineGithubApp({ buildSource: { github }, codeHost: { clones } }: Config): Examination {
  return {
    name: NAME,
    mend: `check FAULTLINE_GITHUB_APP_ID, FAULTLINE_GITHUB_APP_KEY and FAULTLINE_GITHUB_URL (${github.baseUrl})`,
    ask: async (signal) => {
      const asked = Object.keys(clones).slice(0, MAX_ASKED);
      const facts = await probeGithubApp(github, asked, signal);
      const { aheadMs } = facts;
      const clock = aheadMs !== null && Math.abs(aheadMs) > SKEW_MS ? [skewed('github clock', aheadMs)] : [];
      return [...clock, findingOf(facts, github.token !== null)];
    },
  };
}

function findingOf({ name, url, installations, lacking, unseen }: Facts, hasToken: boolean): Finding {
  const place = url === null ? 'in the settings of the App' : `at ${url}`;
  if (installations === 0) return wrong(NAME, `${name} is not installed anywhere`, `install it ${place}`);
  if (lacking.includes(LOGS))
    return wrong(
      NAME,
      `${name} cannot read Actions, so it cannot fetch logs`,
      'grant it actions: read, and accept the new permission in each installation',
    );
  if (lacking.length > 0)
    return note(NAME, `${name} cannot read ${lacking.join(', ')}`, 'grant it read access to these for suspects from code');
  if (unseen.length > 0) {
    const without = hasToken ? 'the token is used instead' : 'nothing is read there';
    return note(NAME, `${name} is not installed on ${unseen.join(', ')}: ${without}`, `install it there ${place}`);
  }
  return ok(NAME, installations === null ? name : `${name}, installed ${installations} ${installations === 1 ? 'time' : 'times'}`);
}
