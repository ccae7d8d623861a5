/** Loaded into a process with `--import`: SIGALRM makes it throw where nobody catches, SIGPROF makes it reject where nobody listens. */
process.on('SIGALRM', () => {
  setImmediate(() => {
    throw new Error('nobody catches this');
  });
});
process.on('SIGPROF', () => void Promise.reject(new Error('nobody listens to this')));
