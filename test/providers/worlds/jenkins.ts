import { createJenkinsProvider, JenkinsSettings } from '../../../src/providers/jenkins/provider.ts';
import { COMMIT, logAnswer, type ProviderWorld } from '../contract.ts';

let baseUrl = 'https://ci.example.com';

/** Jenkins with the Notification plugin, which shows a token. Its builds have one console, and no attempts. */
export const jenkinsWorld: ProviderWorld = {
  name: 'jenkins',
  lacks: ['attempts', 'forks', 'comments', 'statuses', 'jobs', 'hooks', 'reruns'],
  page: (hostUrl) => `${hostUrl}/job/ci/12/consoleFull`,
  build: { repository: 'shop/api', pipeline: 'ci', number: '12', externalId: null },
  open: (url, secret) => {
    baseUrl = url;
    return createJenkinsProvider(
      JenkinsSettings.parse({
        baseUrl,
        user: 'faultline',
        token: 'jenkins-contract',
        webhookSecrets: [secret],
      }),
    );
  },
  deliver(sent, secret) {
    if (sent.of === 'job' || sent.of === 'unknown' || (sent.of === 'run' && sent.fork === true)) return null;
    const build = {
      full_url: `${baseUrl}/job/ci/12/`,
      number: 12,
      phase: sent.of === 'run' && sent.status === 'running' ? 'STARTED' : 'FINALIZED',
      status: sent.of === 'run' && sent.status === 'passed' ? 'SUCCESS' : 'FAILURE',
      scm: { url: 'https://git.example.com/shop/api.git', branch: 'origin/round', commit: COMMIT },
    };
    const payload = JSON.stringify(
      sent.of === 'half' ? { name: 'ci', build: { number: 12 } } : { name: 'ci', url: 'job/ci/', build },
    );
    return {
      payload,
      headers: {
        'content-type': 'application/json',
        ...(secret === null ? {} : { 'x-faultline-token': secret }),
      },
    };
  },
  answer({ path }, state) {
    if (path === '/job/ci/12/consoleText') return state.jobs === null ? null : logAnswer(state, '12');
    return null;
  },
};
