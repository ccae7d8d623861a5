import { getCheckoutStep } from './gitea-shop.ts';

/** A press whose workflow installs a package that nobody pinned, as it is pushed to a real Gitea. */

/** The package before and after its new major version, which renames a function. */
export const SCALES = 'def weigh(crate):\n    return sum(crate)\n';
export const SCALES_3 = 'def weigh_crate(crate):\n    return sum(crate)\n';

export const JUICE = `from scales import weigh

BOTTLE = 3


def bottles(crate):
    return weigh(crate) // BOTTLE
`;

/** The requirement of the package, with a version or without. */
export const REQUIREMENTS = 'requirements.txt';

/** The files of the press; `index` is the address of the package index. */
export function toPressFiles(index: string): Record<string, string> {
  return {
    'press/__init__.py': '',
    'press/juice.py': JUICE,
    'tests/__init__.py': '',
    'tests/test_juice.py': `from unittest import TestCase

from press.juice import bottles


class TestJuice(TestCase):
    def test_fills_bottles(self):
        self.assertEqual(bottles([4, 5]), 3)
`,
    [REQUIREMENTS]: 'scales\n',
    '.gitea/workflows/ci.yml': `name: ci
on:
  push: { branches: [main] }
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
${getCheckoutStep()}
      - name: Install
        run: |
          python3 -m venv .venv
          .venv/bin/python -m pip install --isolated --disable-pip-version-check --no-cache-dir --index-url ${index} -r ${REQUIREMENTS}
      - name: Test
        run: .venv/bin/python -m unittest -v
`,
  };
}
