import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const Delivery = z.object({ state: z.string(), buildId: z.string().nullable() });

/** Waits for the build that a running installation creates from a delivery. */
export async function readRecordedBuild(
  address: string,
  token: string,
  key: { source: string; id: string },
): Promise<string> {
  const url = `${address}/api/deliveries/${key.source}/${encodeURIComponent(key.id)}`;
  for (let tries = 0; tries < 300; tries++) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const { state, buildId } = Delivery.parse(await response.json());
    if (buildId !== null) return buildId;
    if (state === 'refused') throw new Error(`the delivery ${key.id} was set aside`);
    await sleep(20);
  }
  throw new Error(`the delivery ${key.id} was never recorded`);
}
