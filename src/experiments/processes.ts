import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The processes that a command starts, including those that leave its process group and session. */
export interface RunProcesses {
  /** Variables for the environment of the command. Processes that it starts inherit them. */
  readonly env: Readonly<Record<string, string>>;
  /** Registers the process of the command as soon as it exists. The process must lead a session. */
  adopt(pid: number): void;
  /** Notes the running processes, so that they are found later even if nothing else leads to them. */
  look(): void;
  /** Kills all of them. Returns true if there was one. */
  endNow(): boolean;
  /** Kills processes until none is left, for at most a second. */
  end(): Promise<void>;
}

/** The variable by which the processes of a run are found in /proc. */
const MARK = 'RUN_OF_FAULTLINE';
const MAX_ROUNDS = 50;
const ROUND_MS = 20;

/**
 * Creates an object that finds the processes of a command. It uses a control group if one can be created
 * (Linux, version 2), and /proc, where it recognizes processes by an environment variable, their session and
 * their parents. Without /proc, as on macOS, only the process group is ended. It misses processes that run as
 * another user, and those that gave up all of these properties before they were adopted.
 */
export function createRunProcesses(): RunProcesses {
  const id = randomUUID();
  const group = createControlGroup(`faultline-${id}`);
  const known = new Map<number, string>();
  let leader: number | null = null;
  const look = () => {
    const all = listProcesses();
    const isKnown = ({ pid, session, startedAt }: Process) =>
      session === leader ||
      known.get(pid) === startedAt ||
      readText(`/proc/${pid}/environ`).split('\0').includes(`${MARK}=${id}`);
    const found = new Map(all.filter(isKnown).map((process) => [process.pid, process]));
    let [before, grown] = [-1, all];
    while (found.size > before) {
      before = found.size;
      grown = grown.filter((process) => !found.has(process.pid));
      for (const process of grown) if (found.has(process.parent)) found.set(process.pid, process);
    }
    known.clear();
    for (const { pid, startedAt } of found.values()) known.set(pid, startedAt);
  };
  const endNow = () => {
    look();
    const wasBusy = group?.kill() === true;
    if (leader !== null) kill(-leader);
    for (const pid of known.keys()) kill(pid);
    return wasBusy || known.size > 0;
  };
  return {
    env: { [MARK]: id },
    adopt(pid) {
      leader = pid;
      group?.add(pid);
    },
    look,
    endNow,
    async end() {
      for (let round = 0; round < MAX_ROUNDS && endNow(); round += 1) await sleep(ROUND_MS);
      group?.remove();
    },
  };
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** The start time. Process ids are reused, but not with the same start time. */
  readonly startedAt: string;
}

/** Lists the running processes. Returns an empty list without /proc. */
function listProcesses(): Process[] {
  const processes: Process[] = [];
  for (const name of listFolder('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    // `pid (name) state parent group session … start`, see proc_pid_stat(5). The name may contain any
    // characters.
    const stat = readText(`/proc/${pid}/stat`);
    const [state = 'Z', parent, , session, ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state !== 'Z')
      processes.push({ pid, parent: Number(parent), session: Number(session), startedAt: more[15] ?? '' });
  }
  return processes;
}

interface ControlGroup {
  add(pid: number): void;
  /** Kills the processes of the group. Returns true if there was one. */
  kill(): boolean;
  remove(): void;
}

/** Creates a control group below our own. Returns null if it cannot be written. */
function createControlGroup(name: string): ControlGroup | null {
  const mount = readText('/proc/self/mounts')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, , type]) => type === 'cgroup2')?.[1];
  const cgroup = /^0::(.*)$/m.exec(readText('/proc/self/cgroup'))?.[1];
  if (mount === undefined || cgroup === undefined) return null;
  const folder = join(mount, cgroup, name);
  const processes = () =>
    readText(join(folder, 'cgroup.procs'))
      .split('\n')
      .filter((line) => line !== '');
  if (!attempt(() => mkdirSync(folder))) return null;
  return {
    add: (pid) => attempt(() => writeFileSync(join(folder, 'cgroup.procs'), String(pid))),
    kill() {
      const found = processes();
      if (found.length > 0 && !attempt(() => writeFileSync(join(folder, 'cgroup.kill'), '1')))
        for (const pid of found) kill(Number(pid));
      return found.length > 0;
    },
    remove: () => attempt(() => rmdirSync(folder)),
  };
}

function kill(pid: number): void {
  attempt(() => process.kill(pid, 'SIGKILL'));
}

/**
 * Runs an action. Returns false if the system refuses it, for example because the process has ended or
 * belongs to another user.
 */
function attempt(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

function readText(path: string): string {
  let text = '';
  attempt(() => {
    text = readFileSync(path, 'latin1');
  });
  return text;
}

function listFolder(path: string): string[] {
  let names: string[] = [];
  attempt(() => {
    names = readdirSync(path);
  });
  return names;
}
