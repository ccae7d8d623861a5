import { type Connection, greetingId } from '../connection.ts';
import { hmacOf } from '../webhook.ts';

export function jenkinsConnection(): Connection {
  return {
    label: 'Jenkins',
    page: 'docs/start/jenkins.md',
    events: ['Job Finalized'],
    secretSetting: 'FAULTLINE_JENKINS_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_JENKINS_TOKEN',
    rights: [
      { right: 'Overall/Read, Job/Read', why: 'consoles, test reports and artifacts' },
      { right: 'Run/Update', why: 'descriptions of builds (FAULTLINE_JENKINS_DESCRIPTION)' },
    ],
    clicks: [
      'Install the Notification plugin; in the configuration of the job, open Job Notifications → Add Endpoint.',
      'Choose the format JSON, the protocol HTTP and the event Job Finalized; add 200 log lines.',
      'As URL, enter the address followed by ?token= and the secret; the plugin can neither sign nor send headers.',
    ],
    greet: (secret, nowMs) => {
      const body = JSON.stringify({ repository: 'faultline/connect', pipeline: 'connect', number: 0, status: 'test' });
      const [id, timestamp] = [greetingId(), String(Math.floor(nowMs / 1000))];
      const signature = `sha256=${hmacOf(secret, `${id}.${timestamp}.`, body)}`;
      return { body, headers: { 'x-faultline-id': id, 'x-faultline-timestamp': timestamp, 'x-faultline-signature': signature } };
    },
    hooks: { because: 'Jenkins keeps its notifications in the configuration of each job' },
  };
}
