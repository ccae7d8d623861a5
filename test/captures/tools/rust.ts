import type { ToolRow } from '../../../scripts/parts/capture/row.ts';

const manifest = '[package]\nname = "tides"\nversion = "0.1.0"\nedition = "2021"\n';
const version = 'cargo --version';

/** Cargo's commands and the tools of a Rust toolchain. */
export const rows: readonly ToolRow[] = [
  {
    version: 'rustfmt --version',
    slug: 'rustfmt-check',
    tool: 'rustfmt',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'Cargo.toml': manifest,
      'src/lib.rs': 'pub fn fits(length: u32, berth: u32) -> bool { length<berth }\n',
    },
    green: { 'src/lib.rs': 'pub fn fits(length: u32, berth: u32) -> bool {\n    length < berth\n}\n' },
    run: 'cargo fmt --all -- --check',
    exitCode: 1,
    telling: ['Diff in'],
  },
  {
    version,
    slug: 'clippy-vec-reference',
    tool: 'clippy',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'Cargo.toml': manifest,
      'src/lib.rs':
        'pub fn longest(lengths: &Vec<u32>) -> u32 {\n    lengths.iter().copied().max().unwrap_or(0)\n}\n',
    },
    green: { 'src/lib.rs': ['&Vec<u32>', '&[u32]'] },
    run: 'cargo clippy --quiet -- -D warnings',
    exitCode: 101,
    telling: ['writing `&Vec` instead of `&[_]`'],
  },
  {
    version,
    slug: 'rustdoc-broken-link',
    tool: 'rustdoc',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'Cargo.toml': manifest,
      'src/lib.rs':
        '//! Tide tables. Start with [`Table::load`].\n\n/// A table of heights.\npub struct Table;\n',
    },
    green: { 'src/lib.rs': ['[`Table::load`]', '[`Table`]'] },
    env: { RUSTDOCFLAGS: '-D warnings' },
    run: 'cargo doc --no-deps',
    exitCode: 101,
    telling: ['unresolved link to `Table::load`'],
  },
  {
    version,
    slug: 'rust-doctest-panic',
    tool: 'rust-doctest',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'Cargo.toml': manifest,
      'src/lib.rs':
        '/// Meters of chain for a depth.\n///\n/// ```\n/// assert_eq!(tides::chain(4), 16);\n/// ```\npub fn chain(depth: u32) -> u32 {\n    depth * 3\n}\n',
    },
    green: { 'src/lib.rs': ['16', '12'] },
    run: 'cargo test --doc',
    exitCode: 101,
    telling: ['assertion `left == right` failed', 'left: 12', 'right: 16'],
  },
  {
    version,
    slug: 'cargo-build-script-failed',
    tool: 'cargo',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'Cargo.toml': `${manifest}build = "build.rs"\n`,
      'build.rs':
        'use std::fs;\n\nfn main() {\n    println!("cargo:rerun-if-changed=data/ports.csv");\n    let ports = fs::read_to_string("data/ports.csv").expect("cannot read data/ports.csv");\n    println!("cargo:rustc-env=PORTS={}", ports.lines().count());\n}\n',
      'src/lib.rs': 'pub const PORTS: &str = env!("PORTS");\n',
    },
    green: { 'data/ports.csv': 'north\nsouth\n' },
    run: 'cargo build',
    exitCode: 101,
    telling: ['cannot read data/ports.csv'],
  },
  {
    version,
    slug: 'cargo-feature-missing',
    tool: 'cargo',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'Cargo.toml': `${manifest}\n[features]\ndefault = ["metric"]\nmetric = []\n`,
      'src/lib.rs': 'pub fn unit() -> &\'static str {\n    "m"\n}\n',
    },
    run: 'cargo test --features imperial',
    exitCode: 101,
    telling: ['does not contain this feature: imperial'],
  },
  {
    version,
    slug: 'cargo-offline-refused',
    tool: 'cargo',
    heldOut: false,
    category: 'INFRA_ERROR',
    network: 'none',
    files: {
      'Cargo.toml': `${manifest}\n[dependencies]\nharbor-units = { git = "http://packages.example.test/harbor-units.git" }\n`,
      'src/lib.rs': 'pub use harbor_units::Meter;\n',
    },
    env: { CARGO_NET_RETRY: '1' },
    run: 'cargo fetch',
    exitCode: 101,
    telling: [{ from: 'failed to connect', occurrence: 'last' }],
  },
  {
    version,
    slug: 'cargo-publish-metadata',
    tool: 'cargo-package',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'Cargo.toml':
        '[package]\nname = "tides"\nversion = "0.1.0"\nedition = "2021"\ninclude = ["src/**", "LICENSE"]\nreadme = "README.md"\n',
      'src/lib.rs': 'pub const HIGH: u32 = 4;\n',
    },
    run: 'cargo package --allow-dirty --offline --no-verify',
    exitCode: 101,
    telling: ['README.md'],
  },
  {
    version: 'rustc --version',
    slug: 'rustc-moved-value',
    tool: 'rustc',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'main.rs':
        'fn announce(name: String) {\n    println!("{name} is leaving");\n}\n\nfn main() {\n    let boat = String::from("Anna");\n    announce(boat);\n    println!("{boat} has left");\n}\n',
    },
    green: { 'main.rs': ['announce(boat);', 'announce(boat.clone());'] },
    run: 'rustc --edition 2021 main.rs',
    exitCode: 1,
    telling: ['borrow of moved value: `boat`'],
  },
];
