import { createDebianTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Checks of configurations of servers and machines, and provisioning. */
export const rows: readonly ToolRow[] = [
  {
    ...createDebianTool('nginx-light'),
    slug: 'nginx-unknown-directive',
    tool: 'nginx',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'deploy/nginx.conf':
        'pid /tmp/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\n  access_log off;\n  server {\n    listen 8080;\n    location / { proxy_pas http://127.0.0.1:3000; }\n  }\n}\n',
    },
    run: 'nginx -t -p "$PWD" -c deploy/nginx.conf',
    exitCode: 1,
    telling: ['unknown directive "proxy_pas"'],
  },
  {
    ...createDebianTool('apache2'),
    slug: 'apache2-invalid-command',
    tool: 'apache2',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'httpd.conf':
        'ServerRoot /tmp\nServerName localhost\nPidFile /tmp/httpd.pid\nErrorLog /dev/stderr\nListen 8080\nLoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\nLoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so\nRewriteEngine On\n',
    },
    green: {
      'httpd.conf':
        'ServerRoot /tmp\nServerName localhost\nPidFile /tmp/httpd.pid\nErrorLog /dev/stderr\nListen 8080\nLoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\nLoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so\n',
    },
    run: 'apache2 -t -f "$PWD/httpd.conf"',
    exitCode: 1,
    telling: ["Invalid command 'RewriteEngine'"],
  },
  {
    ...createDebianTool('haproxy'),
    slug: 'haproxy-unknown-backend',
    tool: 'haproxy',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'haproxy.cfg':
        'defaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n\nfrontend web\n  bind 127.0.0.1:8080\n  default_backend aplication\n\nbackend application\n  server one 127.0.0.1:3000 check\n',
    },
    green: {
      'haproxy.cfg':
        'defaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n\nfrontend web\n  bind 127.0.0.1:8080\n  default_backend application\n\nbackend application\n  server one 127.0.0.1:3000 check\n',
    },
    run: 'haproxy -c -f haproxy.cfg',
    exitCode: 1,
    telling: ["unable to find required default_backend: 'aplication'"],
  },
  {
    ...createDebianTool('bind9-utils'),
    slug: 'named-checkzone-bad-address',
    tool: 'named-checkzone',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'zones/harbor.example.zone':
        '$TTL 3600\n@ IN SOA ns1 hostmaster 2025020101 3600 900 604800 300\n@ IN NS ns1\nns1 IN A 192.0.2.53\nwww IN A 192.0.2.800\n',
    },
    green: {
      'zones/harbor.example.zone':
        '$TTL 3600\n@ IN SOA ns1 hostmaster 2025020101 3600 900 604800 300\n@ IN NS ns1\nns1 IN A 192.0.2.53\nwww IN A 192.0.2.80\n',
    },
    run: 'named-checkzone harbor.example zones/harbor.example.zone',
    exitCode: 1,
    telling: ['bad dotted quad'],
  },
  {
    ...createDebianTool('dnsmasq-base'),
    slug: 'dnsmasq-bad-option',
    tool: 'dnsmasq',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { 'dnsmasq.conf': 'domain-needed\nbogus-priv\ndhcp-rnage=192.0.2.50,192.0.2.90,12h\n' },
    green: { 'dnsmasq.conf': 'domain-needed\nbogus-priv\ndhcp-range=192.0.2.50,192.0.2.90,12h\n' },
    run: 'dnsmasq --test --conf-file=dnsmasq.conf',
    exitCode: 1,
    telling: ['bad option at line 3 of dnsmasq.conf'],
  },
  {
    ...createDebianTool('sudo'),
    slug: 'visudo-syntax',
    tool: 'visudo',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { 'files/sudoers.d/deploy': 'deploy ALL=(root) NOPASSWD /usr/bin/systemctl restart harbor\n' },
    green: { 'files/sudoers.d/deploy': 'deploy ALL=(root) NOPASSWD: /usr/bin/systemctl restart harbor\n' },
    run: 'visudo -c -f files/sudoers.d/deploy',
    exitCode: 1,
    telling: ['syntax error'],
  },
  {
    ...createDebianTool('prometheus'),
    slug: 'promtool-rule-expression',
    tool: 'promtool',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'alerts.yml':
        'groups:\n  - name: harbor\n    rules:\n      - alert: TideHigh\n        expr: avg(tide_height_meters) by gauge > 4\n        for: 10m\n',
    },
    green: {
      'alerts.yml':
        'groups:\n  - name: harbor\n    rules:\n      - alert: TideHigh\n        expr: avg(tide_height_meters) by (gauge) > 4\n        for: 10m\n',
    },
    run: 'promtool check rules alerts.yml',
    exitCode: 1,
    telling: ['could not parse expression'],
  },
  {
    ...createDebianTool('prometheus'),
    slug: 'promtool-unit-test',
    tool: 'promtool',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'alerts.yml':
        'groups:\n  - name: queue\n    rules:\n      - alert: QueueLong\n        expr: queue_jobs > 100\n        for: 5m\n',
      'alerts.test.yml':
        'rule_files: [alerts.yml]\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n      - series: queue_jobs\n        values: 50 120 120 120\n    alert_rule_test:\n      - eval_time: 3m\n        alertname: QueueLong\n        exp_alerts:\n          - exp_labels: {}\n',
    },
    run: 'promtool test rules alerts.test.yml',
    exitCode: 1,
    telling: ['alertname: QueueLong', 'got:[]'],
  },
  {
    ...createDebianTool('systemd'),
    slug: 'systemd-analyze-missing-program',
    tool: 'systemd-analyze',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'units/tides.service':
        '[Unit]\nDescription=Tide service\n\n[Service]\nType=simple\nExecStart=/usr/bin/tides-server --port 8080\n',
    },
    run: 'systemd-analyze verify units/tides.service',
    exitCode: 1,
    telling: ['/usr/bin/tides-server is not executable'],
  },
  {
    ...createDebianTool('logrotate'),
    slug: 'logrotate-bad-count',
    tool: 'logrotate',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { 'files/harbor.logrotate': '/var/log/harbor.log {\n  daily\n  rotate seven\n  missingok\n}\n' },
    run: 'chmod 644 files/harbor.logrotate\nlogrotate --debug --state /tmp/state files/harbor.logrotate',
    exitCode: 1,
    telling: ["bad rotation count 'seven'"],
  },
  {
    ...createDebianTool('puppet-agent'),
    slug: 'puppet-parser-syntax',
    tool: 'puppet',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'manifests/site.pp':
        "node default {\n  file { '/etc/motd':\n    content => 'Welcome to the harbor'\n    mode    => '0644',\n  }\n}\n",
    },
    green: {
      'manifests/site.pp':
        "node default {\n  file { '/etc/motd':\n    content => 'Welcome to the harbor',\n    mode    => '0644',\n  }\n}\n",
    },
    run: 'puppet parser validate --color=false manifests/site.pp',
    exitCode: 1,
    telling: ["Syntax error at 'mode'"],
  },
  {
    ...createDebianTool('ansible-core'),
    slug: 'ansible-undefined-variable',
    tool: 'ansible',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'site.yml':
        '- hosts: localhost\n  connection: local\n  gather_facts: false\n  vars:\n    service: tides\n  tasks:\n    - name: Make the folder\n      ansible.builtin.file:\n        path: "{{ playbook_dir }}/out"\n        state: directory\n        mode: "0755"\n    - name: Write the settings\n      ansible.builtin.copy:\n        dest: "{{ playbook_dir }}/out/settings.ini"\n        mode: "0644"\n        content: "port={{ service_port }}"\n',
    },
    run: 'ansible-playbook -i localhost, site.yml',
    exitCode: 2,
    telling: ["'service_port' is undefined"],
  },
  {
    ...createDebianTool('ansible-lint'),
    slug: 'ansible-lint-no-changed-when',
    tool: 'ansible-lint',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'playbooks/deploy.yml':
        '---\n- name: Deploy\n  hosts: localhost\n  tasks:\n    - name: Restart the tides\n      ansible.builtin.shell: systemctl restart tides\n',
    },
    run: 'ansible-lint --offline --nocolor playbooks/deploy.yml',
    exitCode: 2,
    telling: ['command-instead-of-module: ', 'command-instead-of-shell: ', 'no-changed-when: '],
  },
  {
    ...createDebianTool('nftables'),
    slug: 'nft-syntax',
    tool: 'nft',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'firewall.nft':
        'table inet filter {\n  chain input {\n    type filter hook input priority 0;\n    tcp dport { 22 443 } accept\n  }\n}\n',
    },
    run: 'nft --check --file firewall.nft',
    exitCode: 1,
    telling: ['syntax error, unexpected number'],
  },
  {
    ...createDebianTool('redis-tools'),
    slug: 'redis-cli-refused',
    tool: 'redis-cli',
    heldOut: true,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'scripts/warm-cache.sh':
        '#!/bin/sh\nset -e\nfor gauge in north south; do\n  redis-cli -h payments.example.test SET "gauge:$gauge" 0\ndone\n',
    },
    run: 'sh scripts/warm-cache.sh',
    exitCode: 1,
    network: 'none',
    telling: ['Connection refused'],
  },
  {
    ...createDebianTool('sqlite3'),
    slug: 'sqlite3-constraint',
    tool: 'sqlite3',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'schema.sql': 'CREATE TABLE berth (name TEXT PRIMARY KEY, length INTEGER NOT NULL);\n',
      'seed.sql':
        "INSERT INTO berth VALUES ('A1', 12);\nINSERT INTO berth VALUES ('A2', 9);\nINSERT INTO berth VALUES ('A1', 10);\n",
    },
    before: 'rm -f harbor.db\nsqlite3 harbor.db < schema.sql',
    run: 'sqlite3 -bail harbor.db < seed.sql',
    exitCode: 1,
    telling: ['UNIQUE constraint failed: berth.name'],
  },
];
