/** A kind of line that occurs in logs of failed jobs but has nothing to do with the failure. */
export interface HarmlessKind {
  /** The sort, a colon and the kind: `clean-up: orphan processes`. */
  readonly name: string;
  /** One to four lines as the tool prints them, without the time stamps of the runner. */
  readonly lines: readonly string[];
}

/** The harmless lines, as a table in which `»` begins a line of the log, `␛` is the escape character and `´` is a backtick. */
const TABLE = String.raw`
node: deprecation with code » (node:1873) [DEP0040] DeprecationWarning: The ´punycode´ module is deprecated. Please use a userland alternative instead.
» (Use ´node --trace-deprecation ...´ to show where the warning was created)
node: url.parse » (node:2114) [DEP0169] DeprecationWarning: ´url.parse()´ behavior is not standardized and prone to errors that have security implications. Use the WHATWG URL API instead. CVEs are not issued for ´url.parse()´ vulnerabilities.
node: experimental » (node:41) ExperimentalWarning: VM Modules is an experimental feature and might change at any time
node: listeners » (node:3302) MaxListenersExceededWarning: Possible EventEmitter memory leak detected. 11 exit listeners added to [process]. MaxListeners is 10. Use emitter.setMaxListeners() to increase limit
node: module type » (node:2290) [MODULE_TYPELESS_PACKAGE_JSON] Warning: Module type of file:///home/runner/work/larkspur/larkspur/eslint.config.js is not specified and it doesn't parse as CommonJS.
» Reparsing as ES module because module syntax was detected. This incurs a performance overhead.
node: browserslist » Browserslist: browsers data (caniuse-lite) is 9 months old. Please run:
»   npx update-browserslist-db@latest
»   Why you should do it regularly: https://github.com/browserslist/update-db#readme
node: open handles » Jest did not exit one second after the test run has completed.
» 'This usually means that there are asynchronous operations that weren't stopped in your tests. Consider running Jest with ´--detectOpenHandles´ to troubleshoot this issue.
node: worker » A worker process has failed to exit gracefully and has been force exited. This is likely caused by tests leaking due to improper teardown. Try running with --detectOpenHandles to find leaks. Active timers can also cause this, ensure that .unref() was called on them.
npm: deprecated » npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory. Do not use it. Check out lru-cache if you want a good and tested way to coalesce async requests by a key value, which is much more comprehensive and powerful.
» npm warn deprecated glob@7.2.3: Glob versions prior to v9 are no longer supported
npm: engine » npm warn EBADENGINE Unsupported engine {
» npm warn EBADENGINE   package: 'marlin-store@6.1.0',
» npm warn EBADENGINE   required: { node: '>=20' },
» npm warn EBADENGINE   current: { node: 'v18.20.4', npm: '10.7.0' }
npm: peer » npm WARN ERESOLVE overriding peer dependency
» npm WARN While resolving: heron-table@3.2.1
» npm WARN Could not resolve dependency:
npm: yarn peer » warning " > heron-forms@2.0.0" has unmet peer dependency "react-dom@^17.0.0".
» warning " > heron-forms@2.0.0" has incorrect peer dependency "react@^17.0.0".
npm: yarn berry » ➤ YN0002: │ larkspur@workspace:. doesn't provide typescript (pa31f0), requested by ts-node.
» ➤ YN0086: │ Some peer dependencies are incorrectly met by your project; run yarn explain peer-requirements <hash> for details, where <hash> is the six-letter p-prefixed code.
npm: pnpm » WARN  7 deprecated subdependencies found: abab@2.0.6, domexception@4.0.0, glob@7.2.3, inflight@1.0.6, rimraf@3.0.2
» Issues with peer dependencies found
python: root user » WARNING: Running pip as the 'root' user can result in broken permissions and conflicting behaviour with the system package manager, possibly rendering your system unusable. It is recommended to use a virtual environment instead: https://pip.pypa.io/warnings/venv
python: pip notice » [notice] A new release of pip is available: 24.0 -> 25.1.1
» [notice] To update, run: pip install --upgrade pip
python: legacy install » DEPRECATION: Building 'quillpen' using the legacy setup.py bdist_wheel mechanism, which will be removed in a future version. pip 25.3 will enforce this behaviour change.
python: pytest summary » =============================== warnings summary ===============================
» tests/test_ledger.py::test_invalid_currency_raises_error
»   /home/runner/work/quillpen/quillpen/quillpen/ledger.py:88: DeprecationWarning: datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version.
» -- Docs: https://docs.pytest.org/en/stable/how-to/capture-warnings.html
python: unknown mark » tests/test_slow.py:14: PytestUnknownMarkWarning: Unknown pytest.mark.slow - is this a typo?  You can register custom marks to avoid this warning
python: syntax warning » <unknown>:41: SyntaxWarning: invalid escape sequence '\d'
python: scripts path » WARNING: The script ruffle is installed in '/home/runner/.local/bin' which is not on PATH.
»   Consider adding this directory to PATH or, if you prefer to suppress this warning, use --no-warn-script-location.
python: resolver » ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.
» awscli 1.32.6 requires colorama<0.4.5,>=0.2.5, but you have colorama 0.4.6 which is incompatible.
runner: node 20 » ##[warning]Node.js 20 actions are deprecated. The following actions are running on Node.js 20 and may not work as expected: actions/checkout@v4, actions/setup-node@v4.
runner: set-output » ##[warning]The ´set-output´ command is deprecated and will be disabled soon. Please upgrade to using Environment Files. For more information see: https://github.blog/changelog/2022-10-11-github-actions-deprecating-save-state-and-set-output-commands/
runner: inputs » ##[warning]Unexpected input(s) 'fail-on-error', valid inputs are ['path', 'key', 'restore-keys', 'upload-chunk-size', 'enableCrossOsArchive', 'fail-on-cache-miss', 'lookup-only']
runner: image » ##[notice]The ubuntu-latest label will migrate from Ubuntu 22.04 to Ubuntu 24.04. For more information see https://github.com/actions/runner-images/issues/10636
runner: cache service » ##[warning]Failed to restore: Cache service responded with 503
runner: save cache » ##[warning]Failed to save: Unable to reserve cache with key Linux-gradle-7b1c0e, another job may be creating this cache. More details: Cache already exists.
jvm: gradle deprecated » Deprecated Gradle features were used in this build, making it incompatible with Gradle 9.0.
» You can use '--warning-mode all' to show the individual deprecation warnings and determine if they come from your own scripts or plugins.
jvm: gradle daemon » Starting a Gradle Daemon, 1 incompatible and 1 stopped Daemons could not be reused, use --status for details
jvm: maven version » [WARNING] 'build.plugins.plugin.version' for org.apache.maven.plugins:maven-compiler-plugin is missing. @ line 71, column 21
» [WARNING] It is highly recommended to fix these problems because they threaten the stability of your build.
jvm: encoding » [WARNING] Using platform encoding (UTF-8 actually) to copy filtered resources, i.e. build is platform dependent!
jvm: illegal access » WARNING: An illegal reflective access operation has occurred
» WARNING: Illegal reflective access by org.codehaus.groovy.reflection.CachedClass (file:/root/.m2/repository/org/codehaus/groovy/groovy/2.5.8/groovy-2.5.8.jar) to method java.lang.Object.finalize()
jvm: unchecked » Note: /home/runner/work/otterbank/otterbank/core/src/main/java/io/otter/ErrorMapper.java uses unchecked or unsafe operations.
» Note: Recompile with -Xlint:unchecked for details.
jvm: class sharing » OpenJDK 64-Bit Server VM warning: Sharing is only supported for boot loader classes because bootstrap classpath has been appended
jvm: slf4j » SLF4J: Failed to load class "org.slf4j.impl.StaticLoggerBinder".
» SLF4J: Defaulting to no-operation (NOP) logger implementation
native: go download » go: downloading github.com/pkg/errors v0.9.1
» go: downloading golang.org/x/xerrors v0.0.0-20231012003039-104605ab7028
native: go coverage » warning: no packages being tested depend on matches for pattern ./internal/failpoint/...
native: cargo unused » warning: unused variable: ´err´
»   --> crates/tern/src/session.rs:118:17
» help: if this is intentional, prefix it with an underscore: ´_err´
» warning: ´tern´ (lib) generated 1 warning (run ´cargo fix --lib -p tern´ to apply 1 suggestion)
native: cargo future » warning: the following packages contain code that will be rejected by a future version of Rust: nom v4.2.3
» note: to see what the problems were, use the option ´--future-incompat-report´, or run ´cargo report future-incompatibilities --id 1´
native: cargo compile » ␛[1m␛[32m   Compiling␛[0m thiserror v1.0.63
» ␛[1m␛[32m   Compiling␛[0m quick-error v2.0.1
native: gcc warning » src/panic.c:204:9: warning: ignoring return value of ‘write’ declared with attribute ‘warn_unused_result’ [-Wunused-result]
native: cmake » CMake Deprecation Warning at CMakeLists.txt:1 (cmake_minimum_required):
»   Compatibility with CMake < 3.10 will be removed from a future version of CMake.
native: linker » ld: warning: -undefined error is deprecated
» ld: warning: ignoring duplicate libraries: '-lc++'
docker: json args » WARN: JSONArgsRecommended: JSON arguments recommended for CMD to prevent unintended behavior related to OS signals (line 24)
docker: case » #1 WARN: FromAsCasing: 'as' and 'FROM' keywords' casing do not match (line 1)
docker: compose version » time="2026-02-11T09:14:03Z" level=warning msg="/home/runner/work/kestrel/kestrel/compose.yaml: the attribute ´version´ is obsolete, it will be ignored, please remove it to avoid potential confusion"
docker: unset » time="2026-02-11T09:14:04Z" level=warning msg="The \"SENTRY_DSN\" variable is not set. Defaulting to a blank string."
docker: credentials » WARNING! Your credentials are stored unencrypted in '/home/runner/.docker/config.json'.
» Configure a credential helper to remove this warning. See
docker: build step » #14 [build 6/9] RUN npm ci || (echo "npm ci failed, see the log" && exit 1)
» #14 CACHED
apt: cli » WARNING: apt does not have a stable CLI interface. Use with caution in scripts.
apt: debconf » debconf: unable to initialize frontend: Dialog
» debconf: (TERM is not set, so the dialog frontend is not usable.)
» debconf: falling back to frontend: Noninteractive
apt: policy » invoke-rc.d: could not determine current runlevel
» invoke-rc.d: policy-rc.d denied execution of start.
apt: key » Warning: apt-key is deprecated. Manage keyring files in trusted.gpg.d instead (see apt-key(8)).
git: default branch » hint: Using 'master' as the name for the initial branch. This default branch name
» hint: is subject to change. To configure the initial branch name to use in all
» hint: of your new repositories, which will suppress this warning, call:
» hint: 	git config --global init.defaultBranch <name>
git: detached » Note: switching to 'refs/remotes/pull/381/merge'.
» You are in 'detached HEAD' state. You can look around, make experimental
» changes and commit them, and you can discard any commits you make in this
git: head » HEAD is now at 4c81d0e Merge 9be17f2 into 1a55c3d: fix crash when the config cannot be parsed
git: shallow » hint: Pulling without specifying how to reconcile divergent branches is discouraged.
git: line ends » warning: in the working copy of 'fixtures/broken.csv', LF will be replaced by CRLF the next time Git touches it
git: progress » remote: Enumerating objects: 5120, done.        
» remote: Compressing objects: 100% (3317/3317), done.        
echo: error head » ##[group]Run echo "Error: VERSION is missing"; exit 1
» ␛[36;1m[ -n "$VERSION" ] || { echo "Error: VERSION is missing"; exit 1; }␛[0m
» shell: /usr/bin/bash -e {0}
» ##[endgroup]
echo: annotation head » ##[group]Run if [ ! -f dist/app.js ]; then
» ␛[36;1m  echo "::error::Build output not found"␛[0m
» shell: /usr/bin/bash --noprofile --norc -e -o pipefail {0}
» ##[endgroup]
echo: retry head » ##[group]Run for i in 1 2 3; do ./warm-up && break || echo "attempt $i failed"; done
» ␛[36;1mfor i in 1 2 3; do ./warm-up && break || echo "attempt $i failed"; done␛[0m
» shell: /bin/bash -e {0}
» ##[endgroup]
echo: tolerant head » ##[group]Run git diff --exit-code || echo "generated files differ"
» ␛[36;1mgit diff --exit-code || echo "generated files differ"␛[0m
» shell: /usr/bin/bash -e {0}
» ##[endgroup]
echo: trap head » ##[group]Run trap 'echo "FATAL: line $LINENO"; exit 2' ERR
» ␛[36;1mtrap 'echo "FATAL: line $LINENO"; exit 2' ERR␛[0m
» shell: /usr/bin/bash -e {0}
» ##[endgroup]
echo: powershell head » ##[group]Run $ErrorActionPreference = 'Stop'
» ␛[36;1mif ($LASTEXITCODE -ne 0) { throw "restore failed" }␛[0m
» shell: C:\Program Files\PowerShell\7\pwsh.EXE -command ". '{0}'"
» ##[endgroup]
echo: npm script » > larkspur@4.2.0 lint
» > eslint . --max-warnings 0 || (echo 'lint failed' && exit 1)
echo: make recipe » test -f .env || (echo "missing .env, copy .env.example" && false)
echo: with inputs » ##[group]Run actions/upload-artifact@v4
»   name: failed-screenshots
»   if-no-files-found: error
» ##[endgroup]
echo: tox » py312: commands[0]> python -W error -m pytest --maxfail=1 tests
env: java » env:
»   JAVA_HOME: /opt/hostedtoolcache/Java_Temurin-Hotspot_jdk/21.0.5-11/x64
»   FAIL_FAST: false
env: rust » env:
»   RUST_BACKTRACE: 1
»   RUSTFLAGS: -D warnings
»   CARGO_TERM_COLOR: always
env: python » env:
»   PYTHONFAULTHANDLER: 1
»   PIP_NO_INPUT: 1
»   pythonLocation: /opt/hostedtoolcache/Python/3.12.8/x64
env: errors » env:
»   ERROR_REPORTING_URL: https://errors.kestrel.example/ingest
»   ON_FAILURE: abort
env: node » env:
»   NODE_OPTIONS: --max-old-space-size=4096 --throw-deprecation
»   CI_RETRY_FAILED: 2
env: secrets » env:
»   DATABASE_URL: ***
»   SKIP_BROKEN_TESTS: true
trace: set » + set -x
» + mkdir -p /tmp/crash-dumps
trace: test » + [[ 0 -ne 0 ]]
» + echo 'no failures so far'
trace: trap » + trap 'on_error $? $LINENO' ERR
trace: guarded » ++ command -v podman
» + RUNTIME=docker
» + rm -f errors.log failed.txt
pass: tap » ok 12 - rejects with ECONNREFUSED
» ok 13 - throws ERR_INVALID_ARG_TYPE for a missing callback
pass: vitest » ␛[32m✓␛[39m src/parse.test.ts > parse > throws TypeError when the input is null ␛[32m2␛[2mms␛[22m␛[39m
pass: jest file » PASS src/errors/__tests__/fatal-error.test.tsx (5.113 s)
pass: jest case »     ✓ shows an error message when the request fails (41 ms)
pass: mocha »       ✔ should fail with a timeout error after 3 retries (312ms)
pass: cargo » test errors::timeout ... ok
» test parser::rejects_unexpected_eof ... ok
pass: should panic » test ring::tests::overflow_panics - should panic ... ok
pass: go » === RUN   TestPanicRecovers
» --- PASS: TestPanicRecovers (0.02s)
pass: go sub test »     --- PASS: TestDial/connection_refused (0.00s)
pass: pytest verbose » tests/test_errors.py::test_connection_refused PASSED                     [ 47%]
pass: pytest xdist » [gw1] [ 63%] PASSED tests/test_errors.py::test_raises_value_error 
pass: xfail » tests/test_dates.py::test_leap_second_crash XFAIL (known bug)           [ 81%]
» XFAIL tests/test_dates.py::test_leap_second_crash - known bug
pass: unittest » test_missing_file_raises (tests.test_io.ReaderTests.test_missing_file_raises) ... ok
pass: gradle » OrderServiceTest > throwsWhenPaymentFails() PASSED
pass: surefire » [INFO] Tests run: 14, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.482 s -- in io.otter.ErrorHandlerTest
pass: gtest » [ RUN      ] SocketTest.ConnectFailsWithTimeout
» [       OK ] SocketTest.ConnectFailsWithTimeout (15 ms)
pass: ctest »  17/212 Test  #17: decode_corrupt_header ............   Passed    0.03 sec
pass: dotnet »   Passed Parse_InvalidJson_ThrowsFormatException [3 ms]
skip: cargo » test net::connect_failure ... ignored, needs a network
skip: tap » ok 31 - kills the child on fatal signal # SKIP not on linux
skip: jest »     ○ skipped fails when the disk is full
skip: go » --- SKIP: TestCrashRestart (0.00s)
»     crash_test.go:22: skipping in short mode
retry: curl » curl: (22) The requested URL returned error: 502
» Warning: Problem: HTTP error. Will retry in 1 second. 3 retries left.
»   % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
» 100 8412k  100 8412k    0     0  21.4M      0 --:--:-- --:--:-- --:--:-- 21.4M
retry: pip » WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ReadTimeoutError("HTTPSConnectionPool(host='pypi.org', port=443): Read timed out. (read timeout=15)")': /simple/numpy/
»   Downloading numpy-2.1.3-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl (16.0 MB)
retry: npm » npm http fetch GET https://registry.npmjs.org/semver attempt 1 failed with ECONNRESET
» npm http fetch GET 200 https://registry.npmjs.org/semver 1204ms (attempt #2)
retry: apt » Ign:4 http://azure.archive.ubuntu.com/ubuntu jammy/main amd64 libxml2-utils amd64 2.9.13+dfsg-1ubuntu0.4
» Get:4 http://archive.ubuntu.com/ubuntu jammy/main amd64 libxml2-utils amd64 2.9.13+dfsg-1ubuntu0.4 [40.2 kB]
retry: apt index » Err:7 http://azure.archive.ubuntu.com/ubuntu noble-updates InRelease
»   Could not connect to azure.archive.ubuntu.com:80 (52.154.174.208), connection timed out
» Get:7 http://archive.ubuntu.com/ubuntu noble-updates InRelease [126 kB]
retry: gradle » Could not GET 'https://plugins.gradle.org/m2/org/jetbrains/annotations/23.0.0/annotations-23.0.0.pom'. Received status code 503 from server: Service Unavailable. Retrying in 500ms
» Download https://plugins.gradle.org/m2/org/jetbrains/annotations/23.0.0/annotations-23.0.0.pom, took 88 ms
retry: checkout » The process '/usr/bin/git' failed with exit code 128
» Waiting 14 seconds before trying again
» [command]/usr/bin/git -c protocol.version=2 fetch --no-tags --prune --depth=1 origin +refs/heads/main
» From https://github.com/kestrel-works/kestrel
retry: wget » Connecting to mirror.kestrel.example (mirror.kestrel.example)|203.0.113.8|:443... failed: Connection timed out.
» Retrying.
» 2026-02-11 09:15:20 (11.2 MB/s) - ‘sdk.tar.gz’ saved [48211204/48211204]
retry: cargo » warning: spurious network error (3 tries remaining): [28] Timeout was reached (Operation too slow. Less than 10 bytes/sec transferred the last 30 seconds)
»   Downloaded windows-sys v0.52.0
retry: wait-for » wait-for-it.sh: waiting 30 seconds for localhost:5432
» nc: connect to localhost (127.0.0.1) port 5432 (tcp) failed: Connection refused
» wait-for-it.sh: localhost:5432 is available after 4 seconds
retry: flaky test »   (retry 1) ✘  7 [chromium] › login.spec.ts:22:5 › shows the password error (30.0s)
»   ✓  8 [chromium] › login.spec.ts:22:5 › shows the password error (retry #1) (1.2s)
retry: step » Attempt 1 failed. Reason: Child_process exited with error code 7
» Command completed after 2 attempt(s).
probe: configure » checking for strlcpy... no
» checking whether the compiler rejects invalid flags... yes
» checking for error_at_line... yes
probe: cmake » -- Looking for pthread_create in pthreads - not found
» -- Performing Test HAVE_FAIL_ON_OVERFLOW - Failed
probe: meson » Run-time dependency libunwind found: NO (tried pkgconfig and cmake)
probe: which » which: no ccache in (/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin)
probe: ls » ls: cannot access '/opt/android-ndk/': No such file or directory
» ndk not preinstalled, skipping
probe: remote » error: No such remote 'upstream'
» adding remote upstream
probe: tag » fatal: no tag exactly matches '4c81d0e7b1f2a6d9c3e8055f1b2a7c9d0e4f6a81'
» not a tagged build, version is 0.0.0-dev
probe: describe » fatal: No names found, cannot describe anything.
» using version 0.1.0 instead
probe: grep » grep: .env.local: No such file or directory
» no local overrides
probe: manifest » ERROR: manifest unknown: manifest unknown
» image ghcr.io/kestrel-works/base:3f9e1 is not published yet, building it
probe: docker object » Error response from daemon: No such container: kestrel-db
» starting kestrel-db
probe: cache miss » Cache not found for input keys: Linux-node-5d1c7e90b2, Linux-node-
probe: buildx cache » #7 importing cache manifest from ghcr.io/kestrel-works/app:cache
» #7 ERROR: failed to configure registry cache importer: ghcr.io/kestrel-works/app:cache: not found
probe: kubectl » Error from server (NotFound): namespaces "preview-381" not found
» namespace/preview-381 created
probe: release » release not found
» creating release v0.9.2
probe: tool cache » Unable to resolve version spec '3.13' from the tool cache, downloading it
» Attempting to download 3.13...
service: postgres role » 2026-02-11 09:14:11.402 UTC [63] FATAL:  role "root" does not exist
service: postgres start » 2026-02-11 09:14:09.118 UTC [1] LOG:  database system is ready to accept connections
» 2026-02-11 09:14:10.006 UTC [58] ERROR:  relation "schema_migrations" does not exist at character 15
service: postgres trust » initdb: warning: enabling "trust" authentication for local connections
» initdb: hint: You can change this by editing pg_hba.conf or using the option -A, or --auth-local and --auth-host, the next time you run initdb.
service: postgres stop » 2026-02-11 09:14:08.730 UTC [47] LOG:  received fast shutdown request
» 2026-02-11 09:14:08.731 UTC [47] LOG:  aborting any active transactions
service: redis overcommit » 1:C 11 Feb 2026 09:14:06.220 # WARNING Memory overcommit must be enabled! Without it, a background save or replication may fail under low memory condition.
service: redis config » 1:C 11 Feb 2026 09:14:06.221 # Warning: no config file specified, using the default config. In order to specify a config file use redis-server /path/to/redis.conf
service: mysql certificate » 2026-02-11T09:14:12.118402Z 0 [Warning] [MY-010068] [Server] CA certificate ca.pem is self signed.
service: mysql password » 2026-02-11T09:14:05.882107Z 6 [Warning] [MY-010453] [Server] root@localhost is created with an empty password ! Please consider switching off the --initialize-insecure option.
» mysqladmin: [Warning] Using a password on the command line interface can be insecure.
service: kafka » [2026-02-11 09:14:20,114] WARN [Controller id=1] Partition orders-0 failed to elect leader, retrying (kafka.controller.KafkaController)
service: elastic » {"@timestamp":"2026-02-11T09:14:31.006Z", "log.level": "WARN", "message":"max virtual memory areas vm.max_map_count [65530] is too low, increase to at least [262144]", "ecs.version": "1.2.0"}
service: health » /usr/bin/docker inspect --format="{{if .Config.Healthcheck}}{{print .State.Health.Status}}{{end}}" 8f0c1d27aa31
» postgres service is starting, waiting 2 seconds before checking again.
service: dbus » [4127:4127:0211/091433.704012:ERROR:bus.cc(407)] Failed to connect to the bus: Could not parse server address: Unknown address type
expected: vitest stderr » ␛[90mstderr␛[2m | src/client.test.ts > client > retries when the server answers 500
» ␛[22m␛[39mError: upstream answered 500
expected: jest console »   console.error
»     Warning: An update to Counter inside a test was not wrapped in act(...).
expected: react boundary » The above error occurred in the <Broken> component. React will try to recreate this component tree from scratch using the error boundary you provided, Boundary.
expected: go log » 2026/02/11 09:15:02 http: panic serving 127.0.0.1:51822: deliberate panic for the test
» ok  	github.com/kestrel-works/kestrel/internal/server	0.214s
expected: rust panic » thread 'ring::tests::overflow_panics' panicked at src/ring.rs:88:9:
» note: run with ´RUST_BACKTRACE=1´ environment variable to display a backtrace
» test ring::tests::overflow_panics - should panic ... ok
expected: rails log » I, [2026-02-11T09:15:04.201455 #2210]  INFO -- : Completed 500 Internal Server Error in 3ms (expected by errors_controller_test)
expected: spring » 2026-02-11T09:15:06.410Z  WARN 3120 --- [main] o.s.w.s.h.HandlerExceptionResolver : Resolved [org.springframework.web.HttpRequestMethodNotSupportedException: Request method 'POST' is not supported]
expected: python log » ERROR:quillpen.sync:could not reach the mirror (expected in this test)
» .
zero: eslint » ✔ 214 files checked, 0 errors, 0 warnings
zero: msbuild »     0 Warning(s)
»     0 Error(s)
zero: junit » Tests run: 418, Failures: 0, Errors: 0, Skipped: 6
zero: pytest » ============ 312 passed, 4 skipped, 2 xfailed in 18.20s ============
zero: rspec » 96 examples, 0 failures, 3 pending
zero: cargo » test result: ok. 77 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.41s
progress: webpack » <s> [webpack.Progress] 68% building 1204/1310 modules
progress: ninja » [412/980] Building CXX object src/CMakeFiles/core.dir/error_codes.cpp.o
progress: gradle » > Task :core:compileJava UP-TO-DATE
» > Task :core:processResources NO-SOURCE
progress: percent » Downloading Chromium 131.0.6778.33 (playwright build v1148) from https://cdn.playwright.dev/dbazure/download/playwright/builds/chromium/1148/chromium-linux.zip
» |■■■■■■■■■■■■■■■■                                                                |  20% of 161.3 MiB
progress: time » real	0m41.207s
» user	1m12.990s
» sys	0m3.418s
progress: vite » dist/assets/error-page-Bk2x9a.js   14.02 kB │ gzip: 5.11 kB
table: istanbul » File                | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s 
»  errors.ts          |   61.53 |       40 |      50 |   61.53 | 18-24,31          
table: python coverage » quillpen/exceptions.py                 42      9    79%   31-38, 52
table: next » ┌ ○ /_error                              181 B          84.3 kB
table: go coverage » github.com/kestrel-works/kestrel/internal/errors/wrap.go:31:	Unwrap		0.0%
notice: audit » 6 vulnerabilities (2 moderate, 3 high, 1 critical)
» To address all issues (including breaking changes), run:
»   npm audit fix --force
notice: funding » 214 packages are looking for funding
»   run ´npm fund´ for details
notice: npm update » npm notice New major version of npm available! 10.9.2 -> 11.4.1
» npm notice To update run: npm install -g npm@11.4.1
notice: next telemetry » Attention: Next.js now collects completely anonymous telemetry regarding usage.
» This information is used to shape Next.js' roadmap and prioritize features.
notice: dotnet telemetry » Telemetry
» ---------
» The .NET tools collect usage data in order to help us improve your experience. You can opt-out of telemetry by setting the DOTNET_CLI_TELEMETRY_OPTOUT environment variable to '1' or 'true' using your favorite shell.
notice: debug log » A complete log of this run can be found in: /home/runner/.npm/_logs/2026-02-11T09_15_31_660Z-debug-0.log
clean-up: post job » Post job cleanup.
clean-up: orphans » Cleaning up orphan processes
» Terminate orphan process: pid (2381) (java)
» Terminate orphan process: pid (2466) (node)
clean-up: git config » [command]/usr/bin/git config --local --name-only --get-regexp http\.https\:\/\/github\.com\/\.extraheader
» http.https://github.com/.extraheader
» [command]/usr/bin/git config --local --unset-all http.https://github.com/.extraheader
clean-up: submodules » [command]/usr/bin/git submodule foreach --recursive sh -c "git config --local --name-only --get-regexp 'core\.sshCommand' && git config --local --unset-all 'core.sshCommand' || :"
clean-up: no artifact » ##[warning]No files were found with the provided path: test-results/. No artifacts will be uploaded.
clean-up: artifact » With the provided path, there will be 3 files uploaded
» Artifact failure-logs.zip successfully finalized. Artifact ID 2481930112
clean-up: container » Stop and remove container: 1f0ab2_postgres16_c4e81d
» /usr/bin/docker rm --force 8f0c1d27aa31b6f4c0de
» Remove container network: github_network_7d3e0b6f
clean-up: cache hit » Cache hit occurred on the primary key Linux-cargo-9f31aa, not saving cache.
clean-up: setup-go cache » ##[warning]Cache folder path is retrieved but doesn't exist on disk: /home/runner/.cache/go-build
clean-up: docker logout » [command]/usr/bin/docker logout 
» Removing login credentials for https://index.docker.io/v1/
clean-up: no report » ##[warning]No test report files were found
clean-up: step summary » Evaluate and set job outputs
» Complete job name: build (ubuntu-latest, fail-fast: false)
lint: eslint warning »   14:7  warning  'error' is assigned a value but never used  @typescript-eslint/no-unused-vars
»
» ✖ 1 problem (0 errors, 1 warning)
lint: annotation » ##[warning]src/failures.ts(31,5): Unexpected console statement. (no-console)
lint: typescript eslint » WARNING: You are currently running a version of TypeScript which is not officially supported by @typescript-eslint/typescript-estree.
» SUPPORTED TYPESCRIPT VERSIONS: >=4.7.4 <5.6.0
lint: golangci » level=warning msg="[config_reader] The configuration option ´run.skip-files´ is deprecated, please use ´issues.exclude-files´."
lint: sass » Deprecation Warning [import]: Sass @import rules are deprecated and will be removed in Dart Sass 3.0.0.
» More info and automated migrator: https://sass-lang.com/d/import
lint: phpcs » 1 | WARNING | A file should declare new symbols and cause no other side effects, or it should execute logic with side effects, but should not do both.
tolerated: script » spell check found 3 problems, not blocking
tolerated: make » make[1]: [Makefile:41: clean] Error 1 (ignored)
tolerated: ansible » fatal: [staging-2]: FAILED! => {"changed": false, "msg": "Could not find the requested service legacyd: host"}
» ...ignoring
tolerated: or true » rm: cannot remove 'build/old': No such file or directory
» continuing, this step is allowed to fail
text: licence » THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
» IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
» FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.
text: gpl » This program comes with ABSOLUTELY NO WARRANTY; for details type 'show w'.
text: spring banner »  :: Spring Boot ::                (v3.4.1)
text: ascii art »   _  __        _            _
»  | |/ /___ ___| |_ _ _ ___ | |
»  |_|\_\___/__/\__|_| \___||_|  v2.8.0
text: help »   --fail-fast           stop at the first error or failure
»   --on-error <action>   abort, skip or retry (default: abort)
text: trigger » Processing triggers for libc-bin (2.39-0ubuntu8.3) ...
`;

/**
 * Two hundred kinds of harmless lines, written from knowledge of the tools that print them. The kinds of one
 * sort are adjacent and even in number, so that the kinds with odd indexes and those with even indexes both
 * cover every sort. One half is for development, the other is held out.
 */
export const HARMLESS: readonly HarmlessKind[] = readTable(TABLE);

function readTable(table: string): HarmlessKind[] {
  const kinds: { name: string; lines: string[] }[] = [];
  for (const row of table.replaceAll('␛', '\u001b').replaceAll('´', '`').split('\n')) {
    const [name = '', ...rest] = row.split('»');
    if (name.trim() !== '') kinds.push({ name: name.trim(), lines: [] });
    if (rest.length > 0) kinds.at(-1)?.lines.push(rest.join('»').replace(/^ /, ''));
  }
  return kinds;
}
