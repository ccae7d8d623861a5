import type { Diagnostic } from '../../domain/failure.ts';

/** A complaint of Go's compiler or vet, `./cart.go:5:2: undefined: total`; null for any other line. */
export function readDiagnostic(line: string): Omit<Diagnostic, 'at'> | null {
  const groups = /^(?:vet: )?(?<file>[\w./\\-]{1,250}\.go):(?<line>\d{1,7})(?::(?<column>\d{1,5}))?: (?<message>.{1,500})/.exec(
    line,
  )?.groups;
  if (groups === undefined) return null;
  const { file = null, line: number, column, message = '' } = groups;
  return {
    tool: 'go',
    severity: 'error',
    file,
    line: Number(number),
    column: column === undefined ? null : Number(column),
    code: null,
    message: message.trim(),
  };
}
