import { type Connection, createTestDeliveryId } from '../connection.ts';
import { computeHmac } from '../webhook.ts';

/** Creates the setup instructions for Jenkins: the step first, which signs, then the plugin. */
export function createJenkinsConnection(): Connection {
  return {
    label: 'Jenkins',
    page: 'docs/start/jenkins.md',
    events: ['faultlineReport() in post { failure }', 'Job Finalized of the Notification plugin'],
    secretSetting: 'FAULTLINE_JENKINS_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_JENKINS_TOKEN',
    rights: [
      { right: 'Overall/Read, Job/Read', why: 'builds, consoles, test reports and artifacts' },
      { right: 'Run/Update', why: 'descriptions of builds (FAULTLINE_JENKINS_DESCRIPTION)' },
    ],
    steps: [
      'Recommended: install the plugins HTTP Request, Credentials Binding, Plain Credentials and ' +
        'Pipeline: Groovy Libraries.',
      'In Manage Jenkins → System → Global Trusted Pipeline Libraries, add the library faultline from the ' +
        'repository of Faultline, with the library path deploy/jenkins/.',
      'Add the secret as a credential of the kind Secret text with the ID faultline-webhook-secret.',
      "In the Jenkinsfile, write @Library('faultline') _ at the top, set FAULTLINE_URL, and call " +
        'faultlineReport() in post { failure { … } } and post { unstable { … } }.',
      'Without a Pipeline, use the Notification plugin: Job Notifications → Add Endpoint, format JSON, ' +
        'protocol HTTP, event Job Finalized, 200 log lines.',
      'As its URL Source, choose Credentials Store (not Plain Text, which Jenkins prints into consoles), ' +
        'with a Secret text that holds the address with faultline:SECRET@ in front of the host, such as ' +
        'https://faultline:SECRET@faultline.example/webhooks/jenkins.',
    ],
    createTestDelivery: (secret, nowMs) => {
      const body = JSON.stringify({
        repository: 'faultline/connect',
        pipeline: 'connect',
        number: 0,
        status: 'test',
      });
      const [id, timestamp] = [createTestDeliveryId(), String(Math.floor(nowMs / 1000))];
      const signature = `sha256=${computeHmac(secret, `${id}.${timestamp}.`, body)}`;
      return {
        body,
        headers: {
          'x-faultline-id': id,
          'x-faultline-timestamp': timestamp,
          'x-faultline-signature': signature,
        },
      };
    },
    hooks: { because: 'Jenkins keeps its notifications in the configuration of each job' },
  };
}
