import { runPipelines } from '../jenkins-library/groovy-runner.ts';
import type { HostileValues } from './hostile-values.ts';
import type { UploadReceiver } from './upload-receiver.ts';

const ENV = {
  JOB_NAME: 'shop/api',
  BUILD_NUMBER: '812',
  BUILD_URL: 'https://ci.example.com/job/shop/job/api/812/',
  GIT_URL: 'https://git.example.com/shop/api.git',
  GIT_COMMIT: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
  CHANGE_ID: '7',
};

/** Runs the step of the shared library once for each of the values, in the Groovy of Jenkins; what it gave away or changed, by the values. */
export async function attackJenkinsStep(
  values: readonly HostileValues[],
  receiver: UploadReceiver,
  secret: string,
): Promise<string[]> {
  const told = await runPipelines(
    values.map(({ branch, tag, title, author }) => ({
      env: {
        ...ENV,
        FAULTLINE_URL: receiver.url,
        CHANGE_BRANCH: branch,
        TAG_NAME: tag,
        CHANGE_TITLE: title,
        CHANGE_AUTHOR: author,
      },
      result: 'FAILURE',
      secret,
    })),
  );
  const sent = receiver.take();
  return values.flatMap((value, at) => {
    const { branch, author } = value;
    const event = sent[at]?.metadata ?? {};
    const found = [
      ...(told[at]?.failed === null ? [] : [told[at]?.failed ?? 'it did not run']),
      ...(event.branch === branch && event.author === author ? [] : [`it sent ${JSON.stringify(event)}`]),
      ...(JSON.stringify([told[at], sent[at]]).includes(secret)
        ? ['the secret is in the console or in the event']
        : []),
    ];
    return found.length === 0 ? [] : [`Jenkins with ${JSON.stringify(value)}: ${found.join('; ')}`];
  });
}
