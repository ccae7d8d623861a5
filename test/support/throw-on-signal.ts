/**
 * Is loaded into a process with `--import`. SIGALRM makes it throw an uncaught error, and SIGPROF causes an
 * unhandled rejection.
 */
process.on('SIGALRM', () => {
  setImmediate(() => {
    throw new Error('nobody catches this');
  });
});
process.on('SIGPROF', () => void Promise.reject(new Error('nobody listens to this')));
