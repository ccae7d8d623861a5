import { createDebianTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Compilers, interpreters and test runners of languages that Debian packages. */
export const rows: readonly ToolRow[] = [
  {
    ...createDebianTool('ocaml-dune', 'ocaml-nox'),
    slug: 'dune-type-error',
    tool: 'dune',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'dune-project': '(lang dune 2.9)\n',
      'bin/dune': '(executable (name main))\n',
      'bin/main.ml': 'let minutes hours = hours * 60\n\nlet () = print_endline (minutes 3)\n',
    },
    green: {
      'bin/main.ml': 'let minutes hours = hours * 60\n\nlet () = print_endline (string_of_int (minutes 3))\n',
    },
    run: 'dune build',
    exitCode: 1,
    telling: ['Error: This expression has type int'],
  },
  {
    ...createDebianTool('ghc'),
    slug: 'ghc-no-instance',
    tool: 'ghc',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'Main.hs': 'module Main where\n\ndata Tide = Low | High\n\nmain :: IO ()\nmain = putStrLn (show Low)\n',
    },
    green: {
      'Main.hs':
        'module Main where\n\ndata Tide = Low | High deriving Show\n\nmain :: IO ()\nmain = putStrLn (show Low)\n',
    },
    run: 'ghc -Wall -outputdir out -o tides Main.hs',
    exitCode: 1,
    telling: ['No instance for (Show Tide)'],
  },
  {
    ...createDebianTool('erlang-base'),
    slug: 'erlc-unbound-variable',
    tool: 'erlc',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'src/berth.erl':
        '-module(berth).\n-export([fee/1]).\n\nfee(Length) when Length > 0 ->\n    Length * Rate;\nfee(_) ->\n    0.\n',
    },
    run: 'mkdir -p ebin\nerlc -o ebin src/berth.erl',
    exitCode: 1,
    telling: ["variable 'Rate' is unbound"],
  },
  {
    ...createDebianTool('erlang-eunit', 'erlang-dev'),
    slug: 'eunit-assert-equal',
    tool: 'eunit',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'fee.erl':
        '-module(fee).\n-include_lib("eunit/include/eunit.hrl").\n\nfee(Days) -> Days * 12.\n\nday_test() -> ?assertEqual(12, fee(1)).\nweek_test() -> ?assertEqual(75, fee(7)).\n',
    },
    run: "erlc fee.erl\nerl -noshell -eval 'case eunit:test(fee, []) of ok -> halt(0); _ -> halt(1) end.'",
    exitCode: 1,
    telling: ['expected,75', 'value,84'],
  },
  {
    ...createDebianTool('elixir'),
    slug: 'mix-test-pattern',
    tool: 'mix',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'mix.exs':
        'defmodule Ferry.MixProject do\n  use Mix.Project\n\n  def project do\n    [app: :ferry, version: "0.1.0", elixir: "~> 1.14"]\n  end\nend\n',
      'lib/ferry.ex':
        'defmodule Ferry do\n  def seats(0), do: {:error, :no_boat}\n  def seats(boats), do: {:ok, boats * 40}\nend\n',
      'test/test_helper.exs': 'ExUnit.start()\n',
      'test/ferry_test.exs':
        'defmodule FerryTest do\n  use ExUnit.Case\n\n  test "two boats" do\n    assert Ferry.seats(2) == {:ok, 80}\n  end\n\n  test "no boats" do\n    assert {:ok, 0} = Ferry.seats(0)\n  end\nend\n',
    },
    run: 'mix test',
    exitCode: 2,
    telling: ['match (=) failed'],
  },
  {
    ...createDebianTool('elixir'),
    slug: 'mix-format-check',
    tool: 'mix-format',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'lib/pier.ex': 'defmodule Pier do\n  def open?( hour ),do: hour in 6..22\nend\n' },
    green: { 'lib/pier.ex': 'defmodule Pier do\n  def open?(hour), do: hour in 6..22\nend\n' },
    run: "mix format --check-formatted 'lib/**/*.ex'",
    exitCode: 1,
    telling: ['The following files are not formatted', 'pier.ex'],
  },
  {
    ...createDebianTool('lua-busted'),
    slug: 'busted-assert-same',
    tool: 'busted',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'src/nets.lua': 'local M = {}\nfunction M.sort(list) table.sort(list) return list end\nreturn M\n',
      'spec/nets_spec.lua':
        "local nets = require('src.nets')\n\ndescribe('nets', function()\n  it('keeps one', function() assert.same({ 1 }, nets.sort({ 1 })) end)\n  it('sorts the widest first', function() assert.same({ 3, 2, 1 }, nets.sort({ 2, 3, 1 })) end)\nend)\n",
    },
    run: 'busted --output=plainTerminal spec',
    exitCode: 1,
    telling: ['Expected objects to be the same'],
  },
  {
    ...createDebianTool('lua5.4'),
    slug: 'lua-nil-field',
    tool: 'lua',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'report.lua':
        'local boats = { { name = "Anna", crew = { size = 4 } }, { name = "Bea" } }\n\nfor _, boat in ipairs(boats) do\n  print(boat.name .. " " .. boat.crew.size)\nend\n',
    },
    green: {
      'report.lua':
        'local boats = { { name = "Anna", crew = { size = 4 } } }\n\nfor _, boat in ipairs(boats) do\n  print(boat.name .. " " .. boat.crew.size)\nend\n',
    },
    run: 'lua5.4 report.lua',
    exitCode: 1,
    telling: ["attempt to index a nil value (field 'crew')"],
  },
  {
    ...createDebianTool('perl'),
    slug: 'prove-is-deeply',
    tool: 'prove',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'lib/Queue.pm':
        'package Queue;\nuse strict;\nuse warnings;\nsub next_two { my @jobs = @_; return [ @jobs[0, 1] ]; }\n1;\n',
      't/queue.t':
        "use strict;\nuse warnings;\nuse Test::More;\nuse Queue;\n\nis_deeply(Queue::next_two('a', 'b', 'c'), ['a', 'b'], 'two of three');\nis_deeply(Queue::next_two('a'), ['a'], 'two of one');\ndone_testing;\n",
    },
    run: 'prove -l -v t',
    exitCode: 1,
    telling: ["Failed test 'two of one'"],
  },
  {
    ...createDebianTool('perl'),
    slug: 'perl-module-missing',
    tool: 'perl',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'bin/fetch.pl':
        "use strict;\nuse warnings;\nuse Mojo::UserAgent;\n\nprint Mojo::UserAgent->new->get('http://harbor.example')->result->body;\n",
    },
    run: 'perl bin/fetch.pl',
    exitCode: 2,
    telling: ["Can't locate Mojo/UserAgent.pm in @INC"],
  },
  {
    ...createDebianTool('nim'),
    slug: 'nim-type-mismatch',
    tool: 'nim',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'tides.nim':
        'proc height(hour: int): float =\n  result = 2.0 + hour.float / 10\n\necho height("six")\n',
    },
    green: {
      'tides.nim': 'proc height(hour: int): float =\n  result = 2.0 + hour.float / 10\n\necho height(6)\n',
    },
    run: 'nim check --colors:off tides.nim',
    exitCode: 1,
    telling: ['Error: type mismatch'],
  },
  {
    ...createDebianTool('fp-compiler'),
    slug: 'fpc-identifier-not-found',
    tool: 'fpc',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'invoice.pas':
        "program invoice;\nvar\n  total: integer;\nbegin\n  total := 3 * price;\n  writeln('total ', total);\nend.\n",
    },
    green: {
      'invoice.pas':
        "program invoice;\nconst\n  price = 40;\nvar\n  total: integer;\nbegin\n  total := 3 * price;\n  writeln('total ', total);\nend.\n",
    },
    run: 'fpc invoice.pas',
    exitCode: 1,
    telling: ['Error: Identifier not found "price"'],
  },
  {
    ...createDebianTool('gfortran'),
    slug: 'gfortran-implicit-type',
    tool: 'gfortran',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'wave.f90':
        'program wave\n  implicit none\n  real :: height\n  height = 2.5\n  print *, heigth * 2\nend program wave\n',
    },
    run: 'gfortran -o wave wave.f90',
    exitCode: 1,
    telling: ['Symbol ‘heigth’ at (1) has no IMPLICIT type'],
  },
  {
    ...createDebianTool('gnat'),
    slug: 'gnatmake-undefined-name',
    tool: 'gnatmake',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'signal.adb':
        "with Ada.Text_IO;\n\nprocedure Signal is\n   Count : Integer := 3;\nbegin\n   Text_IO.Put_Line (Integer'Image (Count));\nend Signal;\n",
    },
    green: {
      'signal.adb':
        "with Ada.Text_IO;\n\nprocedure Signal is\n   Count : constant Integer := 3;\nbegin\n   Ada.Text_IO.Put_Line (Integer'Image (Count));\nend Signal;\n",
    },
    run: 'gnatmake -q signal.adb',
    exitCode: 4,
    telling: ['"Text_IO"'],
  },
  {
    ...createDebianTool('swi-prolog-nox'),
    slug: 'swipl-unit-test',
    tool: 'swipl',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'crew.pl': ':- module(crew, [captain/2]).\n\ncaptain(anna, bea).\ncaptain(tide, carl).\n',
      'crew.plt':
        ':- begin_tests(crew).\n:- use_module(crew).\n\ntest(anna, X == bea) :- captain(anna, X).\ntest(tide, X == dora) :- captain(tide, X).\n\n:- end_tests(crew).\n',
    },
    run: 'swipl -g run_tests -t halt crew.plt',
    exitCode: 1,
    telling: ['test tide: wrong answer', 'Expected: dora', 'Got:      carl'],
  },
  {
    ...createDebianTool('sbcl'),
    slug: 'sbcl-division-by-zero',
    tool: 'sbcl',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'share.lisp':
        '(defun share (catch boats)\n  (/ catch boats))\n\n(format t "~a~%" (share 12 3))\n(format t "~a~%" (share 12 0))\n',
    },
    green: {
      'share.lisp': '(defun share (catch boats)\n  (/ catch boats))\n\n(format t "~a~%" (share 12 3))\n',
    },
    run: 'sbcl --script share.lisp',
    exitCode: 1,
    telling: ['arithmetic error DIVISION-BY-ZERO signalled'],
  },
  {
    ...createDebianTool('guile-3.0'),
    slug: 'guile-unbound-variable',
    tool: 'guile',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'menu.scm':
        "(use-modules (srfi srfi-1))\n\n(define (prices menu) (map cdr menu))\n\n(display (fold + 0 (prices '((soup . 4) (fish . 9)))))\n(newline)\n(display (avarage (prices '((soup . 4)))))\n",
    },
    run: 'guile --no-auto-compile menu.scm',
    exitCode: 1,
    telling: ['Unbound variable: avarage'],
  },
  {
    ...createDebianTool('racket'),
    slug: 'raco-test-check-equal',
    tool: 'raco',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'ropes.rkt':
        '#lang racket/base\n(require rackunit)\n\n(define (meters ropes) (* 12 ropes))\n\n(module+ test\n  (check-equal? (meters 1) 12)\n  (check-equal? (meters 3) 30 "three ropes"))\n',
    },
    green: {
      'ropes.rkt':
        '#lang racket/base\n(require rackunit)\n\n(define (meters ropes) (* 12 ropes))\n\n(module+ test\n  (check-equal? (meters 1) 12))\n',
    },
    run: 'raco test ropes.rkt',
    exitCode: 1,
    telling: ['actual:     36', 'expected:   30'],
  },
  {
    ...createDebianTool('crystal'),
    slug: 'crystal-nil-method',
    tool: 'crystal',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'berths.cr': 'berths = {"A1" => 12, "A2" => 9}\n\nwidth = berths["B7"]?\nputs width.abs\n' },
    green: { 'berths.cr': 'berths = {"A1" => 12, "A2" => 9}\n\nputs berths["A1"].abs\n' },
    run: 'crystal build --no-codegen --no-color berths.cr',
    exitCode: 1,
    telling: ["undefined method 'abs' for Nil"],
  },
  {
    ...createDebianTool('valac'),
    slug: 'valac-missing-member',
    tool: 'valac',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'lamp.vala':
        'class Lamp : Object {\n    public bool lit { get; set; }\n}\n\nint main () {\n    var lamp = new Lamp ();\n    lamp.turn_on ();\n    return 0;\n}\n',
    },
    run: 'valac --ccode lamp.vala',
    exitCode: 1,
    telling: ["The name `turn_on' does not exist in the context of `Lamp'"],
  },
  {
    ...createDebianTool('mono-mcs'),
    slug: 'mcs-missing-cast',
    tool: 'mcs',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'Freight.cs':
        'using System;\n\nclass Freight {\n    static int Tons(double load) { return load * 2; }\n    static void Main() { Console.WriteLine(Tons(1.5)); }\n}\n',
    },
    green: {
      'Freight.cs':
        'using System;\n\nclass Freight {\n    static int Tons(double load) { return (int)(load * 2); }\n    static void Main() { Console.WriteLine(Tons(1.5)); }\n}\n',
    },
    run: 'mcs Freight.cs',
    exitCode: 1,
    telling: ["Cannot implicitly convert type `double' to `int'"],
  },
  {
    ...createDebianTool('ldc'),
    slug: 'ldc2-undefined-identifier',
    tool: 'ldc2',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'source/app.d':
        'import std.stdio;\n\nvoid main()\n{\n    auto depths = [4, 9, 2];\n    writeln(depths.maxElement);\n}\n',
    },
    run: 'ldc2 -o- source/app.d',
    exitCode: 1,
    telling: ['no property `maxElement`'],
  },
  {
    ...createDebianTool('ldc'),
    slug: 'ldc2-unittest-failed',
    tool: 'ldc2',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'nets.d':
        'module nets;\n\nint mesh(int width) { return width / 4; }\n\nunittest\n{\n    assert(mesh(8) == 2);\n    assert(mesh(9) == 3, "a net of nine meters");\n}\n\nvoid main() {}\n',
    },
    green: {
      'nets.d':
        'module nets;\n\nint mesh(int width) { return width / 4; }\n\nunittest\n{\n    assert(mesh(8) == 2);\n}\n\nvoid main() {}\n',
    },
    run: 'ldc2 -unittest -of=nets-test nets.d\n./nets-test',
    exitCode: 1,
    telling: ['a net of nine meters'],
  },
  {
    ...createDebianTool('tcl'),
    slug: 'tclsh-tcltest',
    tool: 'tclsh',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'all.tcl':
        'package require tcltest\nnamespace import ::tcltest::*\n\nproc fare {zones} { expr {$zones * 2} }\n\ntest fare-1 {one zone} -body { fare 1 } -result 2\ntest fare-2 {four zones are cheaper} -body { fare 4 } -result 7\n\nset failed $::tcltest::numTests(Failed)\ncleanupTests\nexit [expr {$failed > 0}]\n',
    },
    run: 'tclsh all.tcl',
    exitCode: 1,
    telling: ['==== fare-2 four zones are cheaper FAILED'],
  },
  {
    ...createDebianTool('gforth'),
    slug: 'gforth-undefined-word',
    tool: 'gforth',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'anchor.fs':
        ': chain ( depth -- meters ) 3 * ;\n: report ( -- ) 4 chain . cr ;\nreport\n7 chian . cr\nbye\n',
    },
    green: { 'anchor.fs': ': chain ( depth -- meters ) 3 * ;\n7 chain . cr\nbye\n' },
    run: 'gforth anchor.fs -e bye',
    exitCode: 1,
    telling: ['Undefined word', '>>>chian<<<'],
  },
];
