/** A shop with its workflows, as they are pushed to a real Gitea. */

export const CART = 'export const total = (prices) => prices.reduce((sum, price) => sum + price, 0);\n';
export const TAX = 'export const taxOf = (cents) => Math.round(cents * 0.19);\n';
const DEPLOY = `const { TARGET } = process.env;
const target = TARGET ? JSON.parse(TARGET) : undefined;
console.log('deploying to ' + target.url);
`;
export const SHOP_FILES = {
  'src/cart.mjs': CART,
  'src/tax.mjs': TAX,
  'test/cart.test.mjs': createTest('cart', 'total([250, 50])', '300'),
  'test/tax.test.mjs': createTest('tax', 'taxOf(130)', '25'),
  'deploy.mjs': DEPLOY,
  '.gitea/workflows/ci.yml': `name: ci
on:
  push: { branches: [main] }
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix: { part: [cart, tax] }
    steps:
${getCheckoutStep()}
      - name: Test
        run: node --test --test-reporter=spec test/\${{ matrix.part }}.test.mjs
`,
  '.gitea/workflows/deploy.yml': `name: deploy
on:
  push: { branches: [main] }
jobs:
  deploy:
    runs-on: ubuntu-latest
    steps:
${getCheckoutStep()}
      - name: Deploy
        env:
          DEPLOY_TOKEN: \${{ secrets.DEPLOY_TOKEN }}
          TARGET: \${{ vars.TARGET }}
        run: |
          : "\${DEPLOY_TOKEN:?DEPLOY_TOKEN is not set: add the secret DEPLOY_TOKEN to the repository}"
          node deploy.mjs
`,
};

const BY_SERVER = `          server-url: \${{ vars.FAULTLINE_URL }}
          token: \${{ secrets.FAULTLINE_TOKEN }}`;

export const EXPLAIN = `name: explain
on:
  push: { branches: [explain] }
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
${getCheckoutStep()}
${createTestedPart('cart')}
${createExplanation('faultline')}
${createExplanation('served')}
${BY_SERVER}
      - if: failure()
        env:
          SERVED: \${{ steps.served.outputs.category }} \${{ steps.served.outputs.url }}
          SAID: \${{ steps.faultline.outputs.category }} \${{ steps.faultline.outputs.confidence }} \${{ steps.faultline.outputs.url }}
          JSON: \${{ steps.faultline.outputs.json }}
        run: |
          echo "outputs $SAID"
          echo "outputs $JSON"
          echo "served $SERVED"
  explain:
    needs: [test]
    if: failure()
    runs-on: ubuntu-latest
    steps:
      - id: faultline
        uses: acme/faultline/action@main
        with:
          github-token: \${{ github.token }}
      - env:
          SAID: \${{ steps.faultline.outputs.category }} \${{ steps.faultline.outputs.confidence }} \${{ steps.faultline.outputs.url }}
        run: echo "outputs $SAID"
`;

export const CONFIRM = `name: confirm
on: pull_request
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
${getCheckoutStep()}
      - name: Set the remote as actions/checkout does
        env:
          REMOTE: \${{ github.server_url }}/\${{ github.repository }}.git
          AUTHORIZATION: "Authorization: Bearer \${{ github.token }}"
        run: git remote add origin "$REMOTE" && git config http.extraHeader "$AUTHORIZATION"
${createTestedPart('tax')}
${createExplanation('faultline')}
${BY_SERVER}
          confirm: node --test --test-reporter=spec test/tax.test.mjs
          confirm-runs: 3
          bisect: true
          try-fix: fix.diff
          suggest: true
      - if: failure()
        env:
          VERDICT: \${{ steps.faultline.outputs.verdict }} \${{ steps.faultline.outputs.culprit }}
        run: echo "verdict $VERDICT"
`;

function createTest(part: string, call: string, expected: string): string {
  return `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ${call.split('(')[0]} } from '../src/${part}.mjs';
test('${part} adds up', () => assert.equal(${call}, ${expected}));
`;
}

/** No action of GitHub's can be had here: the same in two commands. */
export function getCheckoutStep(): string {
  return `      - name: Check out
        env:
          REMOTE: \${{ github.server_url }}/\${{ github.repository }}.git
          AUTHORIZATION: "Authorization: Bearer \${{ github.token }}"
          COMMIT: \${{ github.event.pull_request.head.sha || github.sha }}
        run: |
          git init --quiet . && git -c "http.extraHeader=$AUTHORIZATION" fetch --quiet --depth 50 "$REMOTE" "$COMMIT"
          git checkout --quiet FETCH_HEAD`;
}

function createTestedPart(part: string): string {
  return `      - name: Test
        run: node --test --test-reporter=spec test/${part}.test.mjs 2>&1 | tee test.log
        shell: bash`;
}

/** A step with our Action, whose inputs may go on. */
function createExplanation(id: string): string {
  return `      - if: failure()
        id: ${id}
        uses: acme/faultline/action@main
        with:
          log: test.log`;
}
