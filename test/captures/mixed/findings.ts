import {
  compileError,
  finding,
  type MixedBuild,
  type MixedFailure,
  typeFinding,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createDebianTool, createNpmTool, createPipTool } from '../../../scripts/parts/capture/row.ts';

/** Linters and compilers with findings of several rules. Each failure is one rule with its first place; they are one cause. */
export const builds: readonly MixedBuild[] = [
  {
    ...createNpmTool('eslint@9', '@eslint/js@9'),
    id: 'eslint-recipes',
    runner: 'eslint',
    project: 'recipes',
    findings: true,
    files: {
      'package.json': '{ "name": "recipes", "private": true, "type": "module" }\n',
      'eslint.config.js': `import js from '@eslint/js';

export default [
  js.configs.recommended,
  { rules: { eqeqeq: 'error', 'no-console': 'warn', 'prefer-const': 'error', curly: 'error' } },
];
`,
      'src/dough.js': `export function knead(minutes) {
  let turns = minutes * 12;
  if (minutes == 0) return 0;
  console.log('kneading');
  return turns;
}
`,
      'src/oven.js': `import { knead } from './dough.js';

export function bake(loaf) {
  const heat = 230;
  switch (loaf.kind) {
    case 'rye':
      loaf.minutes = 55;
    case 'wheat':
      loaf.minutes = 40;
  }
  return proof(loaf);
}

export function wait(loaf) {
  while (true) {
    if (loaf.ready == true) break;
  }
}
`,
    },
    run: 'npx eslint src',
    tally: '✖ 11 problems (10 errors, 1 warning)',
    failures: listFindings(finding, 'eslint', [
      ["'turns' is never reassigned. Use 'const' instead", 'prefer-const'],
      ["Expected '===' and instead saw '=='", 'eqeqeq'],
      ["Expected { after 'if' condition", 'curly'],
      ["'knead' is defined but never used", 'no-unused-vars'],
      ["Expected a 'break' statement before 'case'", 'no-fallthrough'],
      ["'console' is not defined", 'no-undef'],
    ]),
  },
  {
    ...createPipTool('ruff==0.8.4'),
    id: 'ruff-tide-tables',
    runner: 'ruff',
    project: 'tide-tables',
    findings: true,
    files: {
      'pyproject.toml': '[tool.ruff.lint]\nselect = ["E", "F", "B", "I", "UP"]\n',
      'tides/high.py': `import os
import json


def high(harbor, days=[]):
    try:
        return json.loads(harbor)["high"]
    except:
        return [day for day in days if day != None]
`,
      'tides/low.py': `from typing import List


def low(levels: List[int]) -> int:
    lowest = min(levels)
    unused = max(levels)
    return lowst
`,
    },
    run: 'ruff check --output-format concise .',
    tally: 'Found 10 errors.',
    failures: listFindings(finding, 'ruff', [
      ['I001 [*] Import block is un-sorted or un-formatted', 'tides/high.py:1:1'],
      ['F401 [*] `os` imported but unused', 'tides/high.py:1:8'],
      ['B006 Do not use mutable data structures for argument defaults', 'tides/high.py:5:'],
      ['E722 Do not use bare `except`', 'tides/high.py:8:5'],
      ['E711 Comparison to `None` should be', 'tides/high.py:9'],
      ['UP035 `typing.List` is deprecated', 'tides/low.py:1:1'],
      ['UP006 Use `list` instead of `List` for type annotation', 'tides/low.py:4:17'],
      ['F841 Local variable `lowest` is assigned to but never used', 'tides/low.py:5:5'],
      ['F821 Undefined name `lowst`', 'tides/low.py:7:12'],
    ]),
  },
  {
    ...createPipTool('mypy==1.13.0'),
    id: 'mypy-choir',
    runner: 'mypy',
    project: 'choir-book',
    findings: true,
    files: {
      'choir/voices.py': `def highest(voices: dict[str, int]) -> str:
    return max(voices.values())


def pitch(voice: str | None) -> str:
    return voice.upper()


class Singer:
    name: str

    def sing(self, song: str, times: int) -> None: ...
`,
      'choir/concert.py': `import lilypond

from choir.voices import Singer, highest


def concert(singer: Singer) -> int:
    singer.sing("Ode", "twice")
    singer.bow()
    return highest({"alto": 3})
`,
    },
    run: 'mypy --explicit-package-bases choir',
    tally: 'Found 6 errors in 2 files (checked 2 source files)',
    failures: listFindings(typeFinding, 'mypy', [
      ['Incompatible return value type (got "int", expected "str")', 'choir/voices.py:2'],
      ['Item "None" of "str | None" has no attribute "upper"', 'choir/voices.py:6'],
      ['Cannot find implementation or library stub for module named "lilypond"', 'choir/concert.py:1'],
      ['Argument 2 to "sing" of "Singer" has incompatible type "str"; expected "int"', 'choir/concert.py:7'],
      ['"Singer" has no attribute "bow"', 'choir/concert.py:8'],
    ]),
  },
  {
    ...createNpmTool('typescript@5'),
    id: 'tsc-allotment',
    runner: 'tsc',
    project: 'allotment',
    findings: true,
    files: {
      'package.json': '{ "name": "allotment", "private": true, "type": "module" }\n',
      'tsconfig.json':
        '{ "compilerOptions": { "strict": true, "noEmit": true, "noUnusedLocals": true, "module": "nodenext", "target": "es2022" }, "include": ["src"] }\n',
      'src/bed.ts': `export interface Bed {
  crop: string;
  meters: number;
  neighbor?: Bed;
}

export function area(bed: Bed): number {
  return bed.meters + ' m';
}

export function beside(bed: Bed): string {
  return bed.neighbor.crop;
}
`,
      'src/plan.ts': `import { area, Bed, rotate } from './bed.js';
import seeds from './seeds.json' with { type: 'json' };

const beds: Bed[] = [{ crop: 'leek' }];
const spare = 3;

export const total = beds.reduce((sum, bed) => sum + area(bed, 2), 0);
export const turned = beds.map((bed) => bed.turn());
`,
    },
    run: 'npx tsc --pretty false',
    exitCode: 2,
    tally: 'src/plan.ts(8,45): error TS2339',
    failures: listFindings(typeFinding, 'tsc', [
      ["TS2322: Type 'string' is not assignable to type 'number'", 'src/bed.ts(8,3)'],
      ["TS18048: 'bed.neighbor' is possibly 'undefined'", 'src/bed.ts(12,10)'],
      ["TS2305: Module '\"./bed.js\"' has no exported member 'rotate'", 'src/plan.ts(1,'],
      ["TS2307: Cannot find module './seeds.json'", 'src/plan.ts(2,19)'],
      ["TS2741: Property 'meters' is missing in type", 'src/plan.ts(4,'],
      ["TS6133: 'rotate' is declared but its value is never read", 'src/plan.ts(1,21)'],
      ['TS2554: Expected 1 arguments, but got 2', 'src/plan.ts(7,'],
      ["TS2339: Property 'turn' does not exist on type 'Bed'", 'src/plan.ts(8,'],
    ]),
  },
  {
    version: 'go version',
    id: 'go-vet-rowing-club',
    runner: 'go vet',
    project: 'rowing-club',
    findings: true,
    files: {
      'go.mod': 'module example.test/rowing\n\ngo 1.22\n',
      'boat/boat.go': `package boat

import (
	"fmt"
	"sync"
)

// Boat is shared by two crews.
type Boat struct {
	sync.Mutex
	Name string \`json:name\`
}

// Show prints a boat.
func Show(b Boat) string {
	return fmt.Sprintf("%d", b.Name)
}

// Row never tires.
func Row() int {
	for {
		fmt.Println("stroke")
	}
	return 1
}
`,
      'crew/crew.go': `package crew

// Size copies itself.
func Size(rowers []string) int {
	size := len(rowers)
	size = size
	return size
}
`,
    },
    run: 'go vet ./...',
    tally: 'crew/crew.go:6:2',
    failures: listFindings(finding, 'go vet', [
      ['Show passes lock by value: example.test/rowing/boat.Boat', 'boat/boat.go:15:13'],
      ['struct field tag `json:name` not compatible with reflect.StructTag.Get', 'boat/boat.go:11:'],
      ['fmt.Sprintf format %d has arg b.Name of wrong type string', 'boat/boat.go:16:'],
      ['unreachable code', 'boat/boat.go:24:2'],
      ['self-assignment of size', 'crew/crew.go:6:2'],
    ]),
  },
  {
    ...createDebianTool('shellcheck'),
    id: 'shellcheck-deploy-scripts',
    runner: 'shellcheck',
    project: 'ship-yard',
    findings: true,
    files: {
      'scripts/launch.sh': `#!/bin/bash
ships=$(ls dock)
for ship in $ships; do
  rm -rf dock/$ship/old
done
cd /srv/yard
if [ $1 == "now" ]; then
  echo "launching $shp"
fi
`,
      'scripts/paint.sh':
        '#!/bin/sh\nread color\ndeclare -a coats\nlocal depth=3\necho "painting in $color"\n',
    },
    run: 'shellcheck --format=gcc scripts/*.sh',
    tally: 'scripts/paint.sh:',
    failures: listFindings(finding, 'shellcheck', [
      ['Double quote to prevent globbing and word splitting. [SC2086]', 'scripts/launch.sh:4:'],
      ["Use 'cd ... || exit' or 'cd ... || return' in case cd fails. [SC2164]", 'scripts/launch.sh:6:1'],
      ['shp is referenced but not assigned', 'scripts/launch.sh:8:'],
      ['read without -r will mangle backslashes. [SC2162]', 'scripts/paint.sh:2:1'],
      ["'declare' is undefined. [SC3044]", 'scripts/paint.sh:3:'],
      ["'local' is undefined. [SC3043]", 'scripts/paint.sh:4:1'],
      ['coats appears unused. Verify use (or export if used externally). [SC2034]', 'scripts/paint.sh:3:12'],
    ]),
  },
  {
    version: 'javac -version',
    id: 'javac-lantern',
    runner: 'javac',
    project: 'lantern',
    ci: 'jenkins',
    findings: true,
    files: {
      'src/lantern/Wick.java': `package lantern;

public final class Wick {
  private final int length;

  public int burn(int hours) {
    String left = length - hours;
    return left;
  }
}
`,
      'src/lantern/Lamp.java': `package lantern;

import lantern.oil.Oil;

public class Lamp implements Runnable {
  public void light(Wick wick) {
    wick.trim();
    Thread.sleep(100);
  }
}
`,
    },
    run: 'mkdir -p classes && javac -d classes src/lantern/*.java',
    tally: '5 errors',
    failures: listFindings(compileError, 'javac', [
      ['package lantern.oil does not exist', 'src/lantern/Lamp.java:3'],
      [
        'Lamp is not abstract and does not override abstract method run() in Runnable',
        'src/lantern/Lamp.java:5',
      ],
      ['cannot find symbol', 'src/lantern/Lamp.java:7'],
      ['int cannot be converted to String', 'src/lantern/Wick.java:7'],
      ['String cannot be converted to int', 'src/lantern/Wick.java:8'],
    ]),
  },
  {
    ...createDebianTool('gcc', 'make'),
    id: 'gcc-water-wheel',
    runner: 'gcc',
    project: 'water-wheel',
    findings: true,
    files: {
      Makefile: 'CFLAGS = -std=c11 -Wall -Wextra -Werror\n\nwheel: wheel.o gear.o\n\t$(CC) -o $@ $^\n',
      'gear.c': `#include <stdio.h>
#include "gear.h"

int teeth(int wheel)
{
    int spare = 4;
    printf("%s\\n", wheel);
    return wheel * 12;
}
`,
      'gear.h': 'int teeth(int wheel);\nstruct gear { int teeth; };\n',
      'wheel.c': `#include "gear.h"

int main(void)
{
    struct gear gear = { 12 };
    gear.turns = 3;
    char *name = 7;
    return start(gear.teeth);
}
`,
    },
    run: 'make --keep-going',
    exitCode: 2,
    tally: 'make: Target',
    failures: listFindings(compileError, 'gcc', [
      ['‘struct gear’ has no member named ‘turns’', 'wheel.c:6:9'],
      ['initialization of ‘char *’ from ‘int’ makes pointer from integer without a cast', 'wheel.c:7:'],
      ['implicit declaration of function ‘start’', 'wheel.c:8:'],
      ['unused variable ‘name’', 'wheel.c:7:11'],
      ['format ‘%s’ expects argument of type ‘char *’, but argument 2 has type ‘int’', 'gear.c:7:'],
      ['unused variable ‘spare’', 'gear.c:6:9'],
    ]),
  },
];

function listFindings(
  sort: Pick<MixedFailure, 'category' | 'also_ok' | 'kind'>,
  tool: string,
  rules: ReadonlyArray<[string, string]>,
): MixedFailure[] {
  return rules.map(([message, place]) => ({ ...sort, message, lines: [place], cause: tool }));
}
