import { describe, expect, it } from 'vitest';
import { readLines } from './read-lines.ts';

interface Row {
  readonly lines: readonly string[];
  readonly thrown: object;
}

const ROWS: Readonly<Record<string, Row>> = {
  '.NET with an inner exception': {
    lines: [
      'Unhandled exception. System.InvalidOperationException: no price',
      ' ---> System.IO.IOException: closed',
      '   at Shop.Prices.Read(String name) in /w/Prices.cs:line 4',
      '   --- End of inner exception stack trace ---',
      '   at Shop.Cart.Total() in /w/Cart.cs:line 20',
    ],
    thrown: {
      type: 'System.IO.IOException',
      message: 'closed',
      chain: ['System.InvalidOperationException', 'System.IO.IOException'],
      frames: [{ file: '/w/Prices.cs', line: 4 }],
      outerFrames: [{ file: '/w/Cart.cs', line: 20 }],
    },
  },
  'Node with a cause': {
    lines: [
      'Error: no price',
      '    at total (/w/src/cart.js:20:9) {',
      '  [cause]: TypeError: prices is undefined',
      '      at read (/w/src/prices.js:4:3)',
      '}',
    ],
    thrown: {
      type: 'TypeError',
      chain: ['Error', 'TypeError'],
      frames: [{ file: '/w/src/prices.js', line: 4, own: true }],
    },
  },
  'Python, its last line marked by a problem matcher': {
    lines: [
      'Traceback (most recent call last):',
      '  File "/w/shop/prices.py", line 4, in read',
      '    return prices[name]',
      "##[error]KeyError: 'pear'",
    ],
    thrown: { type: 'KeyError', message: "'pear'", frames: [{ file: '/w/shop/prices.py', line: 4 }] },
  },
  'Python with a cause': {
    lines: [
      'Traceback (most recent call last):',
      '  File "/w/shop/prices.py", line 4, in read',
      '    return prices[name]',
      "KeyError: 'pear'",
      '',
      'The above exception was the direct cause of the following exception:',
      '',
      'Traceback (most recent call last):',
      '  File "/w/shop/cart.py", line 20, in total',
      '    raise PriceError(name) from error',
      'shop.PriceError: no price for pear',
    ],
    thrown: {
      type: 'KeyError',
      chain: ['shop.PriceError', 'KeyError'],
      frames: [{ file: '/w/shop/prices.py', line: 4 }],
      outerFrames: [{ line: 20 }],
    },
  },
  Ruby: {
    lines: [
      "/w/lib/cart.rb:20:in 'total': undefined method 'price' for nil (NoMethodError)",
      "\tfrom /w/bin/shop.rb:3:in '<main>'",
    ],
    thrown: {
      type: 'NoMethodError',
      message: "undefined method 'price' for nil",
      frames: [{ file: '/w/lib/cart.rb', line: 20, own: true }, { line: 3 }],
    },
  },
  PHP: {
    lines: [
      'PHP Fatal error:  Uncaught TypeError: total(): Argument #1 must be of type int in /w/src/Cart.php:20',
      'Stack trace:',
      '#0 /w/public/index.php(3): total()',
      '#1 {main}',
      '  thrown in /w/src/Cart.php on line 20',
    ],
    thrown: {
      type: 'TypeError',
      frames: [
        { file: '/w/src/Cart.php', line: 20 },
        { file: '/w/public/index.php', line: 3 },
      ],
    },
  },
  Elixir: {
    lines: [
      '** (KeyError) key :price not found in: %{}',
      '    (shop 0.1.0) lib/cart.ex:20: Cart.total/1',
      '    (elixir 1.15.0) lib/enum.ex:99: Enum.map/2',
    ],
    thrown: { type: 'KeyError', frames: [{ file: 'lib/cart.ex', line: 20, own: true }, { own: false }] },
  },
  Dart: {
    lines: [
      'Unhandled exception:',
      'Bad state: No element',
      '#0      Cart.total (package:shop/cart.dart:20:5)',
      '#1      List.first (dart:core/list.dart:3:1)',
    ],
    thrown: { type: 'Bad state', message: 'No element', frames: [{ line: 20, own: true }, { own: false }] },
  },
};

describe('traces', () => {
  it.each(Object.keys(ROWS))('of %s have the deepest cause', (name) => {
    const { lines = [], thrown = {} } = ROWS[name] ?? {};
    const { exceptions } = readLines('starting', ...lines);
    expect(exceptions).toMatchObject([thrown]);
  });

  it('in Python keep the message of an exception raised because of another', () => {
    const { messages } = readLines(...(ROWS['Python with a cause']?.lines ?? []));
    expect(messages.map(({ text }) => text)).toContain('shop.PriceError: no price for pear');
  });

  it('keep the last cause that a Rust report lists', () => {
    const { messages } = readLines(
      'Error: cannot open the shop',
      '',
      'Caused by:',
      '    0: cannot read prices.toml',
      '    1: invalid type: string "x", expected a number',
    );
    expect(messages.map(({ text }) => text)).toContain('invalid type: string "x", expected a number');
  });
});
