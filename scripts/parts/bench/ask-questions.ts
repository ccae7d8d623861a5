/**
 * A question, and the texts that its answer must contain. Null if the only right answer is that it is not
 * known.
 */
type Question = readonly [question: string, holds: readonly string[] | null];

/** A published package, the commands that fetch it into the current folder, and where its files are then. */
export interface AskedPackage {
  readonly name: string;
  readonly fetch: readonly (readonly string[])[];
  readonly folder: string;
  readonly questions: readonly Question[];
}

/** Questions of every form on five packages. A person found the answers with grep and by reading. */
export const ASKED_PACKAGES: readonly AskedPackage[] = [
  {
    name: 'fastify 5.12.8 (npm, JavaScript)',
    fetch: [
      ['npm', 'pack', 'fastify@5.12.8', '--silent'],
      ['tar', 'xzf', 'fastify-5.12.8.tgz'],
    ],
    folder: 'package',
    questions: [
      ['where is hookRunnerGenerator?', ['lib/hooks.js:230']],
      ['where is onSendHookRunner defined?', ['lib/hooks.js:278']],
      ['which file defines buildRouting?', ['lib/route.js:78']],
      ['where is the function Reply?', ['lib/reply.js:66']],
      ['find fourOhFour', ['lib/four-oh-four.js:32']],
      ['where is ContentTypeParser declared?', ['lib/content-type-parser.js:33']],
      ['what calls onSendHookRunner?', ['lib/reply.js:567', 'lib/reply.js:963']],
      ['where is hookRunnerGenerator used?', ['lib/hooks.js']],
      ['which languages is it written in?', ['JavaScript', 'package.json']],
      ['what does lib/four-oh-four.js define?', ['fourOhFour']],
      ['who changed lib/hooks.js?', null],
      ['where is launchRocket?', null],
      ['is it faster than express?', null],
    ],
  },
  {
    name: 'requests 2.32.3 (PyPI, Python)',
    fetch: [
      ['pip', 'download', '--no-deps', '--no-binary', ':all:', '-q', 'requests==2.32.3'],
      ['tar', 'xzf', 'requests-2.32.3.tar.gz'],
    ],
    folder: 'requests-2.32.3',
    questions: [
      ['where is Session?', ['src/requests/sessions.py:356']],
      ['where is merge_setting defined?', ['src/requests/sessions.py:61']],
      ['which file defines HTTPAdapter?', ['src/requests/adapters.py:167']],
      ['where is Session.send?', ['src/requests/sessions.py:673']],
      ['where is super_len?', ['src/requests/utils.py:135']],
      ['what does get_encoding_from_headers do?', ['Returns encodings from given HTTP Header Dict.']],
      ['what does rebuild_auth do?', ['When being redirected we may want to strip authentication']],
      ['how does PreparedRequest work?', ['src/requests/models.py:313']],
      ['what calls super_len?', ['src/requests/models.py:526', 'src/requests/models.py:575']],
      ['what is this project?', ['**Requests** is a simple, yet elegant, HTTP library.']],
      ['compare dict_from_cookiejar with super_len', ['utils.py:467', 'utils.py:135']],
      ['where is Session.fly?', null],
      ['should I upgrade to version 3?', null],
    ],
  },
  {
    name: 'semver 1.0.23 (crates.io, Rust)',
    fetch: [['cargo', 'vendor', '-q']],
    folder: 'vendor/semver',
    questions: [
      ['where is matches_req?', ['src/eval.rs:3']],
      ['where is the struct Version?', ['src/lib.rs:162']],
      ['where is VersionReq::parse?', ['src/lib.rs:517']],
      ['where is the enum Op defined?', ['src/lib.rs:253']],
      ['which file defines numeric_identifier?', ['src/parse.rs:161']],
      ['what is Op?', ['SemVer comparison operator']],
      ['what does Version::parse do?', ['Create `Version` by parsing from string representation.']],
      ['what calls matches_exact?', ['src/eval.rs:32', 'src/eval.rs:34', 'src/eval.rs:36']],
      ['what calls version_req?', ['src/parse.rs:107', 'src/parse.rs:406']],
      ['where is matches_req used?', ['src/lib.rs:524']],
      ['what does version_req do?', ['src/parse.rs:371']],
      ['when was Version last changed?', null],
      ['why is the sky blue?', null],
    ],
  },
  {
    name: 'cobra 1.8.1 (Go)',
    fetch: [['go', 'mod', 'download', 'github.com/spf13/cobra@v1.8.1']],
    folder: 'go/github.com/spf13/cobra@v1.8.1',
    questions: [
      ['where is ExecuteC?', ['command.go:1054']],
      ['where is Command.Find?', ['command.go:728']],
      ['where is stripFlags?', ['command.go:645']],
      ['where is the type PositionalArgs?', ['args.go:22']],
      ['find OnInitialize', ['cobra.go:99']],
      ['what does NoArgs do?', ['NoArgs returns an error if any args are included.']],
      ['explain CompDebugln', ['CompDebugln prints the specified string with a newline at the end']],
      ['what calls legacyArgs?', ['command.go:747']],
      ['what calls ExecuteC?', ['command.go:1041', 'command.go:1050', 'command.go:1061']],
      ['what does args.go define?', ['NoArgs', 'MatchAll']],
      ['which languages is it written in?', ['Go', 'go.mod']],
      ['where is Command.Fly?', null],
      ['who maintains it?', null],
    ],
  },
  {
    name: 'gson 2.11.0 (Maven, Java)',
    fetch: [
      [
        'mvn',
        '-q',
        'dependency:get',
        '-Dartifact=com.google.code.gson:gson:2.11.0:jar:sources',
        '-Dtransitive=false',
        '-Dmaven.repo.local=m2',
      ],
      ['unzip', '-qo', 'm2/com/google/code/gson/gson/2.11.0/gson-2.11.0-sources.jar', '-d', 'gson'],
    ],
    folder: 'gson',
    questions: [
      ['where is Gson?', ['com/google/gson/Gson.java:151']],
      ['where is JsonReader.doPeek?', ['com/google/gson/stream/JsonReader.java:544']],
      ['which file defines FieldNamingPolicy?', ['com/google/gson/FieldNamingPolicy.java:31']],
      ['where is the interface TypeAdapterFactory?', ['com/google/gson/TypeAdapterFactory.java:164']],
      ['where is LinkedTreeMap?', ['com/google/gson/internal/LinkedTreeMap.java:44']],
      ['where is assertFullConsumption?', ['com/google/gson/Gson.java:1466']],
      ['what does JsonParser do?', ['A parser to parse JSON into a parse tree']],
      ['what is FieldNamingPolicy?', ['An enumeration that defines a few standard naming conventions']],
      ['what calls assertFullConsumption?', ['com/google/gson/Gson.java:1263']],
      ['what calls doPeek?', ['com/google/gson/stream/JsonReader.java:423']],
      ['where is JsonParser.parseString?', ['com/google/gson/JsonParser.java:91']],
      ['where is XmlParser?', null],
      ['how many people use it?', null],
    ],
  },
];

/**
 * Questions about a package that was not looked at when the forms of questions and the definitions were
 * written. They were written before the first run and are measured apart.
 */
export const HELD_OUT_PACKAGES: readonly AskedPackage[] = [
  {
    name: 'koa 2.15.3 (npm, JavaScript), held out',
    fetch: [
      ['mkdir', '-p', 'held-out'],
      ['npm', 'pack', 'koa@2.15.3', '--silent'],
      ['tar', 'xzf', 'koa-2.15.3.tgz', '-C', 'held-out'],
    ],
    folder: 'held-out/package',
    questions: [
      ['what is this project?', ['Expressive HTTP middleware framework for node.js']],
      ['where is createContext?', ['lib/application.js:195']],
      ['which file defines respond?', ['lib/application.js:256']],
      ['where is handleRequest defined?', ['lib/application.js:180']],
      ['where is Application?', ['lib/application.js:31']],
      ['what does createContext do?', ['Initialize a new context.']],
      ['what does flushHeaders do?', ['Flush any set headers and begin the body']],
      ['what calls respond?', ['lib/application.js:184']],
      ['what calls createContext?', ['lib/application.js:155']],
      ['where is redirect?', ['lib/response.js:262']],
      ['what does subdomains do?', ['Return subdomains as an array.']],
      ['which languages is it written in?', ['JavaScript', 'package.json']],
      ['what does lib/context.js define?', ['inspect', 'onerror']],
      ['who changed lib/response.js?', null],
      ['where is acceptsEncodings?', ['lib/request.js:572']],
      ['compare acceptsEncodings with acceptsCharsets', ['lib/request.js:572', 'lib/request.js:589']],
      ['where is bodyParser?', null],
      ['can koa serve static files?', null],
      ['how does attachment work?', ['lib/response.js:294']],
      ['where is application.js?', ['lib/application.js']],
    ],
  },
  {
    name: 'click 8.1.7 (PyPI, Python), held out',
    fetch: [
      ['mkdir', '-p', 'held-out'],
      ['pip', 'download', '--no-deps', '--no-binary', ':all:', '-q', 'click==8.1.7'],
      ['tar', 'xzf', 'click-8.1.7.tar.gz', '-C', 'held-out'],
    ],
    folder: 'held-out/click-8.1.7',
    questions: [
      ['what is this project?', ['Click is a Python package for creating beautiful command line interfaces']],
      ['where is CliRunner?', ['src/click/testing.py:159']],
      ['which file defines BadParameter?', ['src/click/exceptions.py:86']],
      ['where is echo_via_pager defined?', ['src/click/termui.py:251']],
      ['where is LazyFile.open?', ['src/click/utils.py:148']],
      ['what does make_default_short_help do?', ['Returns a condensed version of help string.']],
      ['what does get_app_dir do?', ['Returns the config folder for the application.']],
      [
        'what does echo_via_pager do?',
        ['This function takes a text and shows it via an environment specific'],
      ],
      ['what calls make_str?', ['src/click/core.py:1725']],
      ['what calls format_filename?', ['src/click/exceptions.py:265', 'src/click/utils.py:146']],
      ['where is KeepOpenFile?', ['src/click/utils.py:194']],
      ['what does src/click/utils.py define?', ['LazyFile', 'safecall']],
      ['which languages is it written in?', ['Python', 'Python packaging']],
      ['compare LazyFile with KeepOpenFile', ['src/click/utils.py:106', 'src/click/utils.py:194']],
      ['how does ProgressBar work?', ['src/click/_termui_impl.py:37']],
      ['where is testing.py?', ['src/click/testing.py']],
      ['who wrote CliRunner?', null],
      ['where is LazyFile.fly?', null],
      ['where is TyperApp?', null],
      ['is click better than argparse?', null],
    ],
  },
];
