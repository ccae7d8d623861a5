import { type Rule, ruleTable, STRUCTURED } from '../rule.ts';

/** The machine or the runner gave up. All of these need the failing step to say so in words. */
export const MACHINE_RULES: readonly Rule[] = ruleTable({ category: 'INFRA_ERROR' }, [
  [
    'out-of-memory',
    'out_of_memory',
    5,
    /OutOfMemoryError|heap out of memory|heap limit Allocation failed|oom-?kill|Out of memory: Kill|Cannot allocate memory|ENOMEM|fatal error: runtime: out of memory|insufficient memory for the Java Runtime|Killed signal terminated program|java heap space|GC overhead limit|cc1plus: out of memory|\bMemoryError\b|virtual memory exhausted|OOMKilled|LLVM ERROR: out of memory|System\.OutOfMemoryException/i,
  ],
  [
    'killed-137',
    'out_of_memory',
    4.2,
    /\b(?:exit (?:code|status)|exited(?: with)?(?: code)?|Error|code|status) 137\b|\bexit(?:ed)? 137\b|(?:^|: )Killed$|\bSIGKILL\b|signal: (?:9|killed)|^Killed\b/,
  ],
  ['terminated-143', 'runner_lost', 3, /\b(?:exit (?:code|status)|Error|exited(?: with)?(?: code)?) 143\b|^Terminated$/],
  [
    'disk-full',
    'disk_full',
    5,
    /No space left on device|\bENOSPC\b|running out of disk space|Disk quota exceeded|not enough (?:free )?(?:disk )?space|There is not enough space on the disk|(?:disk|volume|filesystem) is full|don't have enough free space|Free space left: 0/i,
  ],
  [
    'runner-lost',
    'runner_lost',
    5,
    /lost communication with the server|runner has received a shutdown signal|Backing channel .{0,200}(?:disconnected|closed)|ChannelClosedException|(?:agent|node|slave|runner|executor)\b.{0,60}(?:went offline|is offline|was lost|disconnected|was removed|deregistered)|Agent was removed|Connection was broken: |Remote call on .{0,80} failed|Cannot contact \S{1,80}:|FATAL: (?:command execution failed|Unable to delegate)|runner system failure|preempted|spot instance|The self-hosted runner/i,
  ],
  [
    'agent-cannot-spawn',
    'runner_lost',
    5,
    /Cannot run program "(?:\/bin\/)?(?:sh|bash|nohup|cmd)(?:\.exe)?"|Failed to exec spawn helper|fork: (?:retry: )?Resource temporarily unavailable/i,
  ],
  [
    'job-time-limit',
    'timeout',
    4.4,
    /Build timed out \(after|has exceeded the maximum execution time|exceeded the maximum time limit for jobs|No output has been received in the last|The job was canceled because it exceeded|execution took longer than|Cancelling nested steps due to timeout|Timeout has been exceeded|job timed out|build (?:was )?killed .{0,60}time ?out|Copr timeout|(?:build|task|job|worker) (?:reached|exceeded) (?:the )?(?:time|timeout|max)|Task (?:aborted|timeout)|max ?run ?time exceeded|reached the timeout/i,
  ],
  [
    'job-cancelled',
    'timeout',
    3.2,
    /The operation was cancell?ed\.|\[taskcluster:error\]|Aborting task\.\.\.|Error: The runner .{0,60}(?:cancel|abort)/i,
  ],
  [
    'docker-daemon',
    'service_unavailable',
    4.6,
    /Cannot connect to the Docker daemon|Error response from daemon: (?:Get|Head|toomany|i\/o timeout|dial|received unexpected|server misbehaving)|docker daemon is not running/i,
  ],
  [
    'package-lock-held',
    'service_unavailable',
    4,
    /Could not get lock \/var\/lib\/(?:dpkg|apt)|dpkg frontend lock|Another app is currently holding the (?:yum|dnf) lock/i,
  ],
  [
    'device-trouble',
    'service_unavailable',
    3.4,
    /Input\/output error|Read-only file system|Stale file handle|No usable device|emulator.{0,60}(?:terminated|did not|failed to boot)|Simulator .{0,60}(?:failed|timed out)/i,
    { from: STRUCTURED },
  ],
  [
    'generic-infrastructure',
    'service_unavailable',
    2,
    /infrastructure (?:problem|failure|issue)|internal (?:CI|runner) error|worker (?:lost|died|crashed)|claim-expired|worker-shutdown/i,
  ],
]);
