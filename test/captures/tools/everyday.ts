import { createDebianTool, createNpmTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

const USER = 'git config --global user.email ci@example.test && git config --global user.name ci';
const MARKED = '<<<<<<< HEAD\nDEPTH = 12\n=======\nDEPTH = 14\n>>>>>>> deeper-channel\n';
/** Answers on port 8443 with a certificate that signs itself, until the job ends. */
const SELF_SIGNED =
  'openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout /tmp/key.pem -out /tmp/cert.pem 2>/dev/null\n(cd /tmp && exec openssl s_server -accept 8443 -key key.pem -cert cert.pem -WWW >/dev/null 2>&1) &\nsleep 1';

/** Ports that are taken, and servers that nobody trusts. */
const NETWORK: readonly ToolRow[] = [
  {
    slug: 'node-port-in-use',
    tool: 'node',
    version: 'node --version',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['INFRA_ERROR', 'CODE_ERROR'],
    files: {
      'server.mjs':
        "import { createServer } from 'node:http';\ncreateServer((_, reply) => reply.end('tides')).listen(8321, () => console.log('listening on 8321'));\n",
    },
    green: { 'server.mjs': 'console.log("listening on 8322");\n' },
    before: 'python3 -m http.server 8321 >/dev/null 2>&1 &\nsleep 1\necho "preview started"',
    run: 'node server.mjs',
    exitCode: 1,
    telling: ['Error: listen EADDRINUSE: address already in use :::8321'],
  },
  {
    slug: 'python-port-in-use',
    tool: 'python',
    version: 'python3 --version',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['INFRA_ERROR', 'CODE_ERROR'],
    files: {
      'feed.py':
        'import socketserver\n\nprint("opening the feed")\nwith socketserver.TCPServer(("127.0.0.1", 8322), socketserver.BaseRequestHandler) as feed:\n    print("feed is open")\n',
    },
    before: 'python3 -m http.server --bind 127.0.0.1 8322 >/dev/null 2>&1 &\nsleep 1\necho "mock started"',
    run: 'python3 feed.py',
    exitCode: 1,
    telling: ['OSError: [Errno 98] Address already in use'],
  },
  {
    slug: 'java-port-in-use',
    tool: 'java',
    version: 'javac -version',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['INFRA_ERROR', 'CODE_ERROR'],
    files: {
      'Gauge.java':
        'import java.net.InetAddress;\nimport java.net.ServerSocket;\n\npublic class Gauge {\n  public static void main(String[] args) throws Exception {\n    System.out.println("starting the gauge");\n    new ServerSocket(8323, 5, InetAddress.getByName("127.0.0.1")).close();\n  }\n}\n',
    },
    before: 'python3 -m http.server --bind 127.0.0.1 8323 >/dev/null 2>&1 &\nsleep 1\necho "stub started"',
    run: 'java Gauge.java',
    exitCode: 1,
    telling: ['java.net.BindException: Address already in use'],
  },
  {
    ...createDebianTool('curl', 'openssl'),
    slug: 'curl-certificate-self-signed',
    tool: 'curl',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['INFRA_ERROR'],
    files: { 'charts.txt': 'north\n' },
    before: SELF_SIGNED,
    run: 'curl -fsSo chart.txt https://localhost:8443/charts.txt',
    exitCode: 60,
    telling: ['curl: (60) SSL certificate problem: self-signed certificate'],
  },
  {
    ...createDebianTool('wget', 'openssl'),
    slug: 'wget-certificate-not-trusted',
    tool: 'wget',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['INFRA_ERROR'],
    files: { 'charts.txt': 'north\n' },
    before: SELF_SIGNED,
    run: 'wget --no-verbose https://localhost:8443/charts.txt',
    exitCode: 5,
    telling: ['ERROR: The certificate of ‘localhost’ is not trusted.'],
  },
  {
    ...createDebianTool('git', 'openssl'),
    slug: 'git-certificate-self-signed',
    tool: 'git',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['INFRA_ERROR'],
    files: { 'charts.txt': 'north\n' },
    before: SELF_SIGNED,
    run: 'git clone https://localhost:8443/charts.git vendor/charts',
    exitCode: 128,
    telling: ["fatal: unable to access 'https://localhost:8443/charts.git/'"],
  },
];

/** Files that were committed with the marks of a merge, and merges that do not end. */
const CONFLICTS: readonly ToolRow[] = [
  {
    ...createNpmTool('typescript@5.9.3'),
    slug: 'tsc-conflict-marker',
    tool: 'tsc',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'src/channel.ts':
        'export const name = "north";\n<<<<<<< HEAD\nexport const depth = 12;\n=======\nexport const depth = 14;\n>>>>>>> deeper-channel\n',
    },
    green: { 'src/channel.ts': 'export const depth = 14;\n' },
    run: 'npx tsc --noEmit src/channel.ts',
    exitCode: 2,
    telling: ['error TS1185: Merge conflict marker encountered.'],
  },
  {
    slug: 'python-conflict-marker',
    tool: 'python',
    version: 'python3 --version',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'channel.py': `NAME = "north"\n${MARKED}print(NAME, DEPTH)\n` },
    green: { 'channel.py': 'print("north", 14)\n' },
    run: 'python3 channel.py',
    exitCode: 1,
    telling: ['SyntaxError: invalid syntax'],
  },
  {
    ...createDebianTool('gcc'),
    slug: 'gcc-conflict-marker',
    tool: 'gcc',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'channel.c':
        '#include <stdio.h>\n<<<<<<< HEAD\n#define DEPTH 12\n=======\n#define DEPTH 14\n>>>>>>> deeper-channel\nint main(void) { return printf("%d\\n", DEPTH) < 0; }\n',
    },
    run: 'gcc -Wall -o channel channel.c',
    exitCode: 1,
    telling: ['error: version control conflict marker in file'],
  },
  {
    slug: 'npm-conflict-marker',
    tool: 'npm',
    version: 'npm --version',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'package.json':
        '{\n  "name": "channel",\n<<<<<<< HEAD\n  "version": "1.2.0",\n=======\n  "version": "1.3.0",\n>>>>>>> release\n  "scripts": { "chart": "node chart.js" }\n}\n',
    },
    run: 'npm run chart',
    exitCode: 1,
    telling: ['npm error code EJSONPARSE'],
  },
  {
    ...createDebianTool('git'),
    slug: 'git-cherry-pick-conflict',
    tool: 'git',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    setup: `${USER} && git init -q -b main . && git add . && git commit -qm start && git switch -qc backport && sed -i s/12/10/ channel.conf && git commit -qam older && git switch -q main && sed -i s/12/14/ channel.conf && git commit -qam 'Deepen the channel' && git tag fix && git switch -q backport`,
    files: { 'channel.conf': 'depth 12\nwidth 80\n' },
    run: 'git cherry-pick fix',
    exitCode: 1,
    telling: ['CONFLICT (content): Merge conflict in channel.conf'],
  },
  {
    ...createDebianTool('git'),
    slug: 'git-stash-conflict',
    tool: 'git',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    setup: `${USER} && git init -q -b main . && git add . && git commit -qm start && sed -i s/12/10/ channel.conf && git stash -q && sed -i s/12/14/ channel.conf && git commit -qam deeper`,
    files: { 'channel.conf': 'depth 12\nwidth 80\n' },
    run: 'git stash pop',
    exitCode: 1,
    telling: ['CONFLICT (content): Merge conflict in channel.conf'],
  },
];

/** Braces that are missing, and programs that crash under another. */
const BROKEN: readonly ToolRow[] = [
  {
    slug: 'terraform-brace-missing',
    tool: 'terraform',
    version: 'terraform version | head -n 1',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'main.tf': 'locals {\n  berths = ["north", "south"]\n}\n\noutput "berths" {\n  value = local.berths\n',
    },
    run: 'terraform init -no-color -input=false\nterraform validate -no-color',
    exitCode: 1,
    telling: ['Error: Unclosed configuration block'],
  },
  {
    ...createDebianTool('nginx-light'),
    slug: 'nginx-brace-missing',
    tool: 'nginx',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'deploy/nginx.conf':
        'pid /tmp/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\n  access_log off;\n  server {\n    listen 8080;\n    location / { return 204; }\n}\n',
    },
    run: 'nginx -t -p "$PWD" -c deploy/nginx.conf',
    exitCode: 1,
    telling: ['unexpected end of file, expecting "}"'],
  },
  {
    ...createDebianTool('make', 'gcc'),
    slug: 'make-segmentation-fault',
    tool: 'make',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      Makefile:
        'all: charts.txt\n\ncharts: charts.c\n\tgcc -O0 -o $@ $<\n\ncharts.txt: charts\n\t./charts > $@\n',
      'charts.c':
        '#include <stdio.h>\n\nint main(int count, char **names)\n{\n    const char *volatile name = count > 5 ? names[1] : 0;\n    printf("%c\\n", name[0]);\n    return 0;\n}\n',
    },
    run: 'make all',
    exitCode: 2,
    telling: ['Segmentation fault'],
  },
  {
    ...createDebianTool('ninja-build', 'gcc'),
    slug: 'ninja-segmentation-fault',
    tool: 'ninja',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'build.ninja':
        'rule cc\n  command = gcc -O0 -o $out $in\nrule draw\n  command = ./$in > $out\n\nbuild charts: cc charts.c\nbuild charts.txt: draw charts\n',
      'charts.c':
        '#include <stdio.h>\n\nint main(int count, char **names)\n{\n    const char *volatile name = count > 5 ? names[1] : 0;\n    printf("%c\\n", name[0]);\n    return 0;\n}\n',
    },
    run: 'ninja charts.txt',
    exitCode: 1,
    telling: ['Segmentation fault'],
  },
  {
    slug: 'javac-class-file-too-new',
    tool: 'javac',
    version: 'javac -version',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    setup:
      'mkdir -p lib && javac -d lib Buoy.java && rm Buoy.java && printf "\\000\\143" | dd of=lib/Buoy.class bs=1 seek=6 conv=notrunc status=none',
    files: {
      'Buoy.java': 'public class Buoy {\n  public int depth() {\n    return 12;\n  }\n}\n',
      'src/Chart.java':
        'public class Chart {\n  public static void main(String[] args) {\n    System.out.println(new Buoy().depth());\n  }\n}\n',
    },
    run: 'javac -cp lib -d out src/Chart.java',
    exitCode: 1,
    telling: ['class file has wrong version 99.0'],
  },
];

/** Variables that nobody set, and programs that may not do what they want. */
const SETTINGS: readonly ToolRow[] = [
  {
    ...createDebianTool('bash'),
    slug: 'bash-unbound-variable',
    tool: 'bash',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'ci/deploy.sh': 'set -euo pipefail\necho "reading the charts"\necho "deploying to $DEPLOY_TARGET"\n',
    },
    green: { 'ci/deploy.sh': ['$DEPLOY_TARGET', 'staging'] },
    run: 'bash ci/deploy.sh',
    exitCode: 1,
    telling: ['ci/deploy.sh: line 3: DEPLOY_TARGET: unbound variable'],
  },
  {
    ...createDebianTool('dash'),
    slug: 'dash-parameter-not-set',
    tool: 'dash',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { 'ci/publish.sh': 'set -eu\necho "packing the charts"\necho "publishing to $CHART_STORE"\n' },
    green: { 'ci/publish.sh': ['$CHART_STORE', 'local'] },
    run: 'dash ci/publish.sh',
    exitCode: 2,
    telling: ['ci/publish.sh: 3: CHART_STORE: parameter not set'],
  },
  {
    slug: 'python-environment-key',
    tool: 'python',
    version: 'python3 --version',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'settings.py': 'import os\n\nTIDES_URL = os.environ["TIDES_URL"]\n',
      'report.py': 'import settings\n\nprint("reading", settings.TIDES_URL)\n',
    },
    green: { 'settings.py': 'TIDES_URL = "https://tides.example"\n' },
    run: 'python3 report.py',
    exitCode: 1,
    telling: ["KeyError: 'TIDES_URL'"],
  },
  {
    ...createDebianTool('ruby'),
    slug: 'ruby-environment-key',
    tool: 'ruby',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { 'report.rb': 'puts "reading the tides"\nputs ENV.fetch("TIDES_TOKEN").length\n' },
    green: { 'report.rb': 'puts "reading the tides"\n' },
    run: 'ruby report.rb',
    exitCode: 1,
    telling: ['key not found: "TIDES_TOKEN" (KeyError)'],
  },
  {
    slug: 'rustc-environment-not-defined',
    tool: 'rustc',
    version: 'rustc --version',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { 'main.rs': 'fn main() {\n    println!("chart of {}", env!("CHART_REVISION"));\n}\n' },
    run: 'rustc -o chart main.rs',
    exitCode: 1,
    telling: ['error: environment variable `CHART_REVISION` not defined at compile time'],
  },
  {
    ...createDebianTool('php-cli'),
    slug: 'php-environment-missing',
    tool: 'php',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'report.php':
        "<?php\n$url = getenv('TIDES_URL') ?: throw new RuntimeException('TIDES_URL is not set in the environment');\necho $url;\n",
    },
    run: 'php report.php',
    exitCode: 255,
    telling: ['Uncaught RuntimeException: TIDES_URL is not set in the environment'],
  },
  {
    slug: 'docker-socket-denied',
    tool: 'docker',
    version: 'docker --version',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['INFRA_ERROR'],
    files: {
      'daemon.py':
        'import os, socket, time\nserver = socket.socket(socket.AF_UNIX)\nserver.bind("/tmp/docker.sock")\nos.chmod("/tmp/docker.sock", 0o000)\nserver.listen()\ntime.sleep(30)\n',
    },
    env: { DOCKER_HOST: 'unix:///tmp/docker.sock' },
    before:
      'python3 daemon.py &\nfor try in 1 2 3 4 5 6 7 8; do [ -S /tmp/docker.sock ] || sleep 1; done\nsleep 1\necho "daemon is up"',
    run: 'docker ps',
    exitCode: 1,
    telling: ['permission denied while trying to connect to the'],
  },
  {
    ...createDebianTool('skopeo'),
    slug: 'skopeo-push-denied',
    tool: 'skopeo',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['INFRA_ERROR'],
    files: {
      'registry.mjs':
        "import { createServer } from 'node:http';\nconst denied = { errors: [{ code: 'DENIED', message: 'requested access to the resource is denied' }] };\ncreateServer(({ url }, reply) => {\n  reply.writeHead(url === '/v2/' ? 200 : 403, { 'content-type': 'application/json' });\n  reply.end(JSON.stringify(url === '/v2/' ? {} : denied));\n}).listen(5000, '127.0.0.1');\n",
    },
    before:
      'node registry.mjs &\nfor try in 1 2 3 4 5 6 7 8; do curl -so /dev/null localhost:5000/v2/ || sleep 1; done\necho "registry is up"',
    run: 'skopeo inspect --tls-verify=false docker://localhost:5000/harbor/chart:1.2',
    exitCode: 1,
    telling: ['reading manifest 1.2 in localhost:5000/harbor/chart: denied'],
  },
];

/** Scripts that an editor saved in another form, and limits that a job runs into. */
const SCRIPTS: readonly ToolRow[] = [
  {
    ...createDebianTool('bash'),
    slug: 'bash-byte-order-mark',
    tool: 'bash',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: { 'ci/pack.sh': '\ufeffset -e\necho "packing the charts"\ntest -f charts.txt\n' },
    run: 'bash ci/pack.sh',
    exitCode: 1,
    telling: ['set: command not found'],
  },
  {
    ...createDebianTool('bash'),
    slug: 'bash-carriage-return',
    tool: 'bash',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'ci/pack.sh': 'set -e\r\necho "packing the charts"\r\ncd charts\r\n',
      'charts/north.txt': 'north\n',
    },
    green: { 'ci/pack.sh': 'set -e\necho "packing the charts"\ncd charts\n' },
    run: 'bash ci/pack.sh',
    exitCode: 1,
    telling: ["$'charts\\r': No such file or directory"],
  },
  {
    slug: 'env-carriage-return',
    tool: 'env',
    version: "env --version | head -n 1 | sed 's/.* //'",
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: { 'report.py': '#!/usr/bin/env python3\r\nprint("tides")\r\n' },
    green: { 'report.py': '#!/usr/bin/env python3\nprint("tides")\n' },
    setup: 'chmod +x report.py',
    run: './report.py',
    exitCode: 127,
    telling: ['python3\\r’: No such file or directory'],
  },
  {
    slug: 'node-byte-order-mark',
    tool: 'node',
    version: 'node --version',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'tides.json': '\ufeff{ "north": 3.4 }\n',
      'report.mjs':
        "import { readFileSync } from 'node:fs';\nconst tides = JSON.parse(readFileSync('tides.json', 'utf8'));\nconsole.log(tides.north);\n",
    },
    green: { 'tides.json': '{ "north": 3.4 }\n' },
    run: 'node report.mjs',
    exitCode: 1,
    telling: ['is not valid JSON'],
  },
  {
    ...createDebianTool('coreutils'),
    slug: 'timeout-ends-silently',
    tool: 'timeout',
    heldOut: false,
    category: 'INFRA_ERROR',
    alsoOk: ['TEST_FAILURE', 'CONFIG_ERROR', 'CODE_ERROR'],
    files: { 'survey.sh': 'echo "surveying the channel"\nsleep 20\necho "done"\n' },
    green: { 'survey.sh': 'echo "surveying the channel"\necho "done"\n' },
    run: 'timeout 3 bash survey.sh',
    exitCode: 124,
    telling: ['Process completed with exit code 124.'],
  },
  {
    ...createDebianTool('bash'),
    slug: 'bash-interpreter-missing',
    tool: 'bash',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR', 'DEPENDENCY_ERROR'],
    setup: 'chmod +x ci/*.sh',
    files: { 'ci/chart.sh': '#!/usr/local/bin/chartshell\nchart north\n' },
    green: { 'ci/chart.sh': '#!/bin/bash\necho north\n' },
    run: 'ci/chart.sh',
    exitCode: 127,
    telling: ['ci/chart.sh: cannot execute: required file not found'],
  },
  {
    ...createDebianTool('bash', 'binutils'),
    slug: 'bash-exec-format-error',
    tool: 'bash',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR', 'CODE_ERROR'],
    setup:
      'mkdir -p bin && cp /bin/true bin/chart && printf "\\267\\000" | dd of=bin/chart bs=1 seek=18 conv=notrunc status=none && chmod +x bin/chart',
    files: { 'notes.md': '# Charts\n' },
    run: 'bin/chart north',
    exitCode: 126,
    telling: ['bin/chart: cannot execute binary file: Exec format error'],
  },
  {
    ...createDebianTool('zip'),
    slug: 'zip-argument-list-too-long',
    tool: 'zip',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR', 'INFRA_ERROR'],
    files: {
      'pack.sh':
        'set -e\nnames=$(seq -f "charts/%.0f-of-the-northern-channel.svg" 80000)\nzip -q charts.zip $names\n',
    },
    green: { 'pack.sh': 'set -e\nzip -q charts.zip pack.sh\n' },
    run: 'bash pack.sh',
    exitCode: 126,
    telling: ['Argument list too long'],
  },
];

/** Steps that wait for what never comes until the time limit of the step or of the job cancels them. */
const CANCELED: readonly ToolRow[] = [
  {
    slug: 'node-waits-until-canceled',
    tool: 'node',
    version: 'node --version',
    heldOut: false,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR', 'TEST_FAILURE', 'CODE_ERROR'],
    files: {
      'wait.mjs':
        'for (let tries = 1; ; tries++) {\n  console.log("waiting for the tide service, try", tries);\n  await new Promise((resolve) => setTimeout(resolve, 20_000));\n}\n',
    },
    run: 'node wait.mjs',
    cancelAfter: 300,
    exitCode: 124,
    telling: ['The operation was canceled.'],
  },
  {
    slug: 'python-queue-never-empties',
    tool: 'python',
    version: 'python3 --version',
    heldOut: true,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR', 'TEST_FAILURE', 'CODE_ERROR'],
    files: {
      'drain.py':
        'import queue\n\ncharts = queue.Queue()\nfor name in ("north", "south", "east"):\n    charts.put(name)\nwhile not charts.empty():\n    print("drew", charts.get(), flush=True)\nprint("joining the workers", flush=True)\ncharts.join()\n',
    },
    before: 'echo "unpacking the charts"\nsleep 75\necho "unpacked 3 charts"',
    run: 'python3 drain.py',
    cancelAfter: 225,
    exitCode: 124,
    telling: ['The operation was canceled.'],
  },
  {
    ...createDebianTool('make'),
    slug: 'make-reads-an-empty-pipe',
    tool: 'make',
    heldOut: true,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR', 'TEST_FAILURE', 'CODE_ERROR'],
    files: {
      Makefile: 'survey.txt: depths\n\tsort depths > survey.txt\n\ndepths:\n\tmkfifo depths\n',
    },
    run: 'make survey.txt',
    cancelAfter: 600,
    exitCode: 124,
    telling: ['The operation was canceled.'],
  },
];

export const rows: readonly ToolRow[] = [NETWORK, CONFLICTS, BROKEN, SETTINGS, SCRIPTS, CANCELED].flat();
