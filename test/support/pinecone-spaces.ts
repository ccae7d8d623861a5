import type { Filter, Operators } from './pinecone-schema.ts';

interface Vector {
  readonly id: string;
  readonly values: number[];
  readonly metadata?: Readonly<Record<string, string | number | boolean | string[]>> | undefined;
}

interface Write {
  readonly lsn: number;
  readonly visibleAt: number;
  apply(vectors: Map<string, Vector>): void;
}

interface Space {
  /** The vectors that reads return. */
  readonly seen: Map<string, Vector>;
  waiting: Write[];
  written: number;
  indexed: number;
}

export type Spaces = ReturnType<typeof createPineconeSpaces>;

/** Creates namespaces in which a write becomes visible `lagMs` after its response. */
export function createPineconeSpaces(lagMs: number) {
  const spaces = new Map<string, Space>();
  let lag = lagMs;

  function writeAt(name: string): Space {
    const space = spaces.get(name) ?? { seen: new Map(), waiting: [], written: 0, indexed: 0 };
    spaces.set(name, space);
    const now = Date.now();
    for (const write of space.waiting.filter(({ visibleAt }) => visibleAt <= now)) {
      write.apply(space.seen);
      space.indexed = write.lsn;
    }
    space.waiting = space.waiting.filter(({ visibleAt }) => visibleAt > now);
    return space;
  }

  function write(name: string, apply: Write['apply']): number {
    const space = writeAt(name);
    space.written += 1;
    space.waiting.push({ lsn: space.written, visibleAt: Date.now() + lag, apply });
    writeAt(name);
    return space.written;
  }

  return {
    setLag: (milliseconds: number) => {
      lag = milliseconds;
    },
    /** Returns the names of the namespaces that contain visible vectors. */
    names: () => [...spaces.keys()].filter((name) => writeAt(name).seen.size > 0).toSorted(),
    upsert: (name: string, vectors: readonly Vector[]) =>
      write(name, (seen) => {
        for (const vector of vectors) seen.set(vector.id, vector);
      }),
    /** Returns null if the namespace does not exist. */
    remove: (name: string, ids: readonly string[] | null) =>
      (spaces.get(name)?.written ?? 0) === 0
        ? null
        : write(name, (seen) => {
            for (const id of ids ?? [...seen.keys()]) seen.delete(id);
          }),
    query: (
      name: string,
      asked: {
        vector: readonly number[];
        topK: number;
        filter?: Filter | undefined;
        includeMetadata?: boolean | undefined;
      },
    ) => {
      const { seen, indexed } = writeAt(name);
      const matches = [...seen.values()]
        .filter((vector) => fits(vector, asked.filter))
        .map((vector) => ({
          id: vector.id,
          score: computeCosine(vector.values, asked.vector),
          values: [],
          metadata: vector.metadata ?? {},
        }))
        .sort((left, right) => right.score - left.score)
        .slice(0, asked.topK)
        .map(({ metadata, ...match }) => (asked.includeMetadata ? { ...match, metadata } : match));
      return { matches, indexed };
    },
    list: (
      name: string,
      { limit, paginationToken }: { limit: number; paginationToken?: string | undefined },
    ) => {
      const ids = [...writeAt(name).seen.keys()].toSorted();
      const start =
        paginationToken === undefined ? 0 : Number(Buffer.from(paginationToken, 'base64').toString());
      const vectors = ids.slice(start, start + limit).map((id) => ({ id }));
      const end = start + limit;
      const pagination =
        end < ids.length ? { pagination: { next: Buffer.from(String(end)).toString('base64') } } : {};
      return { vectors, namespace: name, ...pagination };
    },
    fetch: (name: string, ids: readonly string[]) =>
      Object.fromEntries(
        ids.flatMap((id) => writeAt(name).seen.get(id) ?? []).map((vector) => [vector.id, vector]),
      ),
    stats: () => {
      const counts = [...spaces.keys()]
        .map((name) => [name, writeAt(name).seen.size] as const)
        .filter(([, count]) => count > 0);
      return {
        namespaces: Object.fromEntries(counts.map(([name, vectorCount]) => [name, { vectorCount }])),
        totalVectorCount: counts.reduce((sum, [, count]) => sum + count, 0),
      };
    },
  };
}

function fits({ metadata = {} }: Vector, filter: Filter = {}): boolean {
  return Object.entries(filter).every(([field, condition]) => {
    const operators: Operators = typeof condition === 'object' ? condition : { $eq: condition };
    const value = metadata[field];
    if (operators.$eq !== undefined && value !== operators.$eq) return false;
    if (operators.$ne !== undefined && value === operators.$ne) return false;
    return operators.$in === undefined || operators.$in.some((one) => one === value);
  });
}

function computeCosine(left: readonly number[], right: readonly number[]): number {
  const dot = left.reduce((sum, value, place) => sum + value * (right[place] ?? 0), 0);
  return dot / (Math.hypot(...left) * Math.hypot(...right));
}
