import type { ToolCall } from '../../domain/evidence.ts';
import type { RecordedCall, RecordedJudgement, Recording } from '../../domain/recording.ts';
import type { Place } from './difference.ts';
import { callKey, judgementKey } from './join.ts';

/** A recording to be asked. Each entry is given out once. */
export interface RecordingBook {
  /** The judgement of that place with that input, else the next one of that place; null where none is left. */
  judgement(place: Place, fields: Readonly<Record<string, string>>): RecordedJudgement | null;
  call(call: ToolCall): RecordedCall | null;
  /** Names of the tools that could be asked about a failure of the category, and of those that there were; null where nobody asked. */
  tools(category: string): Recording['tools'][number] | null;
  /** Every tool that could be asked at some time, whatever the category. */
  readonly everAskable: ReadonlySet<string>;
}

export function openBook(recording: Recording): RecordingBook {
  const exact = queues(recording.judgements, judgementKey);
  const placed = queues(recording.judgements, placeKey);
  const calls = queues(recording.calls, ({ call }) => callKey(call));
  const tools = queues(recording.tools, ({ category }) => category);
  const given = new Set<RecordedJudgement>();
  const next = (queue: RecordedJudgement[] | undefined) => {
    for (let one = queue?.shift(); one !== undefined; one = queue?.shift()) {
      if (given.has(one)) continue;
      given.add(one);
      return one;
    }
    return null;
  };
  return {
    judgement: (place, fields) => {
      const wanted = { ...place, fields: { ...fields }, at: 0, milliseconds: 0, reply: null, failed: null };
      return next(exact.get(judgementKey(wanted))) ?? next(placed.get(placeKey(wanted)));
    },
    call: (call) => calls.get(callKey(call))?.shift() ?? null,
    // The last word holds on.
    tools: (category) => {
      const said = tools.get(category) ?? [];
      return (said.length > 1 ? said.shift() : said[0]) ?? null;
    },
    everAskable: new Set(recording.tools.flatMap(({ askable }) => askable)),
  };
}

function placeKey({ role, name, round, investigator }: Place): string {
  return JSON.stringify([role, name, round, investigator]);
}

function queues<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const map = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const queue = map.get(key);
    if (queue === undefined) map.set(key, [item]);
    else queue.push(item);
  }
  return map;
}
