/** Returns the milliseconds of processor time that this process has used. Other programs do not add to it. */
export function readCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
