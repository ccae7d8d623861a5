import {
  assertion,
  brokenFixture,
  type MixedBuild,
  missingFile,
  nullReference,
  refused,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';
import { createDebianTool } from '../../../scripts/parts/capture/row.ts';

/** Suites of RSpec and Minitest. */
export const builds: readonly MixedBuild[] = [
  {
    ...createDebianTool('ruby-rspec', 'ruby'),
    id: 'rspec-vineyard',
    runner: 'rspec',
    project: 'vineyard',
    files: {
      '.rspec': '--require spec_helper\n',
      'spec/spec_helper.rb': "$LOAD_PATH.unshift File.expand_path('../lib', __dir__)\n",
      'lib/vineyard.rb': `require 'socket'
require 'yaml'

class Barrel
  attr_reader :wine

  def initialize(wine = nil)
    @wine = wine
  end

  def bottles
    300 / 0.7
  end

  def vintage
    wine.year
  end

  def rack(level)
    raise ArgumentError, "there are 4 levels, not #{level}" if level > 4

    level
  end
end

def harvest_plan
  YAML.load_file('plans/harvest.yml')
end

def press
  TCPSocket.new('127.0.0.1', 4711)
end
`,
      'spec/barrel_spec.rb': `require 'vineyard'

RSpec.describe Barrel do
  subject(:barrel) { Barrel.new }

  it 'is racked on the first level' do
    expect(barrel.rack(1)).to eq(1)
  end

  it 'fills 400 bottles' do
    expect(barrel.bottles.floor).to eq(400)
  end

  it 'has no vintage while it is empty' do
    expect(barrel.vintage).to be_nil
  end

  it 'is racked under the roof' do
    expect(barrel.rack(5)).to eq(5)
  end

  context 'with red wine' do
    it 'lists the grapes' do
      expect(%w[Merlot Syrah]).to contain_exactly('Merlot', 'Malbec')
    end
  end
end

RSpec.describe 'harvest' do
  it 'begins in September' do
    expect(harvest_plan['begin']).to eq('September')
  end

  it 'runs the press' do
    press
  end
end
`,
    },
    run: 'rspec',
    tally: '7 examples, 6 failures',
    failures: [
      {
        ...assertion,
        test: 'Barrel fills 400 bottles',
        at: '1) Barrel',
        message: 'got: 428',
        lines: ['expected: 400'],
        cause: 'bottles',
      },
      {
        ...nullReference,
        test: 'Barrel has no vintage while it is empty',
        at: '2) Barrel',
        message: "undefined method `year' for nil:NilClass",
        cause: 'empty-barrel',
      },
      {
        ...thrown,
        test: 'Barrel is racked under the roof',
        at: '3) Barrel',
        message: 'there are 4 levels, not 5',
        cause: 'four-levels',
      },
      {
        ...assertion,
        test: 'Barrel with red wine lists the grapes',
        at: '4) Barrel',
        message: 'the missing elements were:      ["Malbec"]',
        lines: ['the extra elements were:        ["Syrah"]'],
        cause: 'grapes',
      },
      {
        ...missingFile,
        test: 'harvest begins in September',
        at: '5) harvest',
        message: 'No such file or directory @ rb_sysopen - plans/harvest.yml',
        cause: 'harvest-plan',
      },
      {
        ...refused,
        test: 'harvest runs the press',
        at: '6) harvest',
        message: 'Connection refused - connect(2) for "127.0.0.1" port 4711',
        cause: 'no-press',
      },
    ],
  },
  {
    ...createDebianTool('ruby-rspec', 'ruby', 'ruby-rspec-retry'),
    id: 'rspec-stable-hook',
    runner: 'rspec',
    project: 'stable',
    files: {
      '.rspec': '--require spec_helper\n',
      'spec/spec_helper.rb': `require 'rspec/retry'

RSpec.configure do |config|
  config.verbose_retry = true
  config.display_try_failure_messages = true
  config.around(:each, :weather) { |example| example.run_with_retry retry: 3 }
end
`,
      'spec/horses_spec.rb': `require 'json'

RSpec.describe 'horses' do
  before { @boxes = JSON.parse('{"Luna": 4, "Fox": }') }

  it('stand in their boxes') { expect(@boxes['Luna']).to eq(4) }
  it('share no box') { expect(@boxes.values.uniq.size).to eq(2) }
  it('are fed at six') { expect(@boxes.keys).to include('Fox') }
end
`,
      'spec/paddock_spec.rb': `RSpec.describe 'paddock' do
  it 'is dry', :weather do
    $looks = ($looks || 0) + 1
    expect($looks > 1 ? 'dry' : 'muddy').to eq('dry')
  end

  it 'has a gate for each side' do
    expect({ north: 1, south: 1 }).to eq({ north: 1, south: 1, east: 1 })
  end
end
`,
      'spec/hay_spec.rb':
        "require_relative '../lib/hay'\n\nRSpec.describe Hay do\n  it('is dry') { expect(Hay.new).to be_dry }\nend\n",
      'lib/hay.rb': 'class Hay\n  def dry?\n    moisture < 15\n  end\nend\n',
    },
    run: 'rspec',
    tally: '6 examples, 5 failures',
    passedOnRetry: ['paddock is dry'],
    failures: [
      {
        ...nullReference,
        test: 'Hay is dry',
        at: '1) Hay is dry',
        message: "undefined local variable or method `moisture'",
        cause: 'moisture',
      },
      ...['stand in their boxes', 'share no box', 'are fed at six'].map((test, index) => ({
        ...brokenFixture,
        test: `horses ${test}`,
        at: `${index + 2}) horses ${test}`,
        message: `unexpected token at '{"Luna": 4, "Fox": }'`,
        cause: 'boxes-json',
      })),
      {
        ...assertion,
        test: 'paddock has a gate for each side',
        at: '5) paddock',
        message: '-:east => 1,',
        cause: 'east-gate',
      },
    ],
  },
  {
    ...createDebianTool('ruby-minitest', 'ruby'),
    id: 'minitest-cinema',
    runner: 'minitest',
    project: 'cinema',
    files: {
      'lib/cinema.rb': `require 'socket'

Seat = Struct.new(:row, :number, :guest)

def price(age)
  age < 12 ? 6 : 11
end

def greet(seat)
  'Welcome, ' + seat.guest.name
end

def program
  File.readlines('program/week-12.txt')
end

def till
  TCPSocket.new('127.0.0.1', 8089)
end

def row(letter)
  { 'A' => 1, 'B' => 2 }.fetch(letter)
end
`,
      'test/cinema_test.rb': `require 'minitest/autorun'
require_relative '../lib/cinema'

class SeatTest < Minitest::Test
  def test_free_seat_has_no_guest
    assert_equal 'Welcome', greet(Seat.new('A', 4))
  end

  def test_first_row
    assert_equal 1, row('A')
  end

  def test_last_row
    assert_equal 26, row('Z')
  end
end

class TicketTest < Minitest::Test
  def test_pensioner_pays_less
    assert_equal 8, price(70), 'a pensioner at the till'
  end

  def test_till_prints
    till
  end

  def test_program_of_the_week
    assert_includes program, 'Metropolis'
  end

  def test_snacks
    assert_equal({ popcorn: 4, water: 2 }, { popcorn: 5, water: 2 })
  end
end
`,
    },
    run: 'ruby test/cinema_test.rb --seed 12',
    tally: '7 runs, 3 assertions, 2 failures, 4 errors, 0 skips',
    failures: [
      {
        ...nullReference,
        test: 'test_free_seat_has_no_guest',
        suite: 'SeatTest',
        at: 'SeatTest#test_free_seat_has_no_guest:',
        message: "NoMethodError: undefined method `name' for nil:NilClass",
        cause: 'free-seat',
      },
      {
        ...thrown,
        test: 'test_last_row',
        suite: 'SeatTest',
        at: 'SeatTest#test_last_row:',
        message: 'KeyError: key not found: "Z"',
        cause: 'row-z',
      },
      {
        ...assertion,
        test: 'test_pensioner_pays_less',
        suite: 'TicketTest',
        at: 'TicketTest#test_pensioner_pays_less',
        message: 'a pensioner at the till.',
        lines: ['Expected: 8', 'Actual: 11'],
        cause: 'pensioner',
      },
      {
        ...refused,
        test: 'test_till_prints',
        suite: 'TicketTest',
        at: 'TicketTest#test_till_prints:',
        message: 'Errno::ECONNREFUSED: Connection refused - connect(2) for "127.0.0.1" port 8089',
        cause: 'no-till',
      },
      {
        ...missingFile,
        test: 'test_program_of_the_week',
        suite: 'TicketTest',
        at: 'TicketTest#test_program_of_the_week:',
        message: 'Errno::ENOENT: No such file or directory @ rb_sysopen - program/week-12.txt',
        cause: 'program-file',
      },
      {
        ...assertion,
        test: 'test_snacks',
        suite: 'TicketTest',
        at: 'TicketTest#test_snacks',
        message: 'Actual: {:popcorn=>5, :water=>2}',
        lines: ['Expected: {:popcorn=>4, :water=>2}'],
        cause: 'popcorn',
      },
    ],
  },
  {
    ...createDebianTool('ruby-minitest', 'ruby', 'rake'),
    id: 'minitest-mill-rake',
    runner: 'minitest',
    project: 'mill',
    files: {
      Rakefile:
        "require 'rake/testtask'\n\nRake::TestTask.new(:test) do |task|\n  task.libs << 'lib'\n  task.test_files = FileList['test/*_test.rb']\n  task.options = '--seed=3'\nend\n",
      'lib/mill.rb':
        "require 'mill/wheel'\n\nmodule Mill\n  def self.flour(sacks)\n    sacks * 40\n  end\nend\n",
      'lib/mill/wheel.rb':
        'module Mill\n  class Wheel\n    def turn(water)\n      water.level.to_i + 1\n    end\n  end\nend\n',
      'test/wheel_test.rb': `require 'minitest/autorun'
require 'mill'

class WheelTest < Minitest::Test
  def setup
    @wheel = Mill::Wheel.new('oak')
  end

  def test_turns_slowly
    assert_equal 2, @wheel.turn(1)
  end

  def test_stands_still
    assert_equal 0, @wheel.turn(0)
  end
end
`,
      'test/flour_test.rb': `require 'minitest/autorun'
require 'mill'

class FlourTest < Minitest::Test
  def test_of_three_sacks
    assert_equal 105, Mill.flour(3)
  end

  def test_of_no_sacks
    assert_raises(ArgumentError) { Mill.flour(0) }
  end
end
`,
    },
    run: 'rake test',
    tally: '4 runs, 2 assertions, 2 failures, 2 errors, 0 skips',
    failures: [
      ...['test_turns_slowly', 'test_stands_still'].map((test) => ({
        ...brokenFixture,
        test,
        suite: 'WheelTest',
        at: `WheelTest#${test}:`,
        message: 'ArgumentError: wrong number of arguments (given 1, expected 0)',
        cause: 'wheel-of-oak',
      })),
      {
        ...assertion,
        test: 'test_of_three_sacks',
        suite: 'FlourTest',
        at: 'FlourTest#test_of_three_sacks',
        message: 'Actual: 120',
        lines: ['Expected: 105'],
        cause: 'flour-per-sack',
      },
      {
        ...assertion,
        test: 'test_of_no_sacks',
        suite: 'FlourTest',
        at: 'FlourTest#test_of_no_sacks',
        message: 'ArgumentError expected but nothing was raised.',
        cause: 'no-sacks',
      },
    ],
  },
];
