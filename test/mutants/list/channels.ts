import type { MutatedFile } from '../mutant.ts';

export const CHANNELS: readonly MutatedFile[] = [
  {
    path: 'src/config/installation.ts',
    tests: ['test/config/current-installation.test.ts'],
    mutants: [
      {
        name: 'a channel of an operator is used beside one of the file with its id',
        from: 'rows.filter(({ id }) => !taken.has(id))',
        to: 'rows',
      },
      {
        name: 'the simulator is used beside the channels of operators',
        from: "source === 'simulator' && rows.length > 0 ? [] : yaml.channels",
        to: 'yaml.channels',
      },
      {
        name: 'the simulator is gone for ever',
        from: "source === 'simulator' && rows.length > 0",
        to: "source === 'simulator'",
      },
      {
        name: 'a channel serves models that its protocol cannot serve',
        from: 'family !== undefined && FAMILY_PROTOCOLS[family].includes(channel.protocol)',
        to: 'family !== undefined',
      },
    ],
  },
  {
    path: 'src/config/current-installation.ts',
    tests: ['test/config/current-installation.test.ts'],
    mutants: [
      {
        name: 'a changed file forgets the channels of operators',
        from: '    this.declared = declared;\n    try {',
        to: '    this.declared = declared;\n    this.rows = [];\n    try {',
      },
      {
        name: 'each gap of the bus configures all channels again',
        from: 'if (Bun.deepEquals([rows, items], [this.rows, this.items])) return;',
        to: '',
      },
    ],
  },
  {
    path: 'src/config/row-channels.ts',
    tests: ['test/http/operator/channel-changes.test.ts'],
    mutants: [
      {
        name: 'a stored key can be sent to another address',
        from: "['channel', id, protocol, base_url]",
        to: "['channel', id, protocol]",
      },
    ],
  },
  {
    path: 'src/http/operator/channel-rows.ts',
    tests: ['test/http/operator/channel-changes.test.ts'],
    mutants: [
      {
        name: 'a new key is not tested',
        from: 'if (api_key !== undefined) await inspectFor',
        to: 'if (api_key === "") await inspectFor',
      },
      {
        name: 'a channel is removed while its tasks run',
        from: '        await refuseRunning(tx, id);\n',
        to: '',
      },
      {
        name: 'a repeat tests the provider again',
        from: 'const known = isRepeat ? undefined : await findChannelRow(parts.sql, id);',
        to: 'const known = await findChannelRow(parts.sql, id);',
      },
    ],
  },
  {
    path: 'src/upstreams/direct/model-lists.ts',
    tests: ['test/upstreams/direct/model-lists.test.ts'],
    mutants: [
      {
        name: 'a provider brings the key into the list of unknown models',
        from: 'JSON.parse(redact(text, api_key))',
        to: 'JSON.parse(text)',
      },
      {
        name: 'a list of pages never ends',
        from: 'page < MAX_PAGES &&',
        to: '',
      },
      {
        name: 'a list has no end of bytes',
        from: '      MAX_LIST_BYTES,\n    );',
        to: '    );',
      },
      {
        name: 'a probe counts as a test of the key, although its route does not exist',
        from: 'return !NO_LIST.includes(status) || text.includes(model);',
        to: 'return true;',
      },
    ],
  },
  {
    path: 'src/upstreams/direct/provider-refusal.ts',
    tests: ['test/upstreams/direct/model-lists.test.ts'],
    mutants: [
      {
        name: 'the words of a provider have no limit',
        from: 'said.slice(0, MAX_SAID_CHARS)',
        to: 'said',
      },
    ],
  },
  {
    path: 'src/inference/records/arrivals.ts',
    tests: ['test/inference/records/arrivals.test.ts'],
    mutants: [
      {
        name: 'replicas send calls although nobody listens',
        from: 'if (bus.peerCount === 0 || clock.now() >= this.asked_until_ms) return;',
        to: '',
      },
      {
        name: 'a replica looks at its ring for ever',
        from: 'if (this.listeners.size > 0 || this.deps.clock.now() < this.asked_until_ms) {',
        to: '{',
      },
      {
        name: 'a slow listener is waited for',
        from: 'if (this.waiting.length >= MAX_BEHIND) {',
        to: 'if (false) {',
      },
      {
        name: 'an unchanged call is sent again',
        from: 'if (progress === slot.sent) return false;',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/records/arrival-ring.ts',
    tests: ['test/inference/records/arrivals.test.ts'],
    mutants: [
      {
        name: 'a late end changes another call',
        from: 'if (this.uuid !== uuid) return;',
        to: '',
      },
    ],
  },
];
