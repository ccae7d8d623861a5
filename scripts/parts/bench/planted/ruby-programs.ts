import { create, type Program, replace } from './program.ts';

const recipes: Program = {
  name: 'recipes',
  language: 'Ruby',
  test: ['ruby', '-Ilib', 'test/recipe_test.rb'],
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin recipes',
      edits: [
        create('lib/units.rb', 'UNITS = {', '  gram: 1,', '  spoon: 15,', '}.freeze'),
        create(
          'lib/recipe.rb',
          "require_relative 'units'",
          '',
          'class Recipe',
          '  attr_reader :steps',
          '',
          '  def initialize(author: nil, steps: [])',
          '    @author = author',
          '    @steps = steps',
          '  end',
          '',
          '  def byline',
          '    "by #{@author.name.capitalize}"',
          '  end',
          '',
          '  def servings(people = 4)',
          '    people * 2',
          '  end',
          '',
          '  def spoons(count)',
          '    count * UNITS[:spoon]',
          '  end',
          '',
          '  def last_steps(count)',
          '    @steps[(@steps.length - count)..]',
          '  end',
          'end',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Accept recipes without an author',
      edits: [
        replace(
          'lib/recipe.rb',
          '    "by #{',
          `    return "anonymous" if @author.nil?

    "by #{`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test recipes',
      edits: [
        create(
          'test/recipe_test.rb',
          "require 'minitest/autorun'",
          "require 'recipe'",
          '',
          'class RecipeTest < Minitest::Test',
          '  def test_byline_without_author',
          '    assert_equal "anonymous", Recipe.new.byline',
          '  end',
          '',
          '  def test_servings',
          '    assert_equal 8, Recipe.new.servings',
          '  end',
          '',
          '  def test_spoons',
          '    assert_equal 30, Recipe.new.spoons(2)',
          '  end',
          '',
          '  def test_last_steps',
          '    assert_equal %w[bake eat], Recipe.new(steps: %w[mix bake eat]).last_steps(2)',
          '  end',
          'end',
        ),
      ],
    },
  ],
  harmless: [
    { author: 'Carl Meyer', message: 'Add a readme', edits: [create('README.md', '# Recipes')] },
    {
      author: 'Dora Lind',
      message: 'Describe recipes',
      edits: [
        replace(
          'lib/recipe.rb',
          `class Recipe
`,
          `# What to cook, and how.
class Recipe
`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Count steps',
      edits: [
        replace(
          'lib/recipe.rb',
          '  def spoons(count)',
          `  def length
    @steps.length
  end

  def spoons(count)`,
        ),
      ],
    },
    {
      author: 'Fay Orr',
      message: 'Add cups',
      edits: [
        replace(
          'lib/units.rb',
          `  gram: 1,
`,
          `  gram: 1,
  cup: 240,
`,
        ),
      ],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Shorten the byline',
      edits: [
        replace(
          'lib/recipe.rb',
          `    return "anonymous" if @author.nil?

`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Cook for fewer',
      edits: [replace('lib/recipe.rb', 'people = 4', 'people = 3')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Use the usual name of the unit',
      edits: [replace('lib/units.rb', '  spoon: 15,', '  tablespoon: 15,')],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Keep one more step',
      edits: [replace('lib/recipe.rb', '(@steps.length - count)..', '(@steps.length - count - 1)..')],
    },
  },
};

const trains: Program = {
  name: 'trains',
  language: 'Ruby',
  test: ['ruby', '-Ilib', 'test/timetable_test.rb'],
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin the timetable',
      edits: [
        create(
          'lib/stations.rb',
          'module Stations',
          '  def self.find(code)',
          "    { 'BRN' => { title: 'Bern', platforms: 12 } }[code]",
          '  end',
          'end',
        ),
        create(
          'lib/timetable.rb',
          "require_relative 'stations'",
          '',
          'class Timetable',
          '  def initialize(times)',
          '    @times = times',
          '  end',
          '',
          '  def title(code)',
          '    station = Stations.find(code)',
          '    station[:title].upcase',
          '  end',
          '',
          '  def following(time, limit: 2)',
          '    @times.select { |one| one > time }.first(limit)',
          '  end',
          '',
          '  def position(time)',
          '    @times.index(time) + 1',
          '  end',
          'end',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Show unknown stations by their code',
      edits: [
        replace(
          'lib/timetable.rb',
          '    station[:title].upcase',
          `    unless station
      return code
    end
    station[:title].upcase`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test the timetable',
      edits: [
        create(
          'test/timetable_test.rb',
          "require 'minitest/autorun'",
          "require 'timetable'",
          '',
          'class TimetableTest < Minitest::Test',
          '  def setup',
          '    @table = Timetable.new([600, 630, 700, 730])',
          '  end',
          '',
          '  def test_unknown_station',
          "    assert_equal 'ZZZ', @table.title('ZZZ')",
          '  end',
          '',
          '  def test_title',
          "    assert_equal 'BERN', @table.title('BRN')",
          '  end',
          '',
          '  def test_following',
          '    assert_equal [630, 700], @table.following(600)',
          '  end',
          '',
          '  def test_position',
          '    assert_equal 3, @table.position(700)',
          '  end',
          'end',
        ),
      ],
    },
  ],
  harmless: [
    {
      author: 'Dora Lind',
      message: 'Count trains',
      edits: [
        replace(
          'lib/timetable.rb',
          '  def following(',
          `  def count
    @times.length
  end

  def following(`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Describe stations',
      edits: [
        replace(
          'lib/stations.rb',
          `module Stations
`,
          `# The stations that we know.
module Stations
`,
        ),
      ],
    },
    { author: 'Carl Meyer', message: 'Add a map', edits: [create('docs/map.md', '# Map')] },
    {
      author: 'Fay Orr',
      message: 'Describe the timetable',
      edits: [
        replace(
          'lib/timetable.rb',
          `class Timetable
`,
          `# When trains leave.
class Timetable
`,
        ),
      ],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Expect known stations',
      edits: [
        replace(
          'lib/timetable.rb',
          `    unless station
      return code
    end
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Show one more train',
      edits: [replace('lib/timetable.rb', 'limit: 2', 'limit: 3')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Call titles names',
      edits: [replace('lib/stations.rb', "title: 'Bern'", "name: 'Bern'")],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Count from zero',
      edits: [replace('lib/timetable.rb', '@times.index(time) + 1', '@times.index(time)')],
    },
  },
};

export const RUBY_PROGRAMS: readonly Program[] = [recipes, trains];
