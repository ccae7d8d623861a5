import {
  assertion,
  compileError,
  type MixedBuild,
  missingFile,
  missingSetting,
  nullReference,
  refused,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';

const nextest =
  '[ -x ~/.cargo/registry/tools/bin/cargo-nextest ] || cargo install --locked --root ~/.cargo/registry/tools --no-default-features --features default-no-update cargo-nextest\nmkdir -p ~/.local/bin && cp ~/.cargo/registry/tools/bin/cargo-nextest ~/.local/bin/';

/** Suites of cargo test and cargo-nextest. */
export const builds: readonly MixedBuild[] = [
  {
    version: 'cargo --version',
    id: 'cargo-greenhouse',
    runner: 'cargo test',
    project: 'glasshouse',
    files: {
      'Cargo.toml': '[package]\nname = "glasshouse"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': `use std::collections::HashMap;
use std::fs;
use std::net::TcpStream;

/// Liters for a number of beds.
///
/// \`\`\`
/// assert_eq!(glasshouse::liters(2), 25);
/// \`\`\`
pub fn liters(beds: u32) -> u32 {
    beds * 12
}

pub fn heater(names: &HashMap<&str, u32>, name: &str) -> u32 {
    *names.get(name).unwrap()
}

pub fn seeds() -> std::io::Result<String> {
    fs::read_to_string("data/seeds.toml")
}

pub fn sensor() -> std::io::Result<TcpStream> {
    TcpStream::connect("127.0.0.1:1883")
}

pub fn third(rows: &[u32]) -> u32 {
    rows[3]
}

pub fn days(text: &str) -> u32 {
    text.parse().expect("days must be a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_beds_need_no_water() {
        assert_eq!(liters(0), 0);
    }

    #[test]
    fn five_beds_need_a_tank() {
        assert_eq!(liters(5), 75, "water for five beds");
    }

    #[test]
    fn heater_of_the_palm_house() {
        assert_eq!(heater(&HashMap::new(), "palms"), 3);
    }

    #[test]
    fn seeds_are_listed() {
        let seeds = seeds().unwrap();
        assert!(seeds.contains("basil"));
    }

    #[test]
    fn sensor_answers() -> Result<(), String> {
        sensor().map(|_| ()).map_err(|error| format!("sensor at port 1883: {error}"))
    }

    #[test]
    fn fourth_row_is_empty() {
        assert_eq!(third(&[1, 2, 3]), 0);
    }

    #[test]
    fn days_until_harvest() {
        assert_eq!(days("ninety"), 90);
    }

    #[test]
    #[should_panic(expected = "too cold for lemons")]
    fn lemons_stay_inside() {
        assert!(liters(1) > 0);
    }
}
`,
    },
    run: 'cargo test --offline --no-fail-fast -- --test-threads=1',
    exitCode: 101,
    tally: ['test result: FAILED. 1 passed; 7 failed', 'test result: FAILED. 0 passed; 1 failed'],
    failures: [
      {
        ...assertion,
        test: 'tests::five_beds_need_a_tank',
        message: 'water for five beds',
        lines: ['left: 60', 'right: 75'],
        cause: 'tank',
      },
      {
        ...nullReference,
        test: 'tests::heater_of_the_palm_house',
        message: 'called `Option::unwrap()` on a `None` value',
        cause: 'palm-heater',
      },
      {
        ...missingFile,
        test: 'tests::seeds_are_listed',
        message:
          'called `Result::unwrap()` on an `Err` value: Os { code: 2, kind: NotFound, message: "No such file or directory" }',
        cause: 'seeds-file',
      },
      {
        ...refused,
        test: 'tests::sensor_answers',
        message: 'sensor at port 1883: Connection refused',
        cause: 'no-sensor',
      },
      {
        ...thrown,
        test: 'tests::fourth_row_is_empty',
        message: 'index out of bounds: the len is 3 but the index is 3',
        cause: 'fourth-row',
      },
      {
        ...thrown,
        test: 'tests::days_until_harvest',
        message: 'days must be a number: ParseIntError',
        cause: 'ninety-days',
      },
      {
        ...assertion,
        test: 'tests::lemons_stay_inside',
        message: 'test did not panic as expected',
        cause: 'lemons',
      },
      {
        ...assertion,
        test: 'src/lib.rs - liters (line 7)',
        message: 'left: 24',
        lines: ['right: 25'],
        cause: 'doctest-liters',
      },
    ].map((failure) => ({ ...failure, at: `---- ${failure.test} stdout ----` })),
  },
  {
    version: 'cargo --version',
    id: 'cargo-compiler-findings',
    runner: 'cargo test',
    project: 'signal-box',
    ci: 'plain',
    files: {
      'Cargo.toml': '[package]\nname = "signal-box"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': 'pub mod lever;\npub mod track;\n',
      'src/lever.rs': `pub struct Lever {
    pub number: u8,
    pub up: bool,
}

pub fn pull(lever: Lever) -> Lever {
    let moved = lever;
    println!("{}", lever.number);
    moved
}

pub fn label(lever: &Lever) -> String {
    lever.number
}
`,
      'src/track.rs': `use crate::lever::Levers;

pub fn free(track: u32) -> bool {
    track % 2 == parity()
}
`,
    },
    run: 'cargo test --offline',
    exitCode: 101,
    tally: 'due to 4 previous errors',
    findings: true,
    failures: [
      {
        ...compileError,
        message: 'unresolved import `crate::lever::Levers`',
        lines: ['src/track.rs:1:5'],
        cause: 'rustc',
      },
      {
        ...compileError,
        message: 'cannot find function `parity` in this scope',
        lines: ['src/track.rs:4:18'],
        cause: 'rustc',
      },
      {
        ...compileError,
        message: 'borrow of moved value: `lever`',
        lines: ['src/lever.rs:8:20'],
        cause: 'rustc',
      },
      {
        ...compileError,
        message: 'mismatched types',
        lines: ['src/lever.rs:13:5', 'expected `String`, found `u8`'],
        kind: 'type_error',
        cause: 'rustc',
      },
    ],
  },
  {
    setup: nextest,
    version: 'cargo nextest --version',
    id: 'nextest-ferry-retries',
    runner: 'nextest',
    project: 'ferry-desk',
    files: {
      'Cargo.toml': '[package]\nname = "ferry-desk"\nversion = "0.1.0"\nedition = "2021"\n',
      '.config/nextest.toml':
        '[profile.ci]\nretries = 2\nfail-fast = false\nslow-timeout = { period = "1s", terminate-after = 1 }\n\n[profile.ci.junit]\npath = "report.xml"\n',
      'src/lib.rs': `pub fn cabins(deck: u8) -> u32 {
    match deck {
        1..=4 => 40,
        _ => panic!("the ferry has 4 decks, not {deck}"),
    }
}

pub fn fare(trucks: u32) -> u32 {
    trucks * 95
}
`,
      'tests/desk.rs': `use ferry_desk::{cabins, fare};
use std::{env, fs, net::TcpStream, thread, time::Duration};

#[test]
fn cabins_on_the_first_deck() {
    assert_eq!(cabins(1), 40);
}

#[test]
fn cabins_under_water() {
    assert_eq!(cabins(9), 0);
}

#[test]
fn two_trucks_pay() {
    assert_eq!(fare(2), 180, "fare of two trucks");
}

#[test]
fn harbor_is_called() {
    TcpStream::connect("127.0.0.1:5060").expect("call to the harbor");
}

#[test]
fn tide_table_is_there() {
    fs::read("tables/tides.bin").expect("tables/tides.bin");
}

#[test]
fn fog_lifts() {
    thread::sleep(Duration::from_secs(20));
}

#[test]
fn ramp_is_down() {
    let mark = env::temp_dir().join("ramp-was-moved");
    if fs::metadata(&mark).is_err() {
        fs::write(&mark, "").unwrap();
        panic!("ramp is still moving");
    }
}
`,
    },
    run: 'cargo nextest run --offline --profile ci --color never',
    exitCode: 100,
    report: 'target/nextest/ci/report.xml',
    tally: '7 tests run: 2 passed (1 flaky), 4 failed, 1 timed out',
    passedOnRetry: ['ramp_is_down'],
    failures: [
      {
        ...thrown,
        test: 'cabins_under_water',
        suite: 'ferry-desk::desk',
        message: 'the ferry has 4 decks, not 9',
        cause: 'ninth-deck',
      },
      {
        ...assertion,
        test: 'two_trucks_pay',
        suite: 'ferry-desk::desk',
        message: 'fare of two trucks',
        lines: ['left: 190', 'right: 180'],
        cause: 'truck-fare',
      },
      {
        ...refused,
        test: 'harbor_is_called',
        suite: 'ferry-desk::desk',
        message: 'call to the harbor: Os { code: 111, kind: ConnectionRefused',
        cause: 'no-harbor',
      },
      {
        ...missingFile,
        test: 'tide_table_is_there',
        suite: 'ferry-desk::desk',
        message: 'tables/tides.bin: Os { code: 2, kind: NotFound',
        cause: 'tide-table',
      },
      {
        ...testTimeout,
        test: 'fog_lifts',
        suite: 'ferry-desk::desk',
        at: 'TRY 1 TMT [',
        message: '(test timed out)',
        cause: 'fog',
      },
    ],
  },
  {
    setup: nextest,
    version: 'cargo nextest --version',
    id: 'nextest-sawmill-one-cause',
    runner: 'nextest',
    project: 'sawmill',
    ci: 'jenkins',
    files: {
      'Cargo.toml': '[package]\nname = "sawmill"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': `pub fn settings() -> String {
    std::env::var("SAWMILL_ORDERS").expect("SAWMILL_ORDERS must name the orders")
}

pub fn boards(trunk: f64) -> u32 {
    (trunk / 0.03) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_oak() {
        assert!(settings().contains("oak"));
    }

    #[test]
    fn orders_of_pine() {
        assert!(settings().contains("pine"));
    }

    #[test]
    fn orders_are_sorted() {
        assert!(settings().len() > 3);
    }

    #[test]
    fn boards_of_a_thick_trunk() {
        assert_eq!(boards(0.9), 29);
    }

    #[test]
    fn boards_of_a_twig() {
        let trunk: Option<f64> = None;
        assert_eq!(boards(trunk.unwrap()), 0);
    }
}
`,
    },
    run: 'cargo nextest run --offline --no-fail-fast --color never',
    exitCode: 100,
    tally: '5 tests run: 0 passed, 5 failed, 0 skipped',
    failures: [
      ...['tests::orders_of_oak', 'tests::orders_of_pine', 'tests::orders_are_sorted'].map((test) => ({
        ...missingSetting,
        test,
        at: `thread '${test}'`,
        message: 'SAWMILL_ORDERS must name the orders: NotPresent',
        cause: 'sawmill-orders',
      })),
      {
        ...assertion,
        test: 'tests::boards_of_a_thick_trunk',
        at: "thread 'tests::boards_of_a_thick_trunk'",
        message: 'left: 30',
        lines: ['right: 29'],
        cause: 'thick-trunk',
      },
      {
        ...nullReference,
        test: 'tests::boards_of_a_twig',
        at: "thread 'tests::boards_of_a_twig'",
        message: 'called `Option::unwrap()` on a `None` value',
        cause: 'twig',
      },
    ],
  },
];
