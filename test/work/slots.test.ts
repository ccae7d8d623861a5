import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createSlots, type Slots } from '../../src/work/slots.ts';

/** Work that notes when it begins and ends. */
async function note(slots: Slots, events: string[], name: string, milliseconds: number, isAlone = false) {
  const slot = await slots.enter();
  if (isAlone) await slot.becomeExclusive();
  events.push(`${name} begins`);
  await sleep(milliseconds);
  events.push(`${name} ends`);
  slot.leave();
}

it('tasks run in parallel up to the number of slots', async () => {
  const events: string[] = [];
  const slots = createSlots(2);
  await Promise.all(['a', 'b', 'c'].map((name) => note(slots, events, name, 10)));
  expect(events.slice(0, 2)).toEqual(['a begins', 'b begins']);
  expect(events.indexOf('c begins')).toBeGreaterThan(1);
});

it('an exclusive task runs alone, before tasks that came later', async () => {
  const events: string[] = [];
  const slots = createSlots(2);
  const first = [note(slots, events, 'a', 20), note(slots, events, 'suspect', 5, true)];
  await sleep(1);
  const later = [note(slots, events, 'b', 5), note(slots, events, 'other suspect', 5, true)];
  await Promise.all(first.concat(later));
  expect(events.filter((event) => event.startsWith('suspect')).length).toBe(2);
  for (const name of ['suspect', 'other suspect'])
    expect(events.indexOf(`${name} ends`)).toBe(events.indexOf(`${name} begins`) + 1);
  expect(events.slice(0, 4)).toEqual(['a begins', 'a ends', 'suspect begins', 'suspect ends']);
});

it('a task that released its slot reacquires it before it continues', async () => {
  const slots = createSlots(1);
  const events: string[] = [];
  const out = Promise.withResolvers<void>();
  const first = async () => {
    const slot = await slots.enter();
    await slot.leaveFor(() => out.promise);
    events.push('first goes on');
    slot.leave();
  };
  const second = async () => {
    const slot = await slots.enter();
    out.resolve();
    await sleep(5);
    events.push('second ends');
    slot.leave();
  };
  await Promise.all([first(), second()]);
  expect(events).toEqual(['second ends', 'first goes on']);
});
