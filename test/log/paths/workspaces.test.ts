import { describe, expect, it } from 'vitest';
import { getProjectPath, listRepositoryPaths } from '../../../src/log/paths.ts';

/** System or tool, path as its log prints it, path in the repository. */
const WORKSPACES: readonly (readonly [string, string, string])[] = [
  ['Gitea and act, host mode', '/root/.cache/act/0f4c2f9d1be2a6c8/hostexecutor/src/tax.ts', 'src/tax.ts'],
  ['GitHub, Linux', '/home/runner/work/api/api/src/tax.ts', 'src/tax.ts'],
  ['GitHub, macOS', '/Users/runner/work/api/api/src/tax.ts', 'src/tax.ts'],
  ['GitHub, Windows', 'D:\\a\\api\\api\\src\\tax.ts', 'src/tax.ts'],
  ['GitHub, Windows with bash', '/d/a/api/api/src/tax.ts', 'src/tax.ts'],
  ['GitHub, job container', '/__w/api/api/src/tax.ts', 'src/tax.ts'],
  ['GitHub, container action', '/github/workspace/src/tax.ts', 'src/tax.ts'],
  ['GitHub, own runner', '/opt/actions-runner/_work/api/api/src/tax.ts', 'src/tax.ts'],
  ['GitHub, own runner on Windows', 'C:\\actions-runner\\_work\\api\\api\\src\\tax.ts', 'src/tax.ts'],
  ['Azure, Linux', '/home/vsts/work/1/s/src/tax.ts', 'src/tax.ts'],
  ['Azure, macOS', '/Users/runner/work/1/s/src/tax.ts', 'src/tax.ts'],
  ['Azure, Windows', 'D:\\a\\1\\s\\src\\tax.ts', 'src/tax.ts'],
  ['Azure, container', '/__w/1/s/src/tax.ts', 'src/tax.ts'],
  ['Azure, own agent', 'C:\\agent\\_work\\12\\s\\src\\tax.ts', 'src/tax.ts'],
  ['GitLab', '/builds/shop/api/src/tax.ts', 'src/tax.ts'],
  ['GitLab, shell', '/home/gitlab-runner/builds/t3_Yx9aB/0/shop/api/src/tax.ts', 'src/tax.ts'],
  ['GitLab, Windows shell', 'C:\\GitLab-Runner\\builds\\t3_Yx9aB\\0\\shop\\api\\src\\tax.ts', 'src/tax.ts'],
  ['Taskcluster', '/builds/worker/checkouts/gecko/src/tax.ts', 'src/tax.ts'],
  ['Jenkins', '/var/lib/jenkins/workspace/api-main/src/tax.ts', 'src/tax.ts'],
  ['Jenkins, second executor', '/var/jenkins_home/workspace/api_PR-7@2/src/tax.ts', 'src/tax.ts'],
  ['Jenkins, agent', '/home/jenkins/agent/workspace/api/src/tax.ts', 'src/tax.ts'],
  ['Jenkins, agent with a root folder of its own', '/data/ci/node-7/workspace/api/src/tax.ts', 'src/tax.ts'],
  ['Jenkins, Windows', 'C:\\Jenkins\\workspace\\api\\src\\tax.ts', 'src/tax.ts'],
  ['CircleCI', '/home/circleci/project/src/tax.ts', 'src/tax.ts'],
  ['CircleCI, root', '/root/project/src/tax.ts', 'src/tax.ts'],
  ['Bitbucket', '/opt/atlassian/pipelines/agent/build/src/tax.ts', 'src/tax.ts'],
  ['Travis', '/home/travis/build/shop/api/src/tax.ts', 'src/tax.ts'],
  ['Travis, macOS', '/Users/travis/build/shop/api/src/tax.ts', 'src/tax.ts'],
  ['Buildkite', '/var/lib/buildkite-agent/builds/host-1/shop/api/src/tax.ts', 'src/tax.ts'],
  ['Drone', '/drone/src/src/tax.ts', 'src/tax.ts'],
  ['Woodpecker', '/woodpecker/src/github.com/shop/api/src/tax.ts', 'src/tax.ts'],
  ['Semaphore', '/home/semaphore/api/src/tax.ts', 'src/tax.ts'],
  ['Cirrus', '/tmp/cirrus-ci-build/src/tax.ts', 'src/tax.ts'],
  ['AppVeyor', 'C:\\projects\\api\\src\\tax.ts', 'src/tax.ts'],
  ['Bitrise', '/Users/vagrant/git/src/tax.ts', 'src/tax.ts'],
  ['CodeBuild', '/codebuild/output/src123/src/github.com/shop/api/src/tax.ts', 'src/tax.ts'],
  ['TeamCity', '/opt/buildagent/work/1f3a9b2c4d5e6f70/src/tax.ts', 'src/tax.ts'],
  ['Bamboo', '/home/bamboo/agent/xml-data/build-dir/SHOP-API-JOB1/src/tax.ts', 'src/tax.ts'],
  ['GoCD', '/var/lib/go-agent/pipelines/api/src/tax.ts', 'src/tax.ts'],
  ['Concourse', '/tmp/build/e55deab7/api/src/tax.ts', 'src/tax.ts'],
  ['Heroku', '/tmp/build_1f2e3d4c/src/tax.ts', 'src/tax.ts'],
  ['a GOPATH', '/go/src/github.com/shop/api/cart/tax.go', 'cart/tax.go'],
  ['a dev container', '/workspaces/api/src/tax.ts', 'src/tax.ts'],
  ['an image', '/usr/src/app/src/tax.ts', 'src/tax.ts'],
  [
    'Bazel, sandbox',
    '/home/ci/.cache/bazel/_bazel_ci/8d/sandbox/linux-sandbox/12/execroot/_main/src/tax.cc',
    'src/tax.cc',
  ],
  [
    'Bazel, generated',
    '/root/.cache/bazel/_bazel_root/ab/execroot/shop/bazel-out/k8-fastbuild/bin/src/tax.pb.cc',
    'src/tax.pb.cc',
  ],
  ['Bazel, runfiles', 'bazel-out/k8-opt/bin/src/tax_test.runfiles/_main/src/tax.py', 'src/tax.py'],
  ['Bazel, link', 'bazel-bin/src/tax.h', 'src/tax.h'],
];

/** Form, as printed, path in the repository. */
const FORMS: readonly (readonly [string, string, string])[] = [
  ['file URL', 'file:///github/workspace/src/tax.ts', 'src/tax.ts'],
  ['file URL of Java', 'file:/github/workspace/src/tax.ts', 'src/tax.ts'],
  ['file URL with host', 'file://localhost/github/workspace/src/tax.ts', 'src/tax.ts'],
  ['file URL with a drive', 'file:///D:/a/api/api/src/tax.ts', 'src/tax.ts'],
  ['file URL with escapes', 'file:///github/workspace/src/my%20tax.ts', 'src/my tax.ts'],
  ['webpack', 'webpack:///./src/tax.ts', 'src/tax.ts'],
  ['webpack with its name', 'webpack://shop/./src/tax.ts?9f3a', 'src/tax.ts'],
  ['webpack-internal', 'webpack-internal:///(rsc)/./src/tax.ts', 'src/tax.ts'],
  ['turbopack', 'turbopack:///[project]/src/tax.ts', 'src/tax.ts'],
  ['dev server', 'http://localhost:5173/src/tax.ts?t=1700000000', 'src/tax.ts'],
  ['vite outside the root', 'http://localhost:5173/@fs/github/workspace/src/tax.ts', 'src/tax.ts'],
  ['long Windows path', '\\\\?\\D:\\a\\api\\api\\src\\tax.ts', 'src/tax.ts'],
  ['WSL', '/mnt/c/projects/api/src/tax.ts', 'src/tax.ts'],
  ['Cygwin', '/cygdrive/c/projects/api/src/tax.ts', 'src/tax.ts'],
  ['a position', 'src/tax.ts:41:9', 'src/tax.ts'],
  ["MSBuild's position", 'src\\Tax.cs(41,9)', 'src/Tax.cs'],
  ["a web page's position", 'src/tax.ts#L41-L50', 'src/tax.ts'],
  ['quotation marks', '"src/tax.ts"', 'src/tax.ts'],
  ['a class file', 'target/classes/com/shop/Cart$Line.class', 'com/shop/Cart.java'],
  ['cached byte code', 'shop/__pycache__/tax.cpython-312.pyc', 'shop/tax.py'],
  ['a page of coverage', 'coverage/lcov-report/src/tax.ts.html', 'src/tax.ts'],
  ["setuptools' copy", 'build/lib.linux-x86_64-3.11/shop/tax.py', 'shop/tax.py'],
  ['a path with dots', 'src/../lib/./tax.ts', 'lib/tax.ts'],
];

describe.each([
  ['the workspace of', WORKSPACES],
  ['a path as', FORMS],
] as const)('%s', (_kind, table) => {
  it.each(table)('is resolved for %s: %s is %s', (_name, logged, path) => {
    expect(listRepositoryPaths(logged)[0]).toBe(path);
  });
});

describe('paths and names', () => {
  it.each([
    ['a/tax.ts', 'tax.ts'],
    ['b/src/tax.ts', 'src/tax.ts'],
    ['/srv/tax.ts', 'tax.ts'],
    ['/home/ada/shop/src/tax.ts', 'src/tax.ts'],
    ['github.com/shop/api/cart/tax.go', 'cart/tax.go'],
    ['com.shop.Cart', 'com/shop/Cart.java'],
    ['com.shop.Cart$Line.total', 'com/shop/Cart.kt'],
    ['shop.cart.tax', 'shop/cart/tax.py'],
    ['shop.cart.total_of', 'shop/cart.py'],
    ['shop.cart.Total.sum', 'shop/cart.py'],
    ['nginx.conf', 'nginx.conf'],
  ])('in a log may have another form: %s may be %s', (logged, path) => {
    expect(listRepositoryPaths(logged)).toContain(path);
  });

  it.each([
    'external/com_google_absl/absl/status.cc',
    '/b/execroot/_main/external/zlib/inflate.c',
    'golang.org/x/net@v0.17.0/http2/server.go',
    '/go/pkg/mod/github.com/a/b@v1.2.3/c.go',
    'file:///home/x/api/node_modules/a/b.mjs',
    'webpack:///./node_modules/react/index.js',
    'C:\\hostedtoolcache\\windows\\Python\\3.11\\Lib\\unittest\\case.py',
    'C:\\Program Files\\nodejs\\node.js',
    '<frozen importlib._bootstrap>',
    'deno:core',
  ])('of other projects are not ours: %s', (logged) => {
    expect(listRepositoryPaths(logged)).toEqual([]);
  });

  it('outside of every workspace are not changed', () => {
    expect(getProjectPath('/home/ada/shop/src/tax.ts')).toBe('/home/ada/shop/src/tax.ts');
    expect(getProjectPath('./src/tax.ts')).toBe('src/tax.ts');
    expect(getProjectPath('/home/circleci/project/src/tax.ts')).toBe('src/tax.ts');
  });
});
