/**
 * Handmade errors of an invented company: the output of a build, and the documents of its team. The wording
 * was fixed before the first run.
 */
export interface RetrievalCase {
  readonly name: string;
  /** The lines of the failed step. */
  readonly log: readonly string[];
  /** The same error in the output of another build, with other lines around it and other numbers. */
  readonly again: readonly string[];
  /** The error as a document quotes it, and in other words. */
  readonly symptom: string;
  readonly otherWords: string;
  readonly cause: string;
  readonly fix: string;
  /** Another error of the same tool or system. */
  readonly near: { readonly symptom: string; readonly cause: string; readonly fix: string };
}

export const RETRIEVAL_CASES: readonly RetrievalCase[] = [
  {
    name: 'vaultctl-lease',
    log: ['vaultctl login --role ci-deploy', 'ERROR vaultctl: lease for role ci-deploy is no longer valid'],
    again: [
      'fetching secrets for stage 4',
      'ERROR vaultctl: lease for role ci-deploy is no longer valid',
      'giving up',
    ],
    symptom: 'vaultctl: lease for role ci-deploy is no longer valid',
    otherWords: 'vaultctl stops because the lease that role ci-deploy holds has run out.',
    cause: 'The broker was restarted and forgot its leases.',
    fix: 'Renew the lease on the broker with vaultctl renew and start the job again.',
    near: {
      symptom: 'vaultctl: policy denies role ci-audit to read path billing',
      cause: 'The audit role was narrowed.',
      fix: 'Ask the platform team to widen the audit policy.',
    },
  },
  {
    name: 'spindle-lost',
    log: ['mill selftest', 'ERROR E-4711 spindle lost at axis 3'],
    again: ['mill selftest --fast', 'homing', 'ERROR E-4711 spindle lost at axis 1'],
    symptom: 'E-4711 spindle lost',
    otherWords: 'The controller prints E-4711 when it cannot see the spindle any more.',
    cause: 'The cable of the encoder is loose.',
    fix: 'Replace the encoder cable of the rig and run the self-test.',
    near: {
      symptom: 'E-4712 spindle overheated',
      cause: 'The coolant pump stands still.',
      fix: 'Start the coolant pump.',
    },
  },
  {
    name: 'ledger-db-refused',
    log: [
      'psql -h ledger-db -f seed.sql',
      'psql: error: connection to server at "ledger-db" (10.2.3.4), port 5433 failed: Connection refused',
    ],
    again: [
      'seeding',
      'psql: error: connection to server at "ledger-db" (10.9.0.7), port 5433 failed: Connection refused',
    ],
    symptom: 'psql: error: connection to server at "ledger-db" failed: Connection refused',
    otherWords: 'psql cannot reach ledger-db: the server refuses every connection.',
    cause: 'The ledger database sleeps at night.',
    fix: 'Wake the ledger database with the job wake-ledger before the seed step.',
    near: {
      symptom: 'psql: error: database "ledger_archive" does not exist',
      cause: 'The archive moved.',
      fix: 'Point the job at the archive cluster.',
    },
  },
  {
    name: 'npm-ui-kit-401',
    log: [
      'npm ci',
      'npm error code E401',
      'npm error 401 Unauthorized - GET https://packages.acme.test/@acme%2fui-kit - token expired',
    ],
    again: [
      'npm install',
      'npm error code E401',
      'npm error 401 Unauthorized - GET https://packages.acme.test/@acme%2fui-kit - token expired',
    ],
    symptom: 'npm error 401 Unauthorized - GET https://packages.acme.test/@acme%2fui-kit',
    otherWords: 'npm is answered 401 Unauthorized when it gets @acme/ui-kit from packages.acme.test.',
    cause: 'The robot account of the package server was locked.',
    fix: 'Unlock the robot account and rotate the secret PACKAGES_TOKEN.',
    near: {
      symptom: 'npm error 404 Not Found - GET https://packages.acme.test/@acme%2ficon-set',
      cause: 'The icon set was unpublished.',
      fix: 'Pin the icon set to its last published release.',
    },
  },
  {
    name: 'posting-locked',
    log: [
      'Exception in thread "main" com.acme.ledger.PostingLockedException: posting 8812 is locked by the nightly batch close',
      '\tat com.acme.ledger.Journal.post(Journal.java:88)',
      '\tat com.acme.ledger.Main.main(Main.java:12)',
    ],
    again: [
      'replaying journal',
      'Exception in thread "main" com.acme.ledger.PostingLockedException: posting 17 is locked by the nightly batch close',
      '\tat com.acme.ledger.Journal.post(Journal.java:88)',
    ],
    symptom: 'PostingLockedException: posting is locked by the nightly batch close',
    otherWords:
      'While the nightly batch close holds its lock, PostingLockedException is thrown for every posting.',
    cause: 'The batch close runs longer than its window.',
    fix: 'Wait until the batch close has ended, or move the job behind two o’clock.',
    near: {
      symptom: 'PostingMissingException: posting is absent from the journal',
      cause: 'The journal was truncated.',
      fix: 'Restore the journal from its backup.',
    },
  },
  {
    name: 'registry-denied',
    log: [
      'docker push registry.acme.test/base/jdk21',
      'denied: requested access to the resource registry.acme.test/base/jdk21 is denied',
    ],
    again: [
      'pushing 4 layers',
      'denied: requested access to the resource registry.acme.test/base/jdk21 is denied',
      'exit',
    ],
    symptom: 'denied: requested access to the resource registry.acme.test/base/jdk21 is denied',
    otherWords: 'The push of base/jdk21 to registry.acme.test is denied.',
    cause: 'Only the release runners may write base images.',
    fix: 'Run the push on a runner with the label release.',
    near: {
      symptom: 'manifest for registry.acme.test/base/node24 not found: manifest unknown',
      cause: 'The image was never built.',
      fix: 'Build the node base image first.',
    },
  },
  {
    name: 'feature-partition',
    log: [
      'Traceback (most recent call last):',
      '  File "train.py", line 41, in <module>',
      '    load(snapshot)',
      'RuntimeError: feature snapshot 2026-10 has no partition eu-north',
    ],
    again: [
      'Traceback (most recent call last):',
      '  File "jobs/score.py", line 7, in score',
      '    load(snapshot)',
      'RuntimeError: feature snapshot 2026-11 has no partition eu-north',
    ],
    symptom: 'RuntimeError: feature snapshot has no partition eu-north',
    otherWords: 'The feature snapshot lacks the partition eu-north.',
    cause: 'The northern region is exported an hour later than the others.',
    fix: 'Start the training after the export of the northern region.',
    near: {
      symptom: 'RuntimeError: feature schema drifted: column price_cents is absent',
      cause: 'The schema was changed without a migration.',
      fix: 'Run the schema migration of the feature store.',
    },
  },
  {
    name: 'terraform-lock',
    log: [
      'terraform apply',
      'Error: Error acquiring the state lock: workspace courier-prod is held by runner-blue',
    ],
    again: [
      'planning',
      'Error: Error acquiring the state lock: workspace courier-prod is held by runner-blue',
    ],
    symptom: 'Error acquiring the state lock: workspace courier-prod is held by runner-blue',
    otherWords:
      'terraform cannot acquire the state lock of workspace courier-prod while runner-blue holds it.',
    cause: 'A canceled job left its lock.',
    fix: 'Release the lock with the job unlock-courier.',
    near: {
      symptom: 'Error: Unsupported attribute in module courier-network: subnet_ids',
      cause: 'The module was upgraded.',
      fix: 'Rename the attribute to subnets.',
    },
  },
  {
    name: 'duplicate-flag',
    log: [
      'panic: flag registry: duplicate flag shipping.express registered',
      '',
      'goroutine 1 [running]:',
      'main.main()',
      '\t/src/main.go:14 +0x1d',
    ],
    again: [
      'panic: flag registry: duplicate flag shipping.express registered',
      '',
      'goroutine 1 [running]:',
      'main.run()',
      '\t/src/run.go:9 +0x2a',
    ],
    symptom: 'panic: flag registry: duplicate flag shipping.express registered',
    otherWords: 'The flag registry panics when shipping.express is registered as a duplicate.',
    cause: 'Two modules bring the same flag file.',
    fix: 'Delete the flag file of the module parcels.',
    near: {
      symptom: 'flag registry: cannot parse rollout of shipping.night',
      cause: 'The rollout is not a percentage.',
      fix: 'Write the rollout as a percentage.',
    },
  },
  {
    name: 'linker-mold',
    log: [
      'cargo build',
      'error: linker `mold-acme` not found',
      '  |',
      '  = note: No such file or directory (os error 2)',
    ],
    again: [
      'cargo test',
      'error: linker `mold-acme` not found',
      '  |',
      '  = note: No such file or directory (os error 2)',
    ],
    symptom: 'error: linker `mold-acme` not found',
    otherWords: 'cargo does not find the linker mold-acme.',
    cause: 'The runner image before May lacks our linker.',
    fix: 'Use the runner image of May or newer.',
    near: {
      symptom: 'error: profile `bench-acme` is not defined',
      cause: 'The profile was renamed.',
      fix: 'Use the profile bench.',
    },
  },
  {
    name: 'price-engine',
    log: [
      'FAILURE: Build failed with an exception.',
      '* What went wrong:',
      "Execution failed for task ':checkout:compileJava'.",
      '> Could not resolve com.acme:price-engine:7.2.0.',
    ],
    again: [
      'FAILURE: Build failed with an exception.',
      '* What went wrong:',
      "Execution failed for task ':cart:compileTestJava'.",
      '> Could not resolve com.acme:price-engine:7.2.0.',
    ],
    symptom: 'Could not resolve com.acme:price-engine',
    otherWords: 'Gradle cannot resolve the price-engine of com.acme.',
    cause: 'The price engine is published only after its nightly tests.',
    fix: 'Wait for the nightly release of the engine, or use the release before.',
    near: {
      symptom: 'Could not find method priceCatalog() for arguments on project checkout',
      cause: 'The plugin is not applied.',
      fix: 'Apply the catalog plugin.',
    },
  },
  {
    name: 'kelp-calibration',
    log: ['sonde verify', 'FATAL: sonde calibration kelp.cal is older than firmware 7'],
    again: [
      'sonde verify --all',
      'probing 12 sondes',
      'FATAL: sonde calibration kelp.cal is older than firmware 9',
    ],
    symptom: 'sonde calibration kelp.cal is older than firmware',
    otherWords: 'The calibration kelp.cal of the sonde predates its firmware.',
    cause: 'The firmware was flashed without a new calibration.',
    fix: 'Calibrate the sonde again and commit the new file.',
    near: {
      symptom: 'sonde battery below 11 volts',
      cause: 'The charger is unplugged.',
      fix: 'Charge the battery of the rig.',
    },
  },
  {
    name: 'tariff-stale',
    log: [
      '=================================== FAILURES ===================================',
      '_________________________________ test_zones _________________________________',
      'E       AssertionError: tariff table is stale: zone NO4 absent',
      '',
      'tests/test_tariff.py:12: AssertionError',
      '=========================== short test summary info ============================',
      'FAILED tests/test_tariff.py::test_zones - AssertionError: tariff table is stale: zone NO4 absent',
    ],
    again: [
      '=================================== FAILURES ===================================',
      '_________________________________ test_northern_rates ________________________',
      'E       AssertionError: tariff table is stale: zone NO4 absent',
      '',
      'tests/test_rates.py:40: AssertionError',
      '=========================== short test summary info ============================',
      'FAILED tests/test_rates.py::test_northern_rates - AssertionError: tariff table is stale: zone NO4 absent',
    ],
    symptom: 'tariff table is stale: zone NO4 absent',
    otherWords: 'A stale tariff table has no zone NO4.',
    cause: 'The tariff table is generated by hand each quarter.',
    fix: 'Generate the tariff table with make tariffs and commit it.',
    near: {
      symptom: 'tariff currency differs: SEK instead of NOK',
      cause: 'The exchange moved.',
      fix: 'Convert the currency in the importer.',
    },
  },
  {
    name: 'profile-expired',
    log: [
      'xcodebuild archive',
      'error: Provisioning profile "Acme Courier Dev" has expired (in target Courier)',
      '** ARCHIVE FAILED **',
    ],
    again: [
      'xcodebuild test',
      'error: Provisioning profile "Acme Courier Dev" has expired (in target CourierTests)',
      '** TEST FAILED **',
    ],
    symptom: 'Provisioning profile "Acme Courier Dev" has expired',
    otherWords: 'The provisioning profile Acme Courier Dev is expired.',
    cause: 'The profile lives for a year.',
    fix: 'Renew the profile in the developer portal and upload it to the signing vault.',
    near: {
      symptom: 'Signing identity "Acme Distribution" is ambiguous',
      cause: 'Two certificates are in the keychain.',
      fix: 'Remove the older certificate from the keychain.',
    },
  },
  {
    name: 'helm-in-progress',
    log: [
      'helm upgrade courier-api',
      'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress for courier-api',
    ],
    again: [
      'rolling out',
      'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress for courier-api',
    ],
    symptom: 'UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress for courier-api',
    otherWords: 'helm says that another upgrade or rollback operation of courier-api is in progress.',
    cause: 'A rollout was interrupted and its secret stayed pending.',
    fix: 'Roll courier-api back to its last good revision.',
    near: {
      symptom: 'Error: courier-api chart requires kubeVersion above 1.29',
      cause: 'The cluster is older.',
      fix: 'Upgrade the staging cluster.',
    },
  },
  {
    name: 'point-proto',
    log: [
      'protoc -I proto',
      'courier/v2/route.proto:5:1: Import "acme/geo/v1/point.proto" was not found or had errors.',
    ],
    again: [
      'generating stubs',
      'courier/v2/route.proto:7:1: Import "acme/geo/v1/point.proto" was not found or had errors.',
    ],
    symptom: 'route.proto: Import "acme/geo/v1/point.proto" was not found or had errors.',
    otherWords: 'protoc misses the import acme/geo/v1/point.proto in route.proto.',
    cause: 'The geo protos moved into their own package.',
    fix: 'Add the geo package to the include paths of the generator.',
    near: {
      symptom: 'courier/v2/parcel.proto: Field number 3 has already been used',
      cause: 'Two branches added a field.',
      fix: 'Number the newer field 4.',
    },
  },
  {
    name: 'rack-thermal',
    log: ['burn-in --rack 7', 'rack-agent: thermal budget exhausted, refusing new burn-in'],
    again: [
      'burn-in --rack 2 --quick',
      'queued',
      'rack-agent: thermal budget exhausted, refusing new burn-in',
    ],
    symptom: 'rack-agent: thermal budget exhausted',
    otherWords: 'The rack-agent refuses a burn-in once its thermal budget is exhausted.',
    cause: 'The air condition of the lab is off at weekends.',
    fix: 'Switch the air condition on and wait for twenty degrees.',
    near: {
      symptom: 'rack-agent: slot 4 reports no fixture',
      cause: 'The fixture was taken out.',
      fix: 'Put the fixture back into its slot.',
    },
  },
  {
    name: 'catalog-checksum',
    log: ['catalog import winter.csv', 'ImportError: catalog checksum differs from manifest: winter.csv'],
    again: [
      'catalog import winter.csv --dry',
      'ImportError: catalog checksum differs from manifest: winter.csv',
    ],
    symptom: 'ImportError: catalog checksum differs from manifest',
    otherWords: 'The importer finds that the checksum of the catalog and that of its manifest differ.',
    cause: 'The supplier uploads the manifest before the file.',
    fix: 'Fetch the catalog again after nine o’clock.',
    near: {
      symptom: 'ImportError: catalog row 12 lacks a supplier',
      cause: 'The supplier left the column empty.',
      fix: 'Fill the supplier column.',
    },
  },
];
