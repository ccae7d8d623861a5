import { z } from 'zod';
import type { Picture } from '../domain/build.ts';
import type { Database } from '../ports/database.ts';
import { queryAll } from './sql.ts';

/** A stored picture without its pixels. */
export const PictureHead = z.object({ name: z.string(), width: z.int(), height: z.int() });
export type PictureHead = z.infer<typeof PictureHead>;

/** The maximum number of pictures that are listed for a build. */
const MOST = 100;

/** Creates the store of pictures from the artifacts of builds. */
export function createPictureStore(db: Database) {
  return {
    /** Stores a picture of a build, in place of one of the same name. */
    save: async (buildId: string, name: string, { png, width, height }: Picture) => {
      await db.query(SAVE, [buildId, name, width, height, Buffer.from(png)]);
    },
    /** Lists the pictures of a build by their names. */
    list: async (buildId: string) => await queryAll(db, PictureHead, LIST, [buildId, MOST]),
    /** Returns the PNG file of a picture, or null if there is none of that name. */
    read: async (buildId: string, name: string): Promise<Uint8Array | null> => {
      const [row] = await db.query<{ png: Uint8Array }>(READ, [buildId, name]);
      return row?.png ?? null;
    },
    /** Deletes the pictures of a build, together with its logs. */
    remove: async (buildId: string) => {
      await db.query('delete from pictures where build_id = $1', [buildId]);
    },
  };
}

// Nothing is stored for a build that has been deleted.
const SAVE = `
  insert into pictures (build_id, name, width, height, png)
  select id, $2, $3, $4, $5 from builds where id = $1
  on conflict (build_id, name) do update set width = excluded.width,
    height = excluded.height, png = excluded.png`;
const LIST = 'select name, width, height from pictures where build_id = $1 order by name limit $2';
const READ = 'select png from pictures where build_id = $1 and name = $2';
