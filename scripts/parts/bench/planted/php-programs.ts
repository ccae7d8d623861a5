import { create, type Program, replace } from './program.ts';

const baskets: Program = {
  name: 'baskets',
  language: 'PHP',
  test: ['phpunit', '--do-not-cache-result', 'tests'],
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin baskets',
      edits: [
        create('src/shipping.php', '<?php', '', 'return [', "    'home' => 4,", "    'shop' => 1,", '];'),
        create(
          'src/Basket.php',
          '<?php',
          '',
          'class Basket',
          '{',
          '    private array $items = [];',
          '',
          '    public function add(string $name, int $price): void',
          '    {',
          "        $this->items[] = ['name' => $name, 'price' => $price];",
          '    }',
          '',
          '    public function first(): string',
          '    {',
          '        return strtoupper($this->find(0)->name());',
          '    }',
          '',
          '    private function find(int $at): ?Item',
          '    {',
          "        return isset($this->items[$at]) ? new Item($this->items[$at]['name']) : null;",
          '    }',
          '',
          '    public function total(int $discount = 0): int',
          '    {',
          '        $sum = 0;',
          '        for ($i = 0; $i < count($this->items); $i++) {',
          "            $sum += $this->items[$i]['price'];",
          '        }',
          '        return $sum - $discount;',
          '    }',
          '',
          '    public function shipping(string $to): int',
          '    {',
          "        $prices = require __DIR__ . '/shipping.php';",
          '        return $prices[$to] ?? 0;',
          '    }',
          '}',
          '',
          'class Item',
          '{',
          '    public function __construct(private string $name)',
          '    {',
          '    }',
          '',
          '    public function name(): string',
          '    {',
          '        return $this->name;',
          '    }',
          '}',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Describe empty baskets',
      edits: [
        replace(
          'src/Basket.php',
          '        return strtoupper($this->find(0)->name());',
          "        if ($this->items === []) {\n            return 'EMPTY';\n        }\n        return strtoupper($this->find(0)->name());",
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test baskets',
      edits: [
        create(
          'tests/BasketTest.php',
          '<?php',
          '',
          'use PHPUnit\\Framework\\TestCase;',
          '',
          "require_once __DIR__ . '/../src/Basket.php';",
          '',
          'final class BasketTest extends TestCase',
          '{',
          '    public function testFirstOfNothing(): void',
          '    {',
          "        $this->assertSame('EMPTY', (new Basket())->first());",
          '    }',
          '',
          '    public function testTotal(): void',
          '    {',
          '        $basket = new Basket();',
          "        $basket->add('pear', 3);",
          "        $basket->add('plum', 4);",
          '        $this->assertSame(7, $basket->total());',
          '    }',
          '',
          '    public function testShipping(): void',
          '    {',
          "        $this->assertSame(4, (new Basket())->shipping('home'));",
          '    }',
          '}',
        ),
      ],
    },
  ],
  harmless: [
    { author: 'Carl Meyer', message: 'Add a readme', edits: [create('README.md', '# Baskets')] },
    {
      author: 'Dora Lind',
      message: 'Count items',
      edits: [
        replace(
          'src/Basket.php',
          '    public function shipping(',
          `    public function size(): int
    {
        return count($this->items);
    }

    public function shipping(`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Describe baskets',
      edits: [
        replace(
          'src/Basket.php',
          `<?php

class Basket`,
          `<?php

/** What somebody wants to buy. */
class Basket`,
        ),
      ],
    },
    {
      author: 'Fay Orr',
      message: 'Ship to lockers',
      edits: [replace('src/shipping.php', "    'shop' => 1,\n", "    'shop' => 1,\n    'locker' => 2,\n")],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Shorten first()',
      edits: [
        replace(
          'src/Basket.php',
          "        if ($this->items === []) {\n            return 'EMPTY';\n        }\n",
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Give everybody a discount',
      edits: [replace('src/Basket.php', 'int $discount = 0', 'int $discount = 1')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Rename a destination',
      edits: [replace('src/shipping.php', "'home' => 4", "'door' => 4")],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Start at the first item',
      edits: [replace('src/Basket.php', '$i = 0; $i <', '$i = 1; $i <')],
    },
  },
};

export const PHP_PROGRAMS: readonly Program[] = [baskets];
