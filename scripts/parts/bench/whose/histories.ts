import type { WhoseVerdict } from '../../../../src/domain/whose.ts';
import type { Lab, Run } from './lab.ts';

/** A build of a history: what ran, for whom, and how many hours after the previous one. */
export interface Step {
  readonly run: Run;
  /** The pull request. Null for the default branch. */
  readonly pullRequest: number | null;
  readonly author: string;
  /** True if it reruns the previous build. */
  readonly again?: boolean;
  readonly hours?: number;
}

/** A history of builds with a known truth. */
export interface History {
  readonly name: string;
  readonly group: string;
  readonly lab: Lab;
  readonly truth: WhoseVerdict;
  /** False if the history contains no proof. Then "not known yet" is right, too. */
  readonly provable: boolean;
  readonly steps: readonly Step[];
  /** The position of the build in question. */
  readonly asked: number;
}

const [MINE, MY_REQUEST] = ['Mia Berg', 40];
const OTHERS = ['Bob Hart', 'Ada Brook', 'Hugo Tan', 'Ines Vale'];

type Draw = (below: number) => number;

/** Creates the histories of all repositories. They are the same each time. */
export function makeHistories(labs: readonly Lab[]): History[] {
  const draw = createDraw(44);
  return labs.flatMap((lab) => [
    ...makeChanges(lab, draw),
    ...makeReds(lab, draw),
    ...makeOthers(lab, draw),
    ...makeFlakes(lab, draw),
    ...makeMachines(lab, draw),
    ...makeNewTests(lab, draw),
  ]);
}

/** Returns passed builds of the default branch. */
function createPassedSteps({ greens }: Lab, count: number, draw: Draw): Step[] {
  return greens.slice(0, count).map((run) => createMainStep(run, draw, OTHERS[draw(OTHERS.length)]));
}

function createMainStep(run: Run, draw: Draw, author = OTHERS[0] ?? ''): Step {
  return { run, pullRequest: null, author, hours: 1 + draw(5) };
}

function createRequestStep(run: Run, author = MINE, pullRequest = MY_REQUEST): Step {
  return { run, pullRequest, author, hours: 1 };
}

interface Made {
  readonly truth: WhoseVerdict;
  readonly group: string;
  readonly provable?: boolean;
}

/** Creates a history. The build in question is the last step, or `after` steps before it. */
function create(lab: Lab, name: string, made: Made, steps: readonly Step[], after = 0): History {
  const asked = steps.length - 1 - after;
  return { provable: true, ...made, name: `${lab.name}: ${name}`, lab, steps, asked };
}

/** Creates histories in which the change is at fault, with facts that look like an excuse. */
function makeChanges(lab: Lab, draw: Draw): History[] {
  const { faults, harmless, flakes, breaksFlaky, breaksRegistry } = lab;
  const made = { truth: 'change', group: 'this change' } as const;
  const silent = { ...made, provable: false };
  const green = harmless[0]?.green;
  const flaked = flakes.flatMap(({ red, green: again }) => [
    createMainStep(red, draw),
    { ...createMainStep(again, draw), again: true },
  ]);
  return faults.flatMap(({ plant, run }, at) => {
    const failing = listFailing(run);
    const other = faults.find((fault) =>
      listFailing(fault.run).every((name) => !failing.includes(name)),
    )?.run;
    const before = () => createPassedSteps(lab, 3 + draw(4), draw);
    const all = [
      create(lab, `${plant}, first build`, made, [...before(), createRequestStep(run)]),
      create(lab, `${plant}, third build in a row`, made, [
        ...before(),
        ...[run, run, run].map((program) => createRequestStep(program)),
      ]),
      create(lab, `${plant}, on the default branch`, made, [...before(), createMainStep(run, draw)]),
      create(lab, `${plant}, beside a flaky test`, made, [...before(), ...flaked, createRequestStep(run)]),
      create(lab, `${plant}, merged before it was mended`, silent, [
        ...before(),
        createRequestStep(run),
        createMainStep({ ...run, commit: vary(run.commit, 7) }, draw, MINE),
        createRequestStep({ ...run, commit: vary(run.commit, 8) }),
      ]),
      create(lab, `${plant}, brought again after it was taken back`, silent, [
        ...before(),
        createMainStep({ ...run, commit: vary(run.commit, 0) }, draw, MINE),
        createMainStep(lab.greens.at(-1) ?? run, draw),
        createRequestStep(run),
      ]),
      create(lab, `${plant}, in two pull requests of one author`, silent, [
        ...before(),
        createRequestStep({ ...run, commit: vary(run.commit, 1) }, MINE, 38),
        createRequestStep({ ...run, commit: vary(run.commit, 2) }, MINE, 39),
        createRequestStep(run),
      ]),
    ];
    if (other !== undefined) {
      const steps = [...before(), createMainStep(other, draw), createRequestStep(run)];
      all.push(create(lab, `${plant}, while main is red for another reason`, silent, steps));
    }
    if (green !== undefined)
      all.push(
        create(lab, `${plant}, second push`, made, [
          ...before(),
          createRequestStep(green),
          createRequestStep(run),
        ]),
      );
    const chosen = all.filter((_, place) => (place + at) % 2 === 0 || place === 0);
    if (at > 0) return chosen;
    return chosen.concat([
      create(lab, 'broke a flaky test in its own words', silent, [
        ...before(),
        ...flaked,
        createRequestStep(breaksFlaky),
      ]),
      create(lab, 'named a registry that is away', silent, [...before(), createRequestStep(breaksRegistry)]),
    ]);
  });
}

/** Lists the tests that failed in a run. */
function listFailing({ report }: Run): string[] {
  const cases = (report ?? '').split('<testcase').filter((element) => element.includes('<failure'));
  return cases.flatMap((element) => /name="([^"]*)"/.exec(element)?.[1] ?? []);
}

/** Creates failures of the default branch that also occur in pull requests. */
function makeReds(lab: Lab, draw: Draw): History[] {
  const made = { truth: 'main', group: 'the default branch' } as const;
  const mend = lab.greens.at(-1);
  return lab.faults.flatMap(({ plant, run, beneath }, at) => {
    const before = () => createPassedSteps(lab, 3 + draw(4), draw);
    const reds = (count: number) =>
      Array.from({ length: count }, (_, place) =>
        createMainStep({ ...run, commit: vary(run.commit, place) }, draw),
      );
    const all = [
      create(lab, `${plant} on main, met by a pull request`, made, [
        ...before(),
        ...reds(1),
        createRequestStep(beneath),
      ]),
      create(lab, `${plant} on main for ${2 + draw(3)} builds`, made, [
        ...before(),
        ...reds(3),
        createRequestStep(beneath),
      ]),
      create(lab, `${plant} on main, second build there`, made, [...before(), ...reds(2)]),
    ];
    if (mend !== undefined) {
      const mended = [...before(), ...reds(2), createRequestStep(beneath), createMainStep(mend, draw)];
      all.push(create(lab, `${plant} on main, mended after`, made, mended, 1));
    }
    return all.filter((_, place) => (place + at) % 2 === 0);
  });
}

/** Creates faults that came with the default branch, but did not occur in its own builds yet. */
function makeOthers(lab: Lab, draw: Draw): History[] {
  const made = { truth: 'others', group: 'other pull requests' } as const;
  return lab.faults.map(({ plant, beneath }, place) => {
    const count = 2 + (place % 2);
    const met = Array.from({ length: count }, (_, at) =>
      createRequestStep({ ...beneath, commit: vary(beneath.commit, at) }, OTHERS[at], 30 + at),
    );
    const steps = [...createPassedSteps(lab, 4, draw), ...met, createRequestStep(beneath)];
    return create(lab, `${plant}, on ${count} others before`, made, steps);
  });
}

/** Creates a test that fails in 2 to 50 % of runs, with as many reruns as are usual. */
function makeFlakes(lab: Lab, draw: Draw): History[] {
  const rates = [2, 5, 10, 20, 50];
  const [first] = lab.harmless;
  if (first === undefined) return [];
  return rates.flatMap((rate) =>
    [false, true].map((isRerun) => {
      const earlier = lab.greens.concat(lab.greens).flatMap((run, at): Step[] => {
        const red = lab.flakes[at % lab.flakes.length]?.red;
        if (draw(100) >= rate || red === undefined)
          return [createMainStep({ ...run, commit: vary(run.commit, at) }, draw)];
        // The rerun has the same commit.
        const commit = vary(red.commit, at);
        return [
          createMainStep({ ...red, commit }, draw),
          { ...createMainStep({ ...run, commit }, draw), again: true },
        ];
      });
      const flakes = earlier.filter(({ again }) => again === true).length;
      const rerun = isRerun ? [{ ...createRequestStep(first.green), again: true }] : [];
      const made: Made = { truth: 'flaky', group: 'flaky', provable: isRerun || flakes >= 2 };
      const steps = [...earlier, createRequestStep(first.flaked), ...rerun];
      return create(lab, `flaky in ${rate} %${isRerun ? ', run again' : ''}`, made, steps, rerun.length);
    }),
  );
}

/**
 * Creates ids of commits with the same content, because a history is longer than the commits that were run.
 */
function vary(commit: string, at: number): string {
  return `${commit.slice(0, -2)}${String(at).padStart(2, '0')}`;
}

function makeMachines(lab: Lab, draw: Draw): History[] {
  const made = { truth: 'machine', group: 'a machine or service' } as const;
  return lab.harmless.slice(1).flatMap(({ green, away, refused }) =>
    [away, refused].flatMap((run, at) => {
      const before = createPassedSteps(lab, 4, draw);
      return [
        create(lab, `registry away ${at}`, made, [...before, createRequestStep(run)]),
        create(
          lab,
          `registry away ${at}, run again`,
          made,
          [...before, createRequestStep(run), { ...createRequestStep(green), again: true }],
          1,
        ),
      ];
    }),
  );
}

function makeNewTests(lab: Lab, draw: Draw): History[] {
  const made = { truth: 'change', group: 'a new test' } as const;
  const { wrong, flaked, passed } = lab.newTest;
  const before = createPassedSteps(lab, 5, draw);
  return [
    create(lab, 'a new test that is wrong', made, [...before, createRequestStep(wrong)]),
    create(lab, 'a new test that is wrong, twice', made, [
      ...before,
      createRequestStep(wrong),
      createRequestStep(wrong),
    ]),
    create(
      lab,
      'a new test that is flaky, run again',
      made,
      [...before, createRequestStep(flaked), { ...createRequestStep(passed), again: true }],
      1,
    ),
  ];
}

/** Creates a generator of numbers that are the same each time (xorshift32). */
function createDraw(seed: number): Draw {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
