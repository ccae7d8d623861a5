import type { Fact, Facts } from '../facts.ts';
import { readBlock } from '../failure-block.ts';
import { defineRules, type RuleRow, STRUCTURED } from '../rule.ts';
import { GENERIC_COMPILE, MISSING_THINGS } from './symptoms.ts';

/** Rules for failures of the machine or runner. All of them require that the failed step says so. */
export const MACHINE_RULES: readonly RuleRow[] = defineRules('INFRA_ERROR', {
  'out-of-memory': {
    kind: 'out_of_memory',
    strength: 5,
    patterns: [
      /(?<!On)OutOfMemory(?:Error|Exception)/i,
      /heap out of memory|heap limit Allocation failed/i,
      /\boom-?kill(?:er|ed)?\b(?!: false)/i,
      /Out of memory: Kill/i,
      /Cannot allocate memory|virtual memory exhausted|\bENOMEM\b/i,
      /(?:runtime:|cc1plus:|LLVM ERROR:|CUDA) out of memory/i,
      /insufficient memory for the Java Runtime/i,
      /Killed signal terminated program|ld terminated with signal 9|internal compiler error: Killed/i,
      /^\W{0,4}java heap space/i,
      /GC overhead limit exceeded/i,
      /\b(?:No|_Array)?MemoryError\b|\bstd::bad_alloc\b/i,
      /JVM garbage collector is thrashing/i,
      /Allowed memory size of \d{1,15} bytes exhausted/i,
    ],
    reads: [
      /^(?<who>[\w+./-]{1,60}): out of memory/,
      /(?<node>JavaScript heap) out of memory/,
      /(?<java>Java heap space|Metaspace|GC overhead limit exceeded)/,
      /(?<cuda>CUDA out of memory)/,
      /Allowed memory size of (?<limit>\d{1,15} bytes) exhausted/,
    ],
    title: [
      '{who} ran out of memory',
      (read) => read('node') && 'Node ran out of heap memory',
      (read) => read('java') && `Java ran out of memory: ${read('java')}`,
      'PHP exhausted its memory limit of {limit}',
      'The build ran out of memory',
    ],
    cause: [
      (read) =>
        read('node') &&
        `Node tried to use more memory than its heap limit allows${read('command') === null ? '' : ` while \`${read('command')}\` was running`}.`,
      'Java tried to use more memory than it is allowed to: “{java}”.',
      '{who} requested more memory than the machine had and was terminated: “{message}”.',
      'A process tried to use more memory than it is allowed to: “{message}”.',
    ],
    fix: [
      [
        'configuration',
        (read) =>
          read('node') &&
          'Give Node a larger heap in this step (`--max-old-space-size` in `NODE_OPTIONS`), or run fewer ' +
            'workers at once.',
      ],
      [
        'configuration',
        (read) =>
          read('java') &&
          `Raise the memory limit of the Java process that reported “${read('java')}” (\`-Xmx\`; for Gradle, \`org.gradle.jvmargs\`), or run fewer workers at once.`,
      ],
      ['configuration', 'Raise `memory_limit` above {limit}, or have the step load less data at a time.'],
      ['configuration', 'Lower the batch size, or use a GPU with more memory; the error was “{cuda}”.'],
      [
        'configuration',
        'Run fewer jobs at once or use a larger runner, because `{who}` needs more memory than this one has.',
      ],
    ],
    outranks: [...GENERIC_COMPILE, 'package-build-failed', 'exit-by-signal', 'segmentation-fault'],
    matches: [
      'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB',
      'collect2: fatal error: ld terminated with signal 9 [Killed]',
      'PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes)',
      'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
    ],
    ignores: [
      '-XX:+HeapDumpOnOutOfMemoryError -XX:+ExitOnOutOfMemoryError',
      'message: OOMKilled: false',
      '✓ survives an OutOfMemoryError',
    ],
    says: [
      {
        log: 'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB',
        fix: 'Lower the batch size, or use a GPU with more memory; the error was “CUDA out of memory”.',
      },
    ],
  },
  'killed-137': {
    kind: 'out_of_memory',
    strength: 4.2,
    patterns: [
      /line \d{1,6}: +\d{1,8} Killed\b/,
      /\s\d{2,8} Killed {2,}/,
      /ended by (?:SIGKILL|KILL)\b/,
      /\b(?:exit(?:ed)?(?: with)?(?: code| status)?|Error|code|status) 137\b/,
      /(?:^|: )Killed$|\*{3} \[[^\]\n]{1,300}\] Killed\b/,
      /\bSIGKILL\b/,
      /signal: (?:9|killed)/,
      /\bKilled: 9\b/,
    ],
    when: (fact, facts) => !isStoppedOnPurpose(fact, facts),
    reads: [
      /^\S{1,200}::(?<test>\S{1,80}) \S{0,100}: line/,
      /line \d{1,6}: +\d{1,8} Killed {1,40}(?<program>\S.{0,80})$/,
      /(?<stopped>signal: killed)/,
    ],
    title: [
      '{stopped?}A program was killed by a signal',
      '{program} was killed, probably because it ran out of memory',
      'The process was killed, probably because it ran out of memory',
    ],
    cause: [
      '{stopped?}A program was killed (SIGKILL). The program that started it may have stopped it after a ' +
        'time limit, or it used too much memory; the log does not say which.',
      '{program} was killed from outside (SIGKILL, exit code 137). This usually means that it hit a ' +
        'memory limit.',
      '`{command}` was killed from outside (SIGKILL, exit code 137). This usually means that it hit a ' +
        'memory limit.',
      'The process was killed from outside (SIGKILL, exit code 137). This usually means that it hit a ' +
        'memory limit.',
    ],
    fix: [
      [
        'configuration',
        'Raise the memory limit of the step that runs {program}, or have it do less work at a time.',
      ],
      [
        'configuration',
        (read) =>
          read('stopped') === null && read('command') !== null
            ? `Raise the memory limit of the step that runs \`${read('command')}\`, or have it do less work at a time.`
            : null,
      ],
    ],
    outranks: [...GENERIC_COMPILE, 'package-build-failed', 'exit-by-signal'],
    matches: ['./ci/weigh.sh: line 4:  4711 Killed                  node weigh.js'],
    ignores: ['Killed 137 pears', 'Sending SIGKILL after 10 s ... ok'],
    says: [
      {
        log: 'Error: press: signal: killed',
        title: 'A program was killed by a signal',
        fix: null,
      },
    ],
  },
  'terminated-143': {
    kind: 'runner_lost',
    strength: 3,
    patterns: [/\b(?:exit (?:code|status)|Error|exited(?: with)?(?: code)?) 143\b/, /^Terminated$/],
    matches: ['##[error]Process completed with exit code 143.'],
    ignores: ['Terminated the old scales'],
  },
  'disk-full': {
    kind: 'disk_full',
    strength: 5,
    patterns: [
      /No space left on device|\bENOSPC\b|Disk quota exceeded|running out of disk space/i,
      /not enough (?:free )?(?:disk )?space/i,
      /(?:disk|volume|filesystem) is full/i,
      /don't have enough free space/i,
    ],
    reads: [
      /Failed to execute goal (?<goal>[\w.-]{1,80}:[\w.-]{1,80})/,
      /(?:writing|write|create|open|mkdir|copyfile|copy) (?:error )?['"‘]?(?<target>\/?[\w.@-]{1,80}(?:\/[\w.@-]{1,80}){1,14})/,
    ],
    title: "The runner's disk is full",
    cause: [
      'There was no space left on the device when {goal} wrote a file.',
      'There was no space left on the device to write {target}.',
      '`{command}` could not write a file because there was no space left on the device.',
      'A file could not be written because there was no space left on the device.',
    ],
    fix: [
      [
        'configuration',
        'Free up space before `{command}` (caches, images, old artifacts), or use a runner with a larger ' +
          'disk.',
      ],
      [
        'configuration',
        'Free up space before the step that writes `{target}` (caches, images, old artifacts), or use a ' +
          'runner with a larger disk.',
      ],
      [
        'configuration',
        'Free up space before the step (caches, images, old artifacts), or use a runner with a larger ' +
          'disk; the step stopped with “{message}”.',
      ],
    ],
    outranks: [
      ...MISSING_THINGS,
      ...GENERIC_COMPILE,
      'maven-unresolvable',
      'package-build-failed',
      'download-failed',
      'undefined-reference',
    ],
    matches: ["cp: error writing '/srv/pears.tar': No space left on device"],
    ignores: ['✓ tells that the disk is full', 'Free disk space: 12 GB'],
  },
  'too-many-descriptors': {
    kind: 'descriptor_limit',
    strength: 4.5,
    patterns: [/\btoo many open files\b|\bE[MN]FILE\b|\bfile descriptor limit (?:reached|exceeded)\b/i],
    reads: [/(?:open|opening|watch|scandir) ['"‘]?(?<target>\/?[\w.@-]{1,80}(?:\/[\w.@-]{1,80}){1,14})/],
    title: 'The process ran out of file descriptors',
    cause: [
      'There was no file descriptor left to open {target}.',
      '`{command}` could not open another file or socket because it reached its limit of file descriptors.',
      'A process could not open another file or socket because it reached its limit of file descriptors.',
    ],
    fix: [['configuration', 'Raise the open file limit (`ulimit -n`), or run fewer workers at once.']],
    outranks: [...MISSING_THINGS, ...GENERIC_COMPILE, 'package-build-failed', 'download-failed'],
    matches: ["Error: EMFILE: too many open files, open '/srv/pear.json'", '[Errno 24] Too many open files'],
    ignores: ['✓ closes what it opened when too many open files remain'],
  },
  'runner-lost': {
    kind: 'runner_lost',
    strength: 5,
    patterns: [
      /lost communication with the server/i,
      /runner has received a shutdown signal/i,
      /Backing channel .{0,200}(?:disconnected|closed)/i,
      /runner system failure|ChannelClosedException|Connection was broken: |Cannot contact \S{1,80}:/i,
      /(?:agent|node|slave|runner|executor)\b.{0,60}(?:went offline|is offline|was lost|disconnected|was removed|deregistered)/i,
      /^Agent was removed/i,
      /Remote call on .{0,80} failed/i,
      /FATAL: (?:command execution failed|Unable to delegate)/i,
      /(?:node|instance|runner|agent|machine|VM) .{0,60}was preempted/i,
      /spot instance .{0,60}(?:interrupted|terminated|reclaimed)/i,
    ],
    fix: [
      [
        'rerun',
        'Run the job again, because the runner was lost (“{message}”). If it happens again, check its ' +
          'memory and load.',
      ],
    ],
    outranks: MISSING_THINGS,
    matches: [
      'The runner has received a shutdown signal. This can happen when the runner service is stopped.',
    ],
    ignores: ['Spot instances: enabled', "Label 'preempted' added", 'Runner is online'],
  },
  'agent-cannot-spawn': {
    kind: 'runner_lost',
    strength: 5,
    patterns: [
      /Cannot run program "(?:\/bin\/)?(?:sh|bash|nohup|cmd)(?:\.exe)?"/i,
      /Failed to exec spawn helper/i,
      /fork: (?:retry: )?Resource temporarily unavailable/i,
      /pthread_create.{0,60}Resource temporarily unavailable/i,
    ],
    outranks: MISSING_THINGS,
    matches: [
      'java.io.IOException: Cannot run program "nohup" (in directory "/srv/agent"): error=11, Resource ' +
        'temporarily unavailable',
    ],
    ignores: ['Retrying after: Resource temporarily unavailable'],
  },
  'command-time-limit': {
    kind: 'timeout',
    strength: 3,
    patterns: [/\bexit(?: code|ed with(?: code)?)? 124\b/, /timeout: sending signal/],
    when: (_fact, facts) => facts.subject.failingTests.length === 0,
    reads: [
      /sending signal \w{1,10} to command [‘'`"](?<program>[^’'`"\n]{1,80})/,
      /\btimeout (?:-\S{1,30} |--\S{1,30} ){0,4}(?<limit>\d{1,6}[smhd])\b/,
      /time limit of this step: (?<limit>[^\n]{1,40})/,
      /Downloading \S{0,200}?https?:\/\/(?<slow>[\w.-]{3,200})/,
    ],
    title: ['{program} exceeded its time limit', 'A command exceeded its time limit'],
    cause: [
      '{program} was still running when its limit of {limit} expired, so it was stopped (exit code 124).',
      '{program} was still running when its time limit expired, so it was stopped (exit code 124).',
      '`{command}` was still running when its time limit expired, so it was stopped (exit code 124).',
      'A command was still running when its time limit expired, so it was stopped (exit code 124).',
    ],
    fix: [
      [
        'rerun',
        '{program} was still downloading from {slow} when its time limit expired. Run the job again, and ' +
          'raise the limit of {limit} if it happens again.',
      ],
      [
        'configuration',
        'Find out what {program} was waiting for; raise its limit of {limit} only if it really takes longer.',
      ],
      [
        'configuration',
        'Find out what {program} was waiting for; raise its time limit only if it really takes longer.',
      ],
    ],
    matches: ['timeout: sending signal TERM to command ‘./weigh’'],
    ignores: ['Weighed 124 pears'],
  },
  'job-time-limit': {
    kind: 'timeout',
    strength: 4.4,
    patterns: [
      /Build timed out \(after/i,
      /has exceeded the maximum execution time|exceeded the maximum time limit for jobs|max ?run ?time exceeded|Timeout has been exceeded/i,
      /No output has been received in the last/i,
      /job timed out|Copr timeout|Cancelling nested steps due to timeout|execution took longer than/i,
      /build (?:was )?killed .{0,60}time ?out/i,
      /(?:build|task|job|worker) (?:has )?exceeded (?:the )?(?:time|timeout|max)/i,
      /Task (?:aborted|timeout)/i,
    ],
    reads: [/(?:after|exceeded|last|of) (?<limit>\d[\d.]{0,6} ?(?:minutes?|seconds?|hours?|min|[hms]))\b/],
    title: 'The job exceeded its time limit of {limit}',
    cause: [
      '`{command}` was still running when the time limit of {limit} expired.',
      'The job was stopped because it exceeded its time limit of {limit}.',
    ],
    fix: [['configuration', 'Find out what `{command}` is waiting for, or raise the limit of {limit}.']],
    matches: ['Build timed out (after 90 minutes). Marking the build as aborted.'],
    ignores: [
      '  --timeout  stop the build when the build reached the time limit (default: 1h)',
      'Timeout set to expire in 90 minutes',
    ],
    says: [
      {
        log: '$ ./ci/weigh-all\nBuild timed out (after 90 minutes). Marking the build as aborted.',
        fix: 'Find out what `./ci/weigh-all` is waiting for, or raise the limit of 90 minutes.',
      },
    ],
  },
  'job-cancelled': {
    kind: 'timeout',
    strength: 3.2,
    patterns: [
      /The operation was cancell?ed\./i,
      /\[taskcluster:error\]/i,
      /Aborting task\.\.\./i,
      /Error: The runner .{0,60}(?:cancel|abort)/i,
    ],
    reads: [/(?<canceled>The operation was cancell?ed)/i],
    title: '{canceled?}The job was canceled',
    cause:
      '{canceled?}The job was canceled while it was running. A time limit, a newer run, another failed ' +
      'job in the matrix, or a person can cause this; the log does not say which.',
    fix: [['ask', '{canceled?}Check the run summary, which says who or what canceled the job.']],
    matches: ['##[error]The operation was canceled.'],
    ignores: ['✓ The operation was cancelled. is shown'],
    says: [
      {
        log: '##[error]The operation was canceled.',
        title: 'The job was canceled',
        fix: 'Check the run summary, which says who or what canceled the job.',
      },
    ],
  },
  'docker-daemon': {
    kind: 'docker_build',
    strength: 4.6,
    patterns: [
      /Cannot connect to the Docker daemon/i,
      /Error response from daemon: (?:Get|Head|toomany|i\/o timeout|dial)/i,
      /Error response from daemon: (?:received unexpected|server misbehaving)/i,
      /docker daemon is not running/i,
    ],
    reads: [
      /(?<absent>(?:Cannot connect to the Docker daemon|docker daemon is not running))/i,
      /(?<socket>(?:unix|tcp):\/\/\S{1,120}?)\.?(?:\s|$)/,
    ],
    title: [(read) => read('absent') && 'No Docker daemon is running on the runner'],
    cause: [
      (read) =>
        read('absent') &&
        read('socket') &&
        `The docker command found no daemon at ${read('socket')}, so no image can be built or run on this runner.`,
      (read) =>
        read('absent') &&
        'The docker command found no daemon, so no image can be built or run on this runner.',
    ],
    fix: [
      [
        'configuration',
        '{absent?}Start the Docker daemon on the runner, or move the job to a runner that has one; none ' +
          'responds at {socket}.',
      ],
      [
        'configuration',
        '{absent?}Start the Docker daemon on the runner, or move the job to a runner that has one.',
      ],
    ],
    matches: [
      'ERROR: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon ' +
        'running?',
    ],
    ignores: ['Docker daemon is running'],
  },
  'package-lock-held': {
    kind: 'service_unavailable',
    strength: 4,
    patterns: [
      /Could not get lock \/var\/lib\/(?:dpkg|apt)/i,
      /Unable to acquire the dpkg frontend lock .{1,80}is another process using it/i,
      /^Another app is currently holding the (?:yum|dnf) lock/i,
    ],
    reads: [/held by process \d{1,8} \((?<holder>[\w.-]{1,40})\)/],
    title: "Another process holds the package manager's lock",
    cause: "{holder} held the package manager's lock, so no package could be installed.",
    fix: [
      ['configuration', 'Wait for the lock (`apt-get -o DPkg::Lock::Timeout=120`), which {holder} held.'],
    ],
    matches: ['E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4711 (apt-get)'],
    ignores: [
      'Waiting for cache lock: Could not get lock /var/lib/dpkg/lock-frontend ... done',
      'dpkg: lock released',
    ],
  },
  'device-trouble': {
    kind: 'service_unavailable',
    strength: 3.4,
    patterns: [
      /Input\/output error|Read-only file system/i,
      /Stale file handle|No usable device|Unable to boot the Simulator/i,
      /hdiutil: create failed - Resource busy/i,
      /emulator.{0,60}(?:terminated|did not|failed to boot)/i,
      /Simulator .{0,60}(?:failed|timed out)/i,
    ],
    from: STRUCTURED,
    reads: [/(?<simulated>Simulator|emulator)/i],
    matches: ['Unable to boot the Simulator.'],
    ignores: ['Booting the simulator ... done'],
  },
});

/**
 * Tells whether the step announced before that it stops something, as it does after a failure: "stopping
 * server".
 */
function isStoppedOnPurpose(fact: Fact, facts: Facts): boolean {
  const { trigger, paragraph } = readBlock(fact, facts);
  const before = paragraph.filter(({ line }) => trigger.line !== null && line < trigger.line);
  if (before.some(({ text }) => /\b(?:timed? ?out|deadline exceeded)\b/i.test(text))) return true;
  return before.some(
    ({ text, line }) =>
      line >= (trigger.line ?? 0) - 3 &&
      /^\W{0,8}(?:stopping|shutting down|terminating|tearing down|cleaning up|killing)\b/i.test(text),
  );
}
