import { createDebianTool, createPipTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

const CATEGORY = { category: 'INFRA_ERROR', alsoOk: ['CONFIG_ERROR', 'CODE_ERROR', 'TEST_FAILURE'] } as const;

/** Runs a command as a Buildbot worker does: it is killed where it prints nothing for a while. */
const WORKER = `import sys

from buildbot_worker.runprocess import RunProcess
from twisted.internet import reactor

ended = []


def send_update(updates):
    for kind, value in updates:
        if kind in ("stdout", "stderr", "header"):
            print(value, end="", flush=True)
        elif kind == "rc":
            ended.append(value)


def begin():
    process = RunProcess(
        "build", sys.argv[2:], ".", "utf-8", send_update, timeout=int(sys.argv[1]), logEnviron=False
    )
    process.start().addBoth(lambda _: reactor.stop())


reactor.callWhenRunning(begin)
reactor.run()
sys.exit(1 if ended != [0] else 0)
`;

/** Limits on missing output. */
const SILENCE: readonly ToolRow[] = [
  {
    ...createPipTool('buildbot-worker'),
    slug: 'buildbot-no-output',
    tool: 'buildbot',
    heldOut: false,
    ...CATEGORY,
    files: {
      'ci/worker.py': WORKER,
      'survey.sh':
        'echo "sounding the north channel"\necho "sounding the south channel"\nread -r depth < <(sleep 60)\n',
    },
    run: 'python3 ci/worker.py 5 bash survey.sh',
    exitCode: 1,
    telling: ['command timed out: 5 seconds without output running'],
  },
  {
    ...createDebianTool('curl'),
    slug: 'curl-download-stalls',
    tool: 'curl',
    heldOut: false,
    category: 'INFRA_ERROR',
    files: { 'README.md': '# Charts\n' },
    network: 'crawling',
    run: 'curl -sSfO --speed-limit 20000 --speed-time 4 http://packages.example.test/charts.tar.gz\ntar xf charts.tar.gz',
    exitCode: 28,
    telling: ['Operation too slow. Less than 20000 bytes/sec transferred the last 4 seconds'],
  },
  {
    ...createDebianTool('rsync'),
    slug: 'rsync-input-stalls',
    tool: 'rsync',
    heldOut: true,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: { 'ci/connect.sh': '#!/bin/bash\nsleep 60\n' },
    setup: 'chmod +x ci/connect.sh',
    run: 'rsync --archive --timeout=4 --rsh=ci/connect.sh pilot:charts/ charts/',
    exitCode: 30,
    telling: ['io timeout after 4 seconds -- exiting'],
  },
  {
    ...createPipTool('pexpect'),
    slug: 'pexpect-no-answer',
    tool: 'pexpect',
    heldOut: true,
    ...CATEGORY,
    files: {
      'console.sh': 'echo "harbor console 3"\nread -r -p "user: " user\nsleep 60\n',
      'drive.py':
        'import pexpect\n\nconsole = pexpect.spawn("bash console.sh", encoding="utf-8", timeout=4)\nconsole.expect("user: ")\nconsole.sendline("pilot")\nconsole.expect("ready>")\nprint("console is ready")\n',
    },
    run: 'python3 drive.py',
    exitCode: 1,
    telling: ['pexpect.exceptions.TIMEOUT: Timeout exceeded.'],
  },
  {
    ...createDebianTool('openssh-client', 'openssh-server'),
    slug: 'ssh-server-stops-answering',
    tool: 'ssh',
    heldOut: true,
    category: 'INFRA_ERROR',
    files: {
      'ci/serve.sh':
        'set -e\nssh-keygen -q -t ed25519 -N "" -f host\nssh-keygen -q -t ed25519 -N "" -f key\ncp key.pub allowed\nprintf "[localhost]:2222 %s\\n" "$(cat host.pub)" > known\n/usr/sbin/sshd -h "$PWD/host" -p 2222 -o ListenAddress=127.0.0.1 -o AuthorizedKeysFile="$PWD/allowed" -o StrictModes=no -o PidFile="$PWD/pid" -o UsePAM=no\n',
    },
    before: 'bash ci/serve.sh\necho "the pilot station is up"',
    run: 'ssh -i key -p 2222 -o UserKnownHostsFile=known -o ServerAliveInterval=2 -o ServerAliveCountMax=2 localhost "echo sounding; kill -STOP \\$PPID; sleep 60"',
    exitCode: 255,
    telling: ['Timeout, server localhost not responding.'],
  },
];

/** A registry of static files that answers a number of requests and then refuses every one. */
const EXPIRING = `import http.server
import sys

left = int(sys.argv[2])


class Registry(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        global left
        if self.path.rstrip("/") in ("", "/v2"):
            self.send_response(200)
            self.end_headers()
            return
        left -= 1
        if left >= 0:
            super().do_GET()
            return
        body = b'{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}\\n'
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_GET

    def guess_type(self, path):
        return "application/vnd.docker.distribution.manifest.v2+json" if "/manifests/" in path else super().guess_type(path)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Registry).serve_forever()
`;

/** Starts the registry over the folder \`served\`. */
function serve(port: number, requests: number): string {
  return `(cd served && exec python3 ../ci/registry.py ${port} ${requests}) &\nfor try in 1 2 3 4 5 6 7 8; do curl -so /dev/null localhost:${port}/ || sleep 1; done\necho "logged in to localhost:${port}"`;
}

const SYNC: readonly ToolRow[] = [
  {
    slug: 'npm-refused-halfway',
    tool: 'npm',
    version: 'npm --version',
    heldOut: false,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'ci/registry.py': EXPIRING,
      'ci/fill.sh':
        'set -e\nmkdir -p served tmp\nfor name in tides charts buoys; do\n  mkdir -p tmp/$name\n  printf \'{ "name": "%s", "version": "1.0.0" }\\n\' $name > tmp/$name/package.json\n  (cd tmp/$name && npm pack --silent > /dev/null)\n  cp tmp/$name/$name-1.0.0.tgz served/\n  printf \'{ "name": "%s", "dist-tags": { "latest": "1.0.0" }, "versions": { "1.0.0": { "name": "%s", "version": "1.0.0", "dist": { "tarball": "http://localhost:8090/%s-1.0.0.tgz" } } } }\\n\' $name $name $name > served/$name\ndone\nrm -r tmp\n',
      'package.json':
        '{ "name": "harbor", "private": true, "dependencies": { "tides": "1.0.0", "charts": "1.0.0", "buoys": "1.0.0" } }\n',
      '.npmrc': 'registry=http://localhost:8090/\nmaxsockets=1\naudit=false\nfund=false\n',
    },
    setup: 'bash ci/fill.sh',
    before: serve(8090, 4),
    run: 'npm install --loglevel=http --cache=./cache',
    exitCode: 1,
    telling: ['npm error code E401'],
  },
  {
    ...createDebianTool('skopeo'),
    slug: 'skopeo-refused-halfway',
    tool: 'skopeo',
    heldOut: false,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'ci/registry.py': EXPIRING,
      'ci/fill.py':
        'import hashlib\nimport json\nimport pathlib\n\nroot = pathlib.Path("served/v2/harbor")\n\n\ndef put(image, data):\n    digest = "sha256:" + hashlib.sha256(data).hexdigest()\n    folder = root / image / "blobs"\n    folder.mkdir(parents=True, exist_ok=True)\n    (folder / digest).write_bytes(data)\n    return {"digest": digest, "size": len(data)}\n\n\nfor image in ("charts", "tides"):\n    media = "application/vnd.docker."\n    config = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}})\n    layers = [put(image, f"{image} {part}".encode()) for part in range(2)]\n    manifest = {\n        "schemaVersion": 2,\n        "mediaType": media + "distribution.manifest.v2+json",\n        "config": {"mediaType": media + "container.image.v1+json", **put(image, config.encode())},\n        "layers": [{"mediaType": media + "image.rootfs.diff.tar", **layer} for layer in layers],\n    }\n    folder = root / image / "manifests"\n    folder.mkdir()\n    (folder / "1.2").write_text(json.dumps(manifest))\n',
    },
    setup: 'python3 ci/fill.py',
    before: serve(8091, 5),
    run: 'for image in charts tides; do\n  skopeo copy --src-tls-verify=false docker://localhost:8091/harbor/$image:1.2 dir:mirror-$image\ndone',
    exitCode: 1,
    telling: ['unauthorized'],
  },
  {
    ...createDebianTool('apt'),
    slug: 'apt-get-refused-halfway',
    tool: 'apt-get',
    heldOut: true,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'ci/registry.py': EXPIRING,
      'served/north/Packages':
        'Package: tides\nVersion: 1.0\nArchitecture: all\nMaintainer: ci <ci@example.test>\nFilename: ./tides.deb\nSize: 1\n',
      'served/north/Release': 'Suite: stable\nDate: Sat, 01 Nov 2025 00:00:00 UTC\n',
      'served/south/Packages': '',
      'served/south/Release': 'Suite: stable\nDate: Sat, 01 Nov 2025 00:00:00 UTC\n',
      'sources.list':
        'deb [trusted=yes] http://localhost:8092/north ./\ndeb [trusted=yes] http://localhost:8092/south ./\n',
    },
    setup: 'mkdir -p state/lists/partial cache/archives/partial',
    before: serve(8092, 4),
    run: 'apt-get -o Dir::Etc::SourceList=$PWD/sources.list -o Dir::Etc::SourceParts=- -o Dir::State=$PWD/state -o Dir::Cache=$PWD/cache -o Acquire::Languages=none -o Acquire::http::Proxy=false -o APT::Sandbox::User=runner update',
    exitCode: 100,
    telling: ['401  Unauthorized'],
  },
  {
    ...createPipTool('uv'),
    slug: 'uv-refused-halfway',
    tool: 'uv',
    heldOut: true,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'ci/registry.py': EXPIRING,
      'ci/fill.sh':
        'set -e\nfor name in tides charts buoys; do\n  mkdir -p served/simple/$name parts/$name/$name parts/$name/$name-1.0.dist-info\n  printf "Metadata-Version: 2.1\\nName: %s\\nVersion: 1.0\\n" $name > parts/$name/$name-1.0.dist-info/METADATA\n  printf "Wheel-Version: 1.0\\nGenerator: ci\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n" > parts/$name/$name-1.0.dist-info/WHEEL\n  touch parts/$name/$name/__init__.py parts/$name/$name-1.0.dist-info/RECORD\n  (cd parts/$name && python3 -m zipfile -c ../../served/$name-1.0-py3-none-any.whl .)\n  printf \'<a href="/%s-1.0-py3-none-any.whl">%s-1.0-py3-none-any.whl</a>\\n\' $name $name > served/simple/$name/index.html\ndone\n',
      'requirements.txt': 'tides==1.0\ncharts==1.0\nbuoys==1.0\n',
    },
    setup: 'python3 -m pip install --user --no-warn-script-location uv && bash ci/fill.sh',
    env: { UV_CONCURRENT_DOWNLOADS: '1' },
    before: serve(8093, 5),
    run: 'uv pip install --no-cache --target out --index-url http://localhost:8093/simple -r requirements.txt',
    exitCode: 2,
    telling: ['401 Unauthorized'],
  },
];

/** Work that somebody else ends: a limit on silence, and a registry that refuses what it served before. */
export const rows: readonly ToolRow[] = [...SILENCE, ...SYNC];
