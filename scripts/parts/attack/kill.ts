/**
 * Kills every process of the service with SIGKILL, repeatedly, while uploads arrive. Every accepted upload
 * must be answered exactly once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LOG, listBuilds, listWronglyAnswered, Uploaded, upload } from './shared/builds.ts';
import { reportService, startService } from './shared/service.ts';
import { report } from './shared/tools.ts';

const KILLS = 10;
const SENDERS = 4;
/** The pause of one sender between two builds, in milliseconds, so that there are at most some hundreds. */
const PAUSE_MS = 250;

const service = await startService();
try {
  const accepted = new Map<string, string>();
  const refused: string[] = [];
  const state = { over: false, tries: 0 };
  const senders = Array.from({ length: SENDERS }, (_, sender) => sendUntilOver(`${sender + 1}`));
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(300 + Math.random() * 1_500);
    await service.killAndStart();
  }
  state.over = true;
  await Promise.all(senders);
  const wrong = await listWronglyAnswered(service, accepted.values(), 10);
  const numbers = (await listBuilds(service)).map(({ number }) => number);
  const lost = [...accepted.keys()].filter(
    (number) => numbers.filter((other) => other === number).length !== 1,
  );
  const counts = `${KILLS} kills, ${state.tries} uploads tried, ${accepted.size} builds accepted`;
  const fine = [
    report('uploads', `${counts}, ${refused.length} refused`, refused.length, refused.join('\n')),
    report('builds', `${lost.length} lost or doubled`, lost.length, lost.join('\n')),
    report('answers', `${wrong.length} not answered once`, wrong.length, wrong.join('\n')),
    reportService(service),
  ];
  process.exitCode = fine.every(Boolean) ? 0 : 1;

  /** Sends one build after the other. Each is repeated until it is accepted, as a CI would do. */
  async function sendUntilOver(sender: string): Promise<void> {
    for (let turn = 1; !state.over; turn++) {
      const number = `${sender}${String(turn).padStart(4, '0')}`;
      while (!accepted.has(number)) {
        state.tries += 1;
        const response = await upload(service, { number, log: LOG });
        // A request whose response was cut off is repeated, like one without a response.
        const body = await response?.text().catch(() => null);
        if (response?.status === 202 && typeof body === 'string')
          accepted.set(number, Uploaded.parse(JSON.parse(body)).buildId);
        else if (typeof body === 'string') refused.push(`${number}: ${response?.status} ${body}`);
        if (!accepted.has(number)) await sleep(100);
      }
      await sleep(PAUSE_MS);
    }
  }
} finally {
  await service.stop();
}
