import { createDebianTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Tools of Ruby and PHP, as Debian ships them. */
export const rows: readonly ToolRow[] = [
  {
    ...createDebianTool('rubocop', 'ruby'),
    slug: 'rubocop-offenses',
    tool: 'rubocop',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      '.rubocop.yml':
        'AllCops:\n  NewCops: disable\n  SuggestExtensions: false\nStyle/Documentation:\n  Enabled: false\n',
      'lib/ferry.rb':
        '# frozen_string_literal: true\n\ndef fare(age)\n  unused = 3\n  age < 12 ? 2 : 4\nend\n',
    },
    green: { 'lib/ferry.rb': ['  unused = 3\n', ''] },
    run: 'rubocop',
    exitCode: 1,
    telling: ['Useless assignment to variable - unused.'],
  },
  {
    ...createDebianTool('ruby-rspec', 'ruby'),
    slug: 'rspec-change-matcher',
    tool: 'rspec',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'spec/queue_spec.rb':
        "require_relative '../lib/waiting_line'\n\nRSpec.describe WaitingLine do\n  it 'lets one person leave' do\n    line = described_class.new(%w[Ada Bo])\n    expect { line.leave }.to change(line, :size).by(-1)\n  end\n\n  it 'starts empty' do\n    expect(described_class.new([]).size).to eq 0\n  end\nend\n",
      'lib/waiting_line.rb':
        'class WaitingLine\n  def initialize(people)\n    @people = people\n  end\n\n  def leave\n    @people.first\n  end\n\n  def size\n    @people.size\n  end\nend\n',
    },
    green: { 'lib/waiting_line.rb': ['@people.first', '@people.shift'] },
    run: 'rspec --format documentation',
    exitCode: 1,
    telling: ['expected `WaitingLine#size` to have changed by -1, but was changed by 0'],
  },
  {
    ...createDebianTool('cucumber', 'ruby'),
    slug: 'cucumber-ruby-raised',
    tool: 'cucumber',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'features/lamp.feature':
        'Feature: Lamp\n  Scenario: The lamp goes on\n    Given a lamp that is off\n    When I press the switch\n    Then the lamp is on\n',
      'features/step_definitions/lamp.rb':
        "Given('a lamp that is off') { @on = false }\n\nWhen('I press the switch') { @on = nil }\n\nThen('the lamp is on') { raise \"the lamp is #{@on.inspect}\" unless @on }\n",
    },
    green: { 'features/step_definitions/lamp.rb': ['@on = nil', '@on = true'] },
    run: 'cucumber',
    exitCode: 1,
    telling: ['the lamp is nil (RuntimeError)'],
  },
  {
    ...createDebianTool('rake', 'ruby'),
    slug: 'rake-unknown-task',
    tool: 'rake',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { Rakefile: "task default: %i[check package]\n\ntask :check do\n  puts 'checked 3 pages'\nend\n" },
    green: { Rakefile: ['%i[check package]', '%i[check]'] },
    run: 'rake --trace',
    exitCode: 1,
    telling: ["Don't know how to build task 'package'"],
  },
  {
    ...createDebianTool('ruby-minitest', 'ruby'),
    slug: 'minitest-assert-in-delta',
    tool: 'minitest',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'test/circle_test.rb':
        "require 'minitest/autorun'\nrequire_relative '../lib/circle'\n\nclass CircleTest < Minitest::Test\n  def test_area\n    assert_in_delta 12.566, area(2), 0.01\n  end\n\n  def test_point\n    assert_equal 0, area(0)\n  end\nend\n",
      'lib/circle.rb': 'def area(radius)\n  3 * radius**2\nend\n',
    },
    green: { 'lib/circle.rb': ['3 * radius', 'Math::PI * radius'] },
    run: 'ruby test/circle_test.rb --seed 7',
    exitCode: 1,
    telling: ['Expected |12.566 - 12|'],
  },
  {
    ...createDebianTool('ruby'),
    slug: 'ruby-load-error',
    tool: 'ruby',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CODE_ERROR', 'CONFIG_ERROR'],
    files: { 'bin/report.rb': "require 'csv'\nrequire 'tide_tables'\n\nputs CSV.generate_line([1, 2])\n" },
    green: { 'bin/report.rb': ["require 'tide_tables'\n", ''] },
    run: 'ruby bin/report.rb',
    exitCode: 1,
    telling: ['cannot load such file -- tide_tables (LoadError)'],
  },
  {
    ...createDebianTool('ruby'),
    slug: 'erb-syntax-error',
    tool: 'erb',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'views/invoice.erb':
        '<h1>Invoice</h1>\n<% items = [1, 2] %>\n<% items.each do |item| %>\n  <p><%= item %></p>\n',
    },
    green: {
      'views/invoice.erb':
        '<h1>Invoice</h1>\n<% items = [1, 2] %>\n<% items.each do |item| %>\n  <p><%= item %></p>\n<% end %>\n',
    },
    run: 'for view in views/*.erb; do\n  erb -x "$view" | ruby -c\ndone',
    exitCode: 1,
    telling: ['syntax error, unexpected end-of-input'],
  },
  {
    ...createDebianTool('bundler', 'ruby'),
    slug: 'bundler-missing-source-gem',
    tool: 'bundler',
    heldOut: false,
    category: 'INFRA_ERROR',
    files: { Gemfile: "source 'http://packages.example.test'\n\ngem 'tide_tables', '~> 2.0'\n" },
    network: 'unavailable',
    run: 'bundle install --retry 0',
    exitCode: 17,
    telling: [
      'Could not fetch specs from http://packages.example.test/',
      'bad response Service Unavailable 503',
    ],
  },
  {
    ...createDebianTool('asciidoctor'),
    slug: 'asciidoctor-missing-include',
    tool: 'asciidoctor',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: { 'handbook.adoc': '= Handbook\n\ninclude::chapters/opening.adoc[]\n\nSee <<closing>>.\n' },
    green: { 'chapters/opening.adoc': '[[closing]]\n== Opening\n\nAt nine.\n' },
    run: 'asciidoctor --verbose --failure-level=WARN handbook.adoc',
    exitCode: 1,
    telling: ['include file not found'],
  },
  {
    ...createDebianTool('jekyll'),
    slug: 'jekyll-liquid-syntax',
    tool: 'jekyll',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      '_config.yml': 'title: Allotment\n',
      'index.md': '---\ntitle: Beds\n---\n{% for bed in site.beds %}\n- {{ bed }}\n{% endfr %}\n',
    },
    green: { 'index.md': ['endfr', 'endfor'] },
    run: 'jekyll build',
    exitCode: 1,
    telling: ["Liquid Exception: Liquid syntax error (line 3): 'endfr' is not a valid delimiter"],
  },
  {
    ...createDebianTool('puppet-lint'),
    slug: 'puppet-lint-quotes',
    tool: 'puppet-lint',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'manifests/printer.pp':
        '# The office printer\nclass printer {\n  package { "cups":\n    ensure => \'installed\',\n  }\n}\n',
    },
    green: { 'manifests/printer.pp': ['"cups"', "'cups'"] },
    run: 'puppet-lint --fail-on-warnings --no-autoloader_layout-check manifests',
    exitCode: 1,
    telling: ['double quoted string containing no variables on line 3'],
  },
  {
    ...createDebianTool('ruby-mdl'),
    slug: 'mdl-trailing-spaces',
    tool: 'mdl',
    heldOut: false,
    category: 'CODE_ERROR',
    files: { 'README.md': '# Attic\n\nOld lamps \n\n* one\n* two\n\n# Cellar\n' },
    green: { 'README.md': '# Attic\n\nOld lamps\n\n* one\n* two\n' },
    run: 'mdl README.md',
    exitCode: 1,
    telling: ['MD009 Trailing spaces', 'MD025 Multiple top level headers'],
  },
  {
    ...createDebianTool('php-cli'),
    slug: 'php-lint-parse-error',
    tool: 'php',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'src/Basket.php':
        '<?php\n\nfinal class Basket\n{\n    public function total(array $items): int\n    {\n        return array_sum($items)\n    }\n}\n',
      'src/Shop.php': '<?php\n\nfinal class Shop\n{\n}\n',
    },
    green: { 'src/Basket.php': ['array_sum($items)', 'array_sum($items);'] },
    run: "find src -name '*.php' -print0 | xargs -0 -n1 php -l",
    exitCode: 124,
    telling: ['PHP Parse error:  syntax error, unexpected token "}", expecting ";"'],
  },
  {
    ...createDebianTool('php-cli'),
    slug: 'php-uncaught-type-error',
    tool: 'php',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'bin/import.php':
        "<?php\n\ndeclare(strict_types=1);\n\nfunction price(int $cents): string\n{\n    return number_format($cents / 100, 2);\n}\n\n$rows = json_decode(file_get_contents(__DIR__ . '/../prices.json'), true);\nforeach ($rows as $name => $cents) {\n    echo $name, ' ', price($cents), PHP_EOL;\n}\n",
      'prices.json': '{ "tea": 250, "cake": "390" }\n',
    },
    green: { 'prices.json': ['"390"', '390'] },
    run: 'php bin/import.php',
    exitCode: 255,
    telling: [
      'PHP Fatal error:  Uncaught TypeError: price(): Argument #1 ($cents) must be of type int, string given',
    ],
  },
  {
    ...createDebianTool('phpunit', 'php-xml', 'php-mbstring'),
    slug: 'phpunit-data-set',
    tool: 'phpunit',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'tests/RomanTest.php':
        "<?php\n\nuse PHPUnit\\Framework\\TestCase;\n\nrequire __DIR__ . '/../src/roman.php';\n\nfinal class RomanTest extends TestCase\n{\n    /** @dataProvider numbers */\n    public function testRoman(int $number, string $expected): void\n    {\n        $this->assertSame($expected, roman($number));\n    }\n\n    public static function numbers(): array\n    {\n        return ['three' => [3, 'III'], 'four' => [4, 'IV']];\n    }\n}\n",
      'src/roman.php':
        "<?php\n\nfunction roman(int $number): string\n{\n    return str_repeat('I', $number);\n}\n",
    },
    green: {
      'src/roman.php': [
        "return str_repeat('I', $number)",
        "return $number === 4 ? 'IV' : str_repeat('I', $number)",
      ],
    },
    run: 'phpunit --testdox-text /dev/null tests',
    exitCode: 1,
    telling: [{ from: "-'IV'", to: "+'IIII'" }],
  },
  {
    ...createDebianTool('php-codesniffer'),
    slug: 'phpcs-line-indent',
    tool: 'phpcs',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'src/Kiosk.php': '<?php\n\nclass Kiosk\n{\n  public function open() {\n    return TRUE;\n  }\n}\n',
    },
    green: {
      'src/Kiosk.php':
        '<?php\n\nnamespace Street;\n\nclass Kiosk\n{\n    public function open()\n    {\n        return true;\n    }\n}\n',
    },
    run: 'phpcs --standard=PSR12 src',
    exitCode: 2,
    telling: ['Each class must be in a namespace of at least one', 'Opening brace should be on a new line'],
  },
  {
    ...createDebianTool('phpmd'),
    slug: 'phpmd-unused-parameter',
    tool: 'phpmd',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'src/Bell.php':
        '<?php\n\nclass Bell\n{\n    public function ring($times, $volume)\n    {\n        return str_repeat("ding ", $times);\n    }\n}\n',
    },
    green: { 'src/Bell.php': ['$times, $volume', '$times'] },
    run: 'phpmd src text unusedcode',
    exitCode: 2,
    telling: ["Avoid unused parameters such as '$volume'."],
  },
  {
    ...createDebianTool('composer'),
    slug: 'composer-invalid-json',
    tool: 'composer',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'composer.json':
        '{\n    "name": "street/kiosk",\n    "description": "A kiosk",\n    "license": "MIT",\n    "require": {\n        "php": ">=8.1",\n    }\n}\n',
    },
    green: { 'composer.json': ['">=8.1",', '">=8.1"'] },
    run: 'composer validate --strict --no-interaction',
    exitCode: 1,
    telling: ['Parse error on line 6:', "Expected: 'STRING' - It appears you have an extra trailing comma"],
  },
  {
    ...createDebianTool('composer'),
    slug: 'composer-platform-requirement',
    tool: 'composer',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: {
      'composer.json':
        '{\n    "name": "street/kiosk",\n    "description": "A kiosk",\n    "license": "MIT",\n    "repositories": [{ "packagist.org": false }],\n    "require": { "php": ">=9.0", "ext-tides": "*" }\n}\n',
    },
    green: { 'composer.json': ['"php": ">=9.0", "ext-tides": "*"', '"php": ">=8.0"'] },
    run: 'composer update --no-interaction --no-progress',
    exitCode: 2,
    telling: [
      'Root composer.json requires php >=9.0 but your php version',
      'Root composer.json requires PHP extension ext-tides * but it is missing from your system.',
    ],
  },
  {
    ...createDebianTool('composer'),
    slug: 'composer-autoload-class',
    tool: 'composer',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'composer.json':
        '{\n    "name": "street/kiosk",\n    "description": "A kiosk",\n    "license": "MIT",\n    "autoload": { "psr-4": { "Street\\\\": "src/" } }\n}\n',
      'src/kiosk.php': '<?php\n\nnamespace Street;\n\nfinal class Kiosk\n{\n}\n',
      'bin/open.php':
        "<?php\n\nrequire __DIR__ . '/../vendor/autoload.php';\n\nnew Street\\Kiosk();\necho 'open', PHP_EOL;\n",
    },
    green: { 'src/Kiosk.php': '<?php\n\nnamespace Street;\n\nfinal class Kiosk\n{\n}\n' },
    before: 'composer dump-autoload --no-interaction',
    run: 'php bin/open.php',
    exitCode: 255,
    telling: ['PHP Fatal error:  Uncaught Error: Class "Street\\Kiosk" not found'],
  },
];
