import { z } from 'zod';
import { Calibration, CalibrationInUse, cappedMap, everyCategory } from '../domain/calibration.ts';
import { Category } from '../domain/category.ts';
import type { Database, Sql } from '../ports/database.ts';
import { CalibrationAct, type CalibrationStore, DecidedAnswer } from '../ports/measurements.ts';
import { RIGHT } from './insights-filter.ts';

/** Which calibration counts is decided one after the other, whoever decides. */
export function createCalibrationStore(db: Database): CalibrationStore {
  const bodies = async (text: string, values: readonly unknown[] = []) =>
    (await db.query(text, values)).map((row) => Calibration.parse(Body.parse(row).body));
  return {
    add: async (calibration) =>
      await db.transaction(async (sql) => {
        await sql.query(ALONE);
        const [row] = await sql.query('select coalesce(max(version), 0)::int + 1 as next from calibrations');
        const kept = { ...calibration, version: z.object({ next: z.int() }).parse(row).next };
        const values = [kept.version, kept.analyst, JSON.stringify(kept), kept.createdBy];
        await sql.query('insert into calibrations (version, analyst, body, created_by) values ($1, $2, $3::jsonb, $4)', values);
        return kept;
      }),
    find: async (version) => (await bodies('select body from calibrations where version = $1', [version]))[0] ?? null,
    list: async (limit) =>
      (await db.query('select body from calibrations order by version desc limit $1', [limit])).flatMap(
        (row) => Calibration.safeParse(Body.parse(row).body).data ?? [],
      ),
    inForce: async () => (await db.query(IN_FORCE)).map(inUse),
    use: async ({ analyst, version, replaces, actor }) =>
      await db.transaction(async (sql) => {
        await sql.query(ALONE);
        if ((await currentOf(sql, analyst)) !== replaces) return null;
        const [row] = await sql.query(
          `insert into calibration_acts (analyst, version, replaced, actor) values ($1, $2, $3, $4) returning ${ACT}`,
          [analyst, version, replaces, actor],
        );
        return CalibrationAct.parse(row);
      }),
    acts: async (limit) =>
      (await db.query(`select ${ACT} from calibration_acts order by id desc limit $1`, [limit])).map((row) => CalibrationAct.parse(row)),
    decided: async (limit) => (await db.query(DECIDED, [limit])).map((row) => DecidedAnswer.parse(row)),
    answeredPerDay: async () => (await db.query(PER_DAY)).map((row) => PerDay.parse(row)),
  };
}

const Kept = z.object({ version: z.int(), analyst: z.string(), body: z.unknown() });

/** Of a later version's that this one cannot read only this much is sure: somebody bounded what is published. So nothing is, without a person. */
function inUse(row: unknown): CalibrationInUse {
  const { version, analyst, body } = Kept.parse(row);
  const categories = everyCategory(() => ({ ...cappedMap(0, 0, 1), threshold: null }));
  return CalibrationInUse.safeParse(body).data ?? { version, analyst, categories };
}

const Body = z.object({ body: z.unknown() });
const PerDay = z.object({ category: Category, perDay: z.number() });

/** Until the transaction ends. */
const ALONE = `select pg_advisory_xact_lock(hashtext('faultline calibrations'))`;

const TIME = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const ACT = `analyst, version, replaced, actor, ${TIME('at')} as at`;

const NEWEST_ACTS = 'with newest as (select distinct on (analyst) analyst, version from calibration_acts order by analyst, id desc)';

const IN_FORCE = `${NEWEST_ACTS}
  select c.version, c.analyst, c.body from newest n join calibrations c on c.version = n.version order by c.analyst`;

async function currentOf(sql: Sql, analyst: string): Promise<number | null> {
  const rows = await sql.query('select version from calibration_acts where analyst = $1 order by id desc limit 1', [analyst]);
  return z.object({ version: z.int().nullable() }).parse(rows[0] ?? { version: null }).version;
}

const DECIDED = `
  select * from (
    select f.analysis_id as "analysisId", f.repository, f.analyst, a.body ->> 'model' as model, f.category,
      coalesce((a.body -> 'verdict' -> 'calibration' ->> 'raw')::float8, f.confidence) as stated, ${RIGHT} as right,
      coalesce(r.origin, 'unsure') as origin, f.blind is not null as blind, ${TIME('f.decided_at')} as "decidedAt"
    from answer_facts f join analyses a on a.id = f.analysis_id left join reviews r on r.analysis_id = f.analysis_id
    where f.decision is not null and f.analyst in ('rules', 'llm')
    order by f.decided_at desc limit $1
  ) as decided where decided.right is not null`;

const PER_DAY = `
  select category, count(*)::float8 / 30 as "perDay" from answer_facts
  where analyst <> 'recall' and created_at > clock_timestamp() - interval '30 days' group by category order by category`;
