import {
  assertion,
  type MixedBuild,
  missingFile,
  missingSetting,
  nullReference,
  refused,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createDebianTool } from '../../../scripts/parts/capture/row.ts';

const writeMix = (module: string, app: string) => `defmodule ${module}.MixProject do
  use Mix.Project

  def project, do: [app: :${app}, version: "0.1.0", elixir: "~> 1.14"]
end
`;

/** Suites of ExUnit. */
export const builds: readonly MixedBuild[] = [
  {
    ...createDebianTool('elixir'),
    id: 'exunit-ski-school',
    runner: 'exunit',
    project: 'ski-school',
    files: {
      'mix.exs': writeMix('SkiSchool', 'ski_school'),
      'lib/ski_school.ex': `defmodule SkiSchool do
  def level(days) when days > 5, do: :advanced
  def level(days) when days > 0, do: :beginner

  def price(pupils), do: pupils * 40
  def teacher(class), do: class.teacher.name
  def roster, do: File.read!("rosters/monday.txt")

  def lift do
    case :gen_tcp.connect({127, 0, 0, 1}, 5555, []) do
      {:ok, socket} -> socket
      {:error, reason} -> raise "lift at 127.0.0.1:5555: #{reason}"
    end
  end
end
`,
      'test/test_helper.exs': 'ExUnit.start(seed: 0, timeout: 60_000)\n',
      'test/ski_school_test.exs': `defmodule SkiSchoolTest do
  use ExUnit.Case

  test "a week makes an advanced skier" do
    assert SkiSchool.level(7) == :advanced
  end

  test "the first day has no level" do
    assert SkiSchool.level(0) == :none
  end

  test "five pupils get a discount" do
    assert SkiSchool.price(5) == 180
  end

  test "a class without a teacher" do
    assert SkiSchool.teacher(%{teacher: nil}) == "nobody"
  end

  test "the roster of Monday" do
    assert SkiSchool.roster() =~ "Anna"
  end

  test "the lift carries the class" do
    assert SkiSchool.lift()
  end

  @tag timeout: 200
  test "waiting for snow" do
    Process.sleep(5_000)
  end

  test "helmets of the class" do
    assert {:ok, helmets} = {:error, :too_small}
    assert helmets > 3
  end
end
`,
    },
    before: 'mix compile',
    run: 'mix test',
    exitCode: 2,
    tally: '8 tests, 7 failures',
    failures: [
      {
        ...thrown,
        test: 'the first day has no level',
        suite: 'SkiSchoolTest',
        at: '1) test the first day has no level',
        message: 'no function clause matching in SkiSchool.level/1',
        cause: 'level-of-zero',
      },
      {
        ...assertion,
        test: 'five pupils get a discount',
        suite: 'SkiSchoolTest',
        at: '2) test five pupils get a discount',
        message: 'left:  200',
        lines: ['right: 180'],
        cause: 'discount',
      },
      {
        ...nullReference,
        test: 'a class without a teacher',
        suite: 'SkiSchoolTest',
        at: '3) test a class without a teacher',
        message: '(KeyError) key :name not found in: nil',
        cause: 'no-teacher',
      },
      {
        ...missingFile,
        test: 'the roster of Monday',
        suite: 'SkiSchoolTest',
        at: '4) test the roster of Monday',
        message: 'could not read file "rosters/monday.txt": no such file or directory',
        cause: 'monday-roster',
      },
      {
        ...refused,
        test: 'the lift carries the class',
        suite: 'SkiSchoolTest',
        at: '5) test the lift carries the class',
        message: '(RuntimeError) lift at 127.0.0.1:5555: econnrefused',
        cause: 'no-lift',
      },
      {
        ...testTimeout,
        test: 'waiting for snow',
        suite: 'SkiSchoolTest',
        at: '6) test waiting for snow',
        message: '(ExUnit.TimeoutError) test timed out after 200ms',
        cause: 'no-snow',
      },
      {
        ...assertion,
        test: 'helmets of the class',
        suite: 'SkiSchoolTest',
        at: '7) test helmets of the class',
        message: 'right: {:error, :too_small}',
        cause: 'helmets',
      },
    ],
  },
  {
    ...createDebianTool('elixir'),
    id: 'exunit-post-van-setup',
    runner: 'exunit',
    project: 'post-van',
    files: {
      'mix.exs': writeMix('PostVan', 'post_van'),
      'lib/post_van.ex':
        'defmodule PostVan do\n  def stops(route), do: String.split(route, " > ")\n  def load(parcels), do: Enum.sum(Enum.map(parcels, & &1.kilograms))\nend\n',
      'test/test_helper.exs': 'ExUnit.start(seed: 0)\n',
      'test/route_test.exs': `defmodule RouteTest do
  use ExUnit.Case

  setup do
    {:ok, depot: System.fetch_env!("POST_DEPOT")}
  end

  test "begins at the depot", %{depot: depot} do
    assert hd(PostVan.stops(depot <> " > Mill")) == depot
  end

  test "ends at the depot", %{depot: depot} do
    assert List.last(PostVan.stops("Mill > " <> depot)) == depot
  end
end
`,
      'test/load_test.exs': `defmodule LoadTest do
  use ExUnit.Case

  test "of two parcels" do
    assert PostVan.load([%{kilograms: 3}, %{kilograms: 4}]) == 8
  end

  test "of a letter" do
    assert PostVan.load([%{grams: 20}]) == 0
  end

  test "of an empty van" do
    assert PostVan.load([]) == 0
  end
end
`,
    },
    before: 'mix compile',
    run: 'mix test --trace',
    exitCode: 2,
    tally: '5 tests, 4 failures',
    failures: [
      ...['begins at the depot', 'ends at the depot'].map((test) => ({
        ...missingSetting,
        test,
        suite: 'RouteTest',
        at: `) test ${test} (RouteTest)`,
        message: 'could not fetch environment variable "POST_DEPOT" because it is not set',
        cause: 'post-depot',
      })),
      {
        ...assertion,
        test: 'of two parcels',
        suite: 'LoadTest',
        at: ') test of two parcels (LoadTest)',
        message: 'left:  7',
        lines: ['right: 8'],
        cause: 'two-parcels',
      },
      {
        ...nullReference,
        test: 'of a letter',
        suite: 'LoadTest',
        at: ') test of a letter (LoadTest)',
        message: '(KeyError) key :kilograms not found in: %{grams: 20}',
        cause: 'letter-in-grams',
      },
    ],
  },
];
