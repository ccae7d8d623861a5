import type { TriageSubject } from '../../domain/triage.ts';
import type { FailureBlock } from '../failure-block.ts';
import { readProject, toRepositoryPath } from '../paths.ts';
import type { Value } from '../sentence.ts';
import { joinWords } from '../wording.ts';
import { isProjectFile } from './place.ts';

/** A line that counts faulty files. The files follow, one on each line. */
const COUNTED = /\b(?:\d{1,6}|the following|these) (?:[\w-]{1,20} ){0,2}files?\b/i;
const FILE = /^\s{0,12}(?:[-*•] )?((?:[\w@.+-]{1,80}\/){0,12}[\w@+-][\w@.+-]{0,80}\.\w{1,8})$/;

/** Reads the list of files below a deciding line that counts them. Returns null if no list follows. */
export function readListedFiles({ trigger, step }: FailureBlock, subject: TriageSubject): Value | null {
  if (trigger.line === null || !COUNTED.test(trigger.text)) return null;
  const files: string[] = [];
  const below = step.filter(({ source, line }) => source === trigger.source && line > (trigger.line ?? line));
  for (const { text } of below) {
    if (text.trim() === '' && files.length === 0) continue;
    const file = FILE.exec(text)?.[1];
    if (file === undefined) break;
    if (isProjectFile(file)) files.push(toRepositoryPath(file, readProject(subject)));
  }
  const [first] = below;
  if (first === undefined || files.length === 0) return null;
  return { text: joinWords(files, 4), source: first.source, line: first.line, near: 'paragraph' };
}
