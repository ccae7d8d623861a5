import { z } from 'zod';
import type { ChatModel } from '../../ports/chat-model.ts';
import type { Summarize } from '../../ports/summarize.ts';
import { askModel, createContextFit, toJsonSchema, toPricedJudgment } from './ask-model.ts';

const Reply = z.object({
  points: z.array(z.object({ text: z.string(), lineStart: z.int(), lineEnd: z.int() })),
});
const MAX_POINTS = 5;
const MAX_POINT = 600;

/** Creates the summary of numbered lines by a model. Points outside of the lines are left out. */
export function createSummarize(model: ChatModel): Summarize {
  const fitting = createContextFit();
  return async ({ title, focus, lineStart, lines }, signal) => {
    const numbered = lines.map((line, index) => `${lineStart + index}: ${line}`).join('\n');
    const asked = await askModel(
      { fitting },
      'explore-summarize',
      () => ({ title, focus: focus === '' ? 'none' : focus, lines: numbered }),
      (question) =>
        model.ask({ ...question, schema: toJsonSchema(Reply), parse: (value) => Reply.parse(value) }, signal),
    );
    const last = lineStart + lines.length - 1;
    const points = asked.value.points
      .filter(
        (point) => lineStart <= point.lineStart && point.lineStart <= point.lineEnd && point.lineEnd <= last,
      )
      .slice(0, MAX_POINTS)
      .map((point) => ({ ...point, text: point.text.replace(/\s+/g, ' ').trim().slice(0, MAX_POINT) }));
    return { points, usage: toPricedJudgment(asked, null).usage };
  };
}
