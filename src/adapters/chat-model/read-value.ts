import { z } from 'zod';
import { messageOf } from '../../domain/errors.ts';
import type { Completion } from './completion-body.ts';
import { jsonObjectsIn } from './json-in-text.ts';

/** The value of a reply, or why it has none. `mendable`: telling the model may help. */
export type Reading<Value> = { readonly value: Value } | { readonly problem: string; readonly mendable: boolean };

const MAX_PROBLEM = 1_000;

/** Why there is no answer at all, which telling the model does not change; null where there is one. */
export function whyUnanswered(completion: Pick<Completion, 'refused' | 'finish'>): string | null {
  if (completion.refused) return 'the model refused to answer';
  return completion.finish === 'content_filter' ? "the server's content filter stopped the reply" : null;
}

/** Takes the one JSON object out of a reply and checks it. Two different objects that both fit are refused, not guessed between. */
export function readValue<Value>(completion: Completion, parse: (reply: unknown) => Value): Reading<Value> {
  const unanswered = whyUnanswered(completion);
  if (unanswered !== null) return { problem: unanswered, mendable: false };
  const objects = jsonObjectsIn(completion.text);
  if (objects.length === 0) {
    const cut = completion.finish === 'length';
    return {
      problem: cut ? 'the reply was cut off before its end; be briefer' : 'the reply holds no complete JSON object',
      mendable: true,
    };
  }
  const values: Value[] = [];
  let problem = '';
  for (const object of objects) {
    try {
      values.push(parse(object));
    } catch (error) {
      problem = (error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)).slice(0, MAX_PROBLEM);
    }
  }
  const [value, ...others] = values;
  if (value === undefined) return { problem, mendable: true };
  if (others.length > 0) return { problem: 'the reply holds several different JSON objects; give one', mendable: true };
  return { value };
}
