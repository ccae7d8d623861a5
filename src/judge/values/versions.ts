import { shortenVersion } from '../../lib/versions.ts';
import type { Facts } from '../facts.ts';
import type { FailureBlock } from '../failure-block.ts';
import type { Value } from '../sentence.ts';
import { findMismatch, nameSystemsWithGlibc, type VersionMismatch } from '../versions/mismatch.ts';

/**
 * The number of lines of the paragraph that may contain a version. javac prints the class file first and its
 * version below.
 */
const LINES = 4;

/** A version mismatch, with the line that reports it. */
interface Found {
  readonly mismatch: VersionMismatch;
  readonly value: Omit<Value, 'text'>;
}

type VersionReader = (block: FailureBlock, facts: Facts) => Value | null;

/** The slots for versions: what needs which version, and which version is running. */
export const VERSION_READERS: Readonly<Record<string, VersionReader>> = {
  /** The tool whose version does not match: "Node", "Java", "glibc". */
  runtime: readWith(({ tool }) => tool),
  /** Returns what needs the version: "`toReversed`", "spring-core-6.0.4.jar". */
  member: (block, facts) =>
    readWith(({ subject }) => (subject === CLASS_FILE ? (findArchiveIn(block) ?? subject) : subject))(
      block,
      facts,
    ),
  /** The first version that has the missing member of the standard library. */
  since: readWith(({ isFromTable, isGone, version }) =>
    isFromTable && !isGone ? shortenVersion(version) : null,
  ),
  /** The first version that no longer has the member. */
  removed: readWith(({ isGone, version }) => (isGone ? shortenVersion(version) : null)),
  /** The minimum version that the error message names. */
  demanded: readWith(({ isFromTable, version }) => (isFromTable ? null : shortenVersion(version))),
  running: readRunning,
  /** The distributions whose C library is new enough. */
  systems: readWith(({ tool, version }) => (tool === 'glibc' ? nameSystemsWithGlibc(version) : null)),
};

const CLASS_FILE = 'A class file';

function readWith(
  choose: (mismatch: VersionMismatch) => string | null,
): (block: FailureBlock, facts: Facts) => Value | null {
  return (block, facts) => {
    const found = readMismatch(block, facts);
    const text = found === null ? null : choose(found.mismatch);
    return found === null || text === null ? null : { ...found.value, text };
  };
}

/** Reads the running version, with the line that shows it. */
function readRunning(block: FailureBlock, facts: Facts): Value | null {
  const found = readMismatch(block, facts);
  const { running = null, runningAt = null } = found?.mismatch ?? {};
  if (found === null || running === null) return null;
  return {
    ...found.value,
    ...(runningAt === null ? {} : { ...runningAt, near: 'step' as const }),
    text: running,
  };
}

function readMismatch({ trigger, paragraph }: FailureBlock, { subject }: Facts): Found | null {
  const mismatch = findMismatch(trigger.text, subject);
  if (mismatch !== null)
    return { mismatch: mismatch, value: { source: trigger.source, line: trigger.line, near: 'line' } };
  for (const { text, source, line } of paragraph.slice(0, LINES)) {
    const mismatch = findMismatch(text, subject);
    if (mismatch !== null) return { mismatch, value: { source, line, near: 'paragraph' } };
  }
  return null;
}

/** Returns the archive that contains a class file, if javac names it. */
function findArchiveIn({ trigger, paragraph }: FailureBlock): string | null {
  for (const { text } of [trigger, ...paragraph]) {
    const archive = /([\w.+-]{1,120}\.jar)\b/.exec(text)?.[1];
    if (archive !== undefined) return archive;
  }
  return null;
}
