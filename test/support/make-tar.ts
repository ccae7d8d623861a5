/** A file of a hand-made tar archive, so that it can also be wrong. */
export interface TarFile {
  readonly name: string;
  readonly content?: string | Uint8Array;
  /** The type: `0` is a file, `2` a symbolic link, `5` a folder. */
  readonly type?: string;
  readonly declaredSize?: number;
}

/** Writes a tar archive in the ustar format. */
export function makeTar(files: readonly TarFile[]): Buffer {
  return Buffer.concat([...files.map(createEntry), Buffer.alloc(1024)]);
}

function createEntry({ name, content = '', type = '0', declaredSize }: TarFile): Buffer {
  const body = Buffer.from(content);
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${(declaredSize ?? body.length).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}
