import {
  assertion,
  type MixedBuild,
  missingFile,
  missingSetting,
  nullReference,
  ownModule,
  refused,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createDebianTool } from '../../../scripts/parts/capture/row.ts';

/** Suites of PHPUnit, prove and Bats. */
export const builds: readonly MixedBuild[] = [
  {
    ...createDebianTool('phpunit', 'php-cli'),
    id: 'phpunit-pharmacy',
    runner: 'phpunit',
    project: 'pharmacy',
    files: {
      'src/Pharmacy.php': `<?php

final class Pharmacy
{
    public static function dose(int $kilograms): int
    {
        return $kilograms * 2;
    }

    public static function label(?object $patient): string
    {
        return strtoupper($patient->getName());
    }

    public static function stock(): array
    {
        $text = @file_get_contents('data/stock.json');
        if ($text === false) {
            throw new RuntimeException('cannot read data/stock.json: No such file or directory');
        }
        return json_decode($text, true);
    }

    public static function supplier()
    {
        $socket = @fsockopen('127.0.0.1', 3306, $code, $reason, 1);
        if ($socket === false) {
            throw new RuntimeException("supplier at 127.0.0.1:3306: $reason");
        }
        return $socket;
    }

    public static function share(int $tablets, int $days): int
    {
        return intdiv($tablets, $days);
    }
}
`,
      'tests/PharmacyTest.php': `<?php

use PHPUnit\\Framework\\TestCase;

require_once __DIR__ . '/../src/Pharmacy.php';

final class PharmacyTest extends TestCase
{
    public function testDoseOfAChild(): void
    {
        $this->assertSame(30, Pharmacy::dose(10));
    }

    public function testLabelWithoutPatient(): void
    {
        $this->assertSame('', Pharmacy::label(null));
    }

    public function testStockIsCounted(): void
    {
        $this->assertCount(3, Pharmacy::stock());
    }

    public function testSupplierAnswers(): void
    {
        $this->assertIsResource(Pharmacy::supplier());
    }

    public function testTabletsForNoDays(): void
    {
        $this->assertSame(0, Pharmacy::share(20, 0));
    }

    public function testTabletsForAWeek(): void
    {
        $this->assertSame(2, Pharmacy::share(20, 7));
    }

    public function testOpeningHours(): void
    {
        $this->assertEquals(['open' => '08:00', 'close' => '18:30'], ['open' => '08:00', 'close' => '18:00']);
    }
}
`,
    },
    run: 'phpunit --log-junit report.xml tests',
    exitCode: 2,
    report: 'report.xml',
    tally: 'Tests: 7, Assertions: 3, Errors: 4, Failures: 2.',
    failures: [
      {
        ...nullReference,
        test: 'testLabelWithoutPatient',
        suite: 'PharmacyTest',
        at: '1) PharmacyTest::testLabelWithoutPatient',
        message: 'Error: Call to a member function getName() on null',
        cause: 'no-patient',
      },
      {
        ...missingFile,
        test: 'testStockIsCounted',
        suite: 'PharmacyTest',
        at: '2) PharmacyTest::testStockIsCounted',
        message: 'RuntimeException: cannot read data/stock.json: No such file or directory',
        cause: 'stock-file',
      },
      {
        ...refused,
        test: 'testSupplierAnswers',
        suite: 'PharmacyTest',
        at: '3) PharmacyTest::testSupplierAnswers',
        message: 'RuntimeException: supplier at 127.0.0.1:3306: Connection refused',
        cause: 'no-supplier',
      },
      {
        ...thrown,
        test: 'testTabletsForNoDays',
        suite: 'PharmacyTest',
        at: '4) PharmacyTest::testTabletsForNoDays',
        message: 'DivisionByZeroError: Division by zero',
        cause: 'no-days',
      },
      {
        ...assertion,
        test: 'testDoseOfAChild',
        suite: 'PharmacyTest',
        at: '1) PharmacyTest::testDoseOfAChild',
        message: 'Failed asserting that 20 is identical to 30.',
        cause: 'dose',
      },
      {
        ...assertion,
        test: 'testOpeningHours',
        suite: 'PharmacyTest',
        at: '2) PharmacyTest::testOpeningHours',
        message: "+    'close' => '18:00'",
        lines: ["-    'close' => '18:30'"],
        cause: 'closing-time',
      },
    ],
  },
  {
    ...createDebianTool('phpunit', 'php-cli'),
    id: 'phpunit-trees-data-set',
    runner: 'phpunit',
    project: 'tree-register',
    ci: 'jenkins',
    files: {
      'tests/TreeTest.php': `<?php

use PHPUnit\\Framework\\TestCase;

final class TreeTest extends TestCase
{
    private array $register;

    protected function setUp(): void
    {
        $url = getenv('TREE_REGISTER');
        if ($url === false) {
            throw new LogicException('TREE_REGISTER is not set');
        }
        $this->register = [];
    }

    public function testOakIsListed(): void
    {
        $this->assertArrayHasKey('oak', $this->register);
    }

    public function testElmIsListed(): void
    {
        $this->assertArrayHasKey('elm', $this->register);
    }
}
`,
      'tests/HeightTest.php': `<?php

use PHPUnit\\Framework\\TestCase;

final class HeightTest extends TestCase
{
    public function heights(): array
    {
        return ['shrub' => [2, 'low'], 'birch' => [15, 'middle'], 'redwood' => [90, 'high']];
    }

    /** @dataProvider heights */
    public function testClass(int $meters, string $class): void
    {
        $this->assertSame($class, $meters < 10 ? 'low' : 'high');
    }

    public function testRings(): void
    {
        $rings = array_sum(array_map(fn (string $ring): int => strlen($ring), ['wide', 'thin']));
        $this->assertGreaterThan(40, $rings);
    }

    public function testUnknownTree(): void
    {
        $this->assertSame('', Forest::find('larch'));
    }
}
`,
    },
    run: 'phpunit --testdox tests',
    exitCode: 2,
    tally: 'Tests: 7, Assertions: 4, Errors: 3, Failures: 2.',
    failures: [
      ...['Oak is listed', 'Elm is listed'].map((test) => ({
        ...missingSetting,
        test,
        suite: 'Tree',
        at: `✘ ${test}`,
        message: 'LogicException: TREE_REGISTER is not set',
        cause: 'tree-register',
      })),
      {
        ...assertion,
        test: 'Class with data set "birch"',
        suite: 'Height',
        at: '✘ Class with data set "birch"',
        message: "-'middle'",
        lines: ["+'high'"],
        cause: 'birch',
      },
      {
        ...assertion,
        test: 'Rings',
        suite: 'Height',
        at: '✘ Rings',
        message: 'Failed asserting that 8 is greater than 40.',
        cause: 'rings',
      },
      {
        ...nullReference,
        test: 'Unknown tree',
        suite: 'Height',
        at: '✘ Unknown tree',
        message: 'Class "Forest" not found',
        cause: 'forest-class',
      },
    ],
  },
  {
    version: 'perl -v',
    id: 'prove-railway',
    runner: 'prove',
    project: 'railway',
    files: {
      'lib/Railway.pm': `package Railway;
use strict;
use warnings;
use IO::Socket::INET;

sub delay { my ($minutes) = @_; return $minutes > 5 ? 'late' : 'on time' }
sub platform { my ($train) = @_; return $train->{track}->number }
sub timetable { open my $file, '<', 'data/timetable.txt' or die "data/timetable.txt: $!\\n"; return <$file> }
sub signal_box {
  return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => 9631, Timeout => 1)
    // die "signal box at 127.0.0.1:9631: $!\\n";
}

1;
`,
      't/delay.t': `use strict;
use warnings;
use lib 'lib';
use Test::More tests => 4;
use Railway;

is(Railway::delay(2), 'on time', 'two minutes are nothing');
is(Railway::delay(6), 'a little late', 'six minutes are a little');
is(Railway::delay(30), 'late', 'half an hour is late');
is_deeply([sort { $a <=> $b } 30, 4], [4, 30, 45], 'delays of the day');
`,
      't/platform.t': `use strict;
use warnings;
use lib 'lib';
use Test::More tests => 2;
use Railway;

ok(1, 'a train is announced');
is(Railway::platform({ name => 'Night Owl' }), 4, 'the night train has a track');
`,
      't/signal.t': `use strict;
use warnings;
use lib 'lib';
use Test::More;
use Railway;

ok(eval { Railway::signal_box() }, 'the signal box answers') or diag($@);
done_testing;
`,
      't/timetable.t': `use strict;
use warnings;
use lib 'lib';
use Test::More tests => 3;
use Railway;

my @lines = Railway::timetable();
ok(@lines > 10, 'more than ten trains');
`,
      't/whistle.t': `use strict;
use warnings;
use Test::More tests => 1;
use Railway::Whistle;

ok(Railway::Whistle->new->blow, 'whistle');
`,
    },
    run: 'prove --recurse --verbose t',
    tally: 'Result: FAIL',
    failures: [
      {
        ...assertion,
        test: 'six minutes are a little',
        suite: 't/delay.t',
        at: "#   Failed test 'six minutes are a little'",
        message: "#     expected: 'a little late'",
        lines: ["#          got: 'late'"],
        cause: 'six-minutes',
      },
      {
        ...assertion,
        test: 'delays of the day',
        suite: 't/delay.t',
        at: "#   Failed test 'delays of the day'",
        message: "$expected->[2] = '45'",
        cause: 'delay-of-45',
      },
      {
        ...nullReference,
        suite: 't/platform.t',
        message: 'Can\'t call method "number" on an undefined value',
        cause: 'train-without-track',
      },
      {
        ...refused,
        test: 'the signal box answers',
        suite: 't/signal.t',
        at: "#   Failed test 'the signal box answers'",
        message: 'signal box at 127.0.0.1:9631: Connection refused',
        cause: 'no-signal-box',
      },
      {
        ...missingFile,
        suite: 't/timetable.t',
        message: 'data/timetable.txt: No such file or directory',
        cause: 'timetable-file',
      },
      {
        ...ownModule,
        suite: 't/whistle.t',
        message: "Can't locate Railway/Whistle.pm in @INC",
        cause: 'whistle-module',
      },
    ],
  },
  {
    ...createDebianTool('bats'),
    id: 'bats-backup',
    runner: 'bats',
    project: 'backup',
    files: {
      'backup.sh': `#!/usr/bin/env bash
set -eu
case \${1:-} in
  name) echo "backup-$2.tar" ;;
  list) cat "$BACKUP_FOLDER/list.txt" ;;
  send) exec 3<>/dev/tcp/127.0.0.1/8730 ;;
  prune) echo "keeping $((\${2:-0} - 1)) copies" ;;
  *) echo "unknown order: \${1:-}" >&2; exit 64 ;;
esac
`,
      'test/backup.bats': `setup() {
  cd "$BATS_TEST_DIRNAME/.."
}

@test "is named after the day" {
  [ "$(bash backup.sh name monday)" = backup-monday.tar ]
}

@test "is named with the week" {
  result=$(bash backup.sh name 2026-W14)
  echo "named $result, wanted week-14.tar"
  [ "$result" = week-14.tar ]
}

@test "lists what it holds" {
  export BACKUP_FOLDER=copies
  bash backup.sh list
}

@test "is sent away at night" {
  bash backup.sh send
}

@test "keeps three copies" {
  run bash backup.sh prune 3
  echo "$output"
  [ "$output" = "keeping 3 copies" ]
}

@test "can be restored" {
  bash backup.sh restore
}
`,
      'test/media.bats': `setup() {
  tape=$(cat /dev/tape0)
}

@test "tape is empty" {
  [ -z "$tape" ]
}

@test "tape has a label" {
  [ -n "$tape" ]
}
`,
    },
    run: 'bats --print-output-on-failure test',
    tally: '1..8',
    failures: [
      {
        ...assertion,
        test: 'is named with the week',
        at: 'not ok 2',
        message: 'named backup-2026-W14.tar, wanted week-14.tar',
        cause: 'week-name',
      },
      {
        ...missingFile,
        test: 'lists what it holds',
        at: 'not ok 3',
        message: 'cat: copies/list.txt: No such file or directory',
        cause: 'list-file',
      },
      {
        ...refused,
        test: 'is sent away at night',
        at: 'not ok 4',
        message: 'connect: Connection refused',
        cause: 'no-server',
      },
      {
        ...assertion,
        test: 'keeps three copies',
        at: 'not ok 5',
        message: 'keeping 2 copies',
        cause: 'copies-kept',
      },
      {
        ...thrown,
        test: 'can be restored',
        at: 'not ok 6',
        message: 'unknown order: restore',
        cause: 'restore-order',
      },
      ...['tape is empty', 'tape has a label'].map((test, index) => ({
        ...missingFile,
        test,
        at: `not ok ${index + 7}`,
        message: 'cat: /dev/tape0: No such file or directory',
        cause: 'no-tape',
      })),
    ],
  },
];
