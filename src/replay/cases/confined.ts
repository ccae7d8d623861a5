import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { CaseOutcome, ReplayCase } from './case.ts';

const FIELDS = ['log_path', 'pass_log_path', 'more_log_paths'] as const;

/**
 * Cases of a foreign data set whose logs lie within `root`: whoever wrote it must not pick files of this machine to be handed on. A row
 * that names a log outside, also through a link, is an outcome with an error. What is missing is for the reader to say.
 */
export async function* confined(outcomes: AsyncIterable<CaseOutcome>, dataset: string, root: string): AsyncGenerator<CaseOutcome> {
  const inside = await realpath(root);
  for await (const outcome of outcomes) {
    const outer = 'error' in outcome ? null : await outside(outcome.one, dataset, inside);
    if ('error' in outcome || outer === null) yield outcome;
    else {
      const reason = `${outer.path} is outside of ${root}; --logs-in names the folder that logs may be in`;
      const { line } = outcome;
      yield { line, id: outcome.one.row.id, field: outer.field, error: `line ${line}, field ${outer.field}: ${reason}` };
    }
  }
}

async function outside({ row }: ReplayCase, dataset: string, inside: string): Promise<{ field: string; path: string } | null> {
  for (const field of FIELDS) {
    for (const path of [row[field] ?? []].flat()) {
      const full = await realpath(isAbsolute(path) ? path : join(dirname(dataset), path)).catch(() => null);
      const way = full === null ? '' : relative(inside, full);
      if (way === '..' || way.startsWith('../') || isAbsolute(way)) return { field, path };
    }
  }
  return null;
}
