import { TriageError } from '../../domain/errors.ts';
import { createAllowance } from '../../log/decode/archive-limits.ts';
import { listZip } from '../../log/decode/archive-zip.ts';

/** An Office file as the archive that it is. */
export interface OfficeZip {
  readonly paths: readonly string[];
  /** The text of a part, or null where there is none. */
  part(path: string): string | null;
}

const MAX_UNPACKED = 128 * 1024 * 1024;
const MAX_PARTS = 5_000;

/**
 * Unpacks all of it once, so that no parser is handed an archive that grows without end. Throws TriageError `too-large` for such a
 * one, `invalid-input` where it is broken, encrypted, or lacks `main`.
 */
export async function openOfficeZip(name: string, bytes: Uint8Array, main: string): Promise<OfficeZip> {
  const parts = new Map<string, Uint8Array>();
  for (const member of await listZip(name, bytes, createAllowance(MAX_UNPACKED, MAX_PARTS))) {
    const content = await member.read();
    // Pictures count against the limit; nobody reads them.
    if (/\.(?:xml|rels)$/i.test(member.path)) parts.set(member.path, content);
  }
  if (!parts.has(main)) throw new TriageError('invalid-input', `${name} contains no ${main}; it is damaged, or another kind of file.`);
  return {
    paths: [...parts.keys()],
    part: (path) => {
      const content = parts.get(path);
      return content === undefined ? null : new TextDecoder().decode(content);
    },
  };
}
