import { StateSchema } from '@langchain/langgraph';
import { z } from 'zod';
import { TriageState } from '../triage/state.ts';

/** A file that the log names, with its line where it does. */
export const NamedFile = z.object({ path: z.string(), line: z.int().nullable() });
export type NamedFile = z.infer<typeof NamedFile>;

/** What a triage knows, and the files that the log names, the first named first. */
export const LinearState = new StateSchema({ ...TriageState.fields, files: z.array(NamedFile).default([]) });

export type LinearStateValue = typeof LinearState.State;
export type LinearStateUpdate = typeof LinearState.Update;
