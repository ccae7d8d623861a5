/** What says in so many words that it is secret, and what looks alike and is not. */
export interface DeclaredSecret {
  readonly kind: string;
  readonly text: string;
  readonly secret: string;
}

const HEX = '9f3c1a7be2d84056a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718';
const CRYPT =
  '$6$rT8kLm2Qx9$QyHo4Y1fQ2m8b6Jt0rWc5nZ3vKxPuE7sDgAiLwXqBhTjMkRlNoYzVfCeGp1dUaS4tH9bJ8mI2kF6qO0xW3yZ5.';

/** One row for each way to say it. */
// biome-ignore format: one row for each
export const DECLARED_SECRETS: readonly DeclaredSecret[] = [
  { kind: 'secret variable of Azure Pipelines', text: '##vso[task.setvariable variable=dbPass;issecret=true]plum-cake-42', secret: 'plum-cake-42' },
  { kind: 'secret variable of Azure Pipelines, output', text: '##vso[task.setvariable variable=dbPass;isOutput=true;isSecret=true;]orange juice', secret: 'orange juice' },
  { kind: 'command that sets a secret variable', text: 'echo "##vso[task.setvariable variable=p;issecret=true]hunter2x" && deploy', secret: 'hunter2x' },
  { kind: 'secret of Azure Pipelines', text: '##vso[task.setsecret]plum-cake-42', secret: 'plum-cake-42' },
  { kind: 'mask of GitHub', text: '::add-mask::correcthorsebattery', secret: 'correcthorsebattery' },
  { kind: 'mask of GitHub, echoed', text: "echo '::add-mask::hunter2'", secret: 'hunter2' },
  { kind: 'mask of a runner', text: '2026-01-05T10:00:00.0000000Z ##[add-mask]correct-horse', secret: 'correct-horse' },
  { kind: 'key in hexadecimal', text: `ENCRYPTION_KEY=${HEX}`, secret: HEX },
  { kind: 'key in hexadecimal, YAML', text: `  encryption_key: "${HEX.slice(0, 32)}"`, secret: HEX.slice(0, 32) },
  { kind: 'key in hexadecimal, of sessions', text: `export SESSION_KEY=${HEX.slice(0, 48)}`, secret: HEX.slice(0, 48) },
  { kind: 'secure string of PowerShell', text: '$p = ConvertTo-SecureString "Autumn!" -AsPlainText -Force', secret: 'Autumn!' },
  { kind: 'secure string, named', text: "ConvertTo-SecureString -AsPlainText -Force -String 'pumpkin pie'", secret: 'pumpkin pie' },
  { kind: 'secure string, bare', text: 'ConvertTo-SecureString Pumpkin7 -AsPlainText', secret: 'Pumpkin7' },
  { kind: 'struct of Go', text: 'config: {User:ci Password:hunter Host:db.example.com Port:5432}', secret: 'hunter' },
  { kind: 'struct of Go, pointer', text: '&{Name:db DBPassword:pump7 TLS:false}', secret: 'pump7' },
  { kind: 'object of JavaScript', text: "auth: { user: 'ci', pass: 'hunter2' }", secret: 'hunter2' },
  { kind: 'object of JavaScript, JSON', text: '{"user":"ci","pass":"s3cr3t-x"}', secret: 's3cr3t-x' },
  { kind: 'message of Ansible', text: '    "msg": "The password is Winter2026"', secret: 'Winter2026' },
  { kind: 'message of Ansible, labelled', text: 'ok: [db1] => {"msg": "DB password: hunter2"}', secret: 'hunter2' },
  { kind: 'prompt of psql', text: 'Password for user ci: hunter2', secret: 'hunter2' },
  { kind: 'prompt of git', text: "Password for 'https://ci@git.example.com': hunter2", secret: 'hunter2' },
  { kind: 'German', text: 'Passwort: Geheim42', secret: 'Geheim42' },
  { kind: 'German, other word', text: 'kennwort="Geheim42"', secret: 'Geheim42' },
  { kind: 'French', text: 'Mot de passe : Soleil99', secret: 'Soleil99' },
  { kind: 'Spanish', text: 'contraseña=Verano2026', secret: 'Verano2026' },
  { kind: 'Portuguese', text: 'senha: Verao2026', secret: 'Verao2026' },
  { kind: 'Dutch', text: 'wachtwoord=Zomer2026', secret: 'Zomer2026' },
  { kind: 'unseen character in the name', text: 'pass\u200bword=Winter2026', secret: 'Winter2026' },
  { kind: 'unseen character in a token', text: 'token gh\u200bp_a7QbX2cD4eF6gH8iJ0kL2mN4oP6qR8sT0uV2', secret: 'p_a7QbX2cD4eF6gH8iJ0kL2mN4oP6qR8sT0uV2' },
  { kind: 'byte order mark in the name', text: 'API\ufeff_KEY=a7QbX2cD4eF6gH8iJ0kL', secret: 'a7QbX2cD4eF6gH8iJ0kL' },
  { kind: 'assignment in base64', text: `data: ${Buffer.from('PASSWORD=Winter2026').toString('base64')}`, secret: Buffer.from('PASSWORD=Winter2026').toString('base64') },
  { kind: 'assignment in base64, further on', text: Buffer.from('user=ci\ndb_password=Winter2026\n').toString('base64'), secret: Buffer.from('user=ci\ndb_password=Winter2026\n').toString('base64') },
  { kind: 'assignment in base64, JSON', text: `payload=${Buffer.from('{"token":"a7QbX2cD4eF6gH8iJ0kL"}').toString('base64')}`, secret: Buffer.from('{"token":"a7QbX2cD4eF6gH8iJ0kL"}').toString('base64') },
  { kind: 'assignment in hex', text: `0x: ${Buffer.from('password=Winter2026').toString('hex')}`, secret: Buffer.from('password=Winter2026').toString('hex') },
  { kind: 'assignment in hex, upper case', text: Buffer.from('API_KEY=a7QbX2cD4eF6gH8iJ0kL').toString('hex').toUpperCase(), secret: Buffer.from('API_KEY=a7QbX2cD4eF6gH8iJ0kL').toString('hex').toUpperCase() },
  { kind: 'line of shadow', text: `ci:${CRYPT}:19700:0:99999:7:::`, secret: CRYPT },
  { kind: 'line of htpasswd', text: 'ci:$apr1$x7Gt2Lk9$0Jm4dQ8sWb2nRv6yTf1cK/', secret: '$apr1$x7Gt2Lk9$0Jm4dQ8sWb2nRv6yTf1cK/' },
  { kind: 'line of htpasswd, bcrypt', text: 'ci:$2y$05$abcdefghijklmnopqrstuuZ0y1X2w3V4u5T6s7R8q9P0o1N2m3L4k', secret: '$2y$05$abcdefghijklmnopqrstuuZ0y1X2w3V4u5T6s7R8q9P0o1N2m3L4k' },
  { kind: 'line of htpasswd, SHA-1', text: 'ci:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=', secret: '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=' },
];

/** A declared value, and another text of the same build that shows it. */
export const SPREAD_SECRETS: readonly { readonly declares: string; readonly value: string }[] = [
  { declares: '##vso[task.setvariable variable=p;issecret=true]plum-cake-green', value: 'plum-cake-green' },
  { declares: '::add-mask::correcthorsebattery', value: 'correcthorsebattery' },
  { declares: '::add-mask::hunter2', value: 'hunter2' },
  { declares: 'ConvertTo-SecureString "Autumn!" -AsPlainText -Force', value: 'Autumn!' },
  { declares: "ConvertTo-SecureString 'pumpkin pie' -AsPlainText -Force", value: 'pumpkin pie' },
  {
    declares: '##vso[task.setvariable variable=p;issecret=true]correct horse battery',
    value: 'correct horse battery',
  },
  { declares: '##vso[task.setsecret]4815162342', value: '4815162342' },
  { declares: `ENCRYPTION_KEY=${HEX}`, value: HEX },
];

/** Lines of which nothing is a secret. */
// biome-ignore format: one line for each
export const HARMLESS: readonly string[] = [
  'Checking out 9f3c1a7be2d84056a1b2c3d4e5f60718293a4b5c as main',
  'commit 6d2fabeb6add229bc199faba28fd3efb57df0bd3 (HEAD -> main, origin/main)',
  'index 83db48f..bf269f4 100644',
  `sha256:${HEX}`,
  `SHA256 (release.tar.gz) = ${HEX}`,
  `${HEX}  release.tar.gz`,
  `cache-key: linux-npm-${HEX}`,
  `Cache restored from key: node-${HEX}`,
  `key: ${HEX}`,
  `KEY=${HEX}`,
  `primary_key=${HEX.slice(0, 32)}`,
  `BUILD_KEY=${HEX}`,
  `digest: sha512-${Buffer.from(HEX, 'hex').toString('base64')}`,
  `"integrity": "sha512-${Buffer.from(`${HEX}${HEX}`, 'hex').toString('base64')}"`,
  'h1:WwQ1iMFnfvAA0DkrJHGNVMFvqVe5CFh4Dyb9dGQpN1I=',
  'md5sum d41d8cd98f00b204e9800998ecf8427e',
  'etag "33a64df551425fcc55e4d42a148795d9f25f89d4"',
  'trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7',
  'uuid 7d444840-9dc0-11d1-b245-5ffdce74fad2',
  'Image id: sha256:7c1f2d9a0b5e and layer 5f70bf18a086',
  'psql: error: FATAL:  password authentication failed for user "ci"',
  'Password for user ci: psql: error: connection refused',
  'AssertionError: expected password to be required',
  'the password is too short (minimum is 8 characters)',
  'The password is invalid.',
  "{ username: 'ci', password: 'required' }",
  "{ pass: true, fail: 0 }",
  'tests: 12 pass: 12 fail: 0',
  '# pass 41',
  "  pass: '41 tests'",
  '{Token:IDENT Literal:main Line:3}',
  '{Name:test Passed:true Seconds:0.3}',
  '##vso[task.setvariable variable=version]1.2.3-plum-cake',
  '##vso[task.setvariable variable=version;issecret=false]1.2.3-plum-cake',
  '::add-mask::$TOKEN',
  '::add-mask::***',
  'ConvertTo-SecureString $env:PASSWORD -AsPlainText -Force',
  'Passwort vergessen? Hier klicken',
  'Le mot de passe est obligatoire',
  'data: aGVsbG8gd29ybGQsIHRoaXMgaXMgbm8gc2VjcmV0',
  `payload=${Buffer.from('{"tokens":12,"secretary":"none"}').toString('base64')}`,
  `0x${Buffer.from('no password here, only words').toString('hex')}`,
  'echo $1$2 and $6$ of the list',
  'zero\u200bwidth text in a sentence',
  'ssh-rsa fingerprint SHA256:uNiVztksCsDhcc0u9e8BrrXVlXUmSPYoMykSrI4Ckqo',
  'password_hash: bcrypt',
  'RELEASE_SIGNING_KEY=4AEE18F83AFDEB23D4C29F1B7E05A6618BD0A1C7',
  'Signing key fingerprint: 4AEE 18F8 3AFD EB23',
];
