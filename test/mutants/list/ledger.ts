import type { MutatedFile } from '../mutant.ts';

const LEDGER_TESTS = ['test/actors/money/ledger.test.ts'];
const SCHEDULED = ['test/sim/near-cap.test.ts'];

export const LEDGER: readonly MutatedFile[] = [
  {
    path: 'src/actors/money/ledger.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'a hold is charged beyond its amount',
        from: 'Math.min(command.line.charged_nano_usd, hold.amount_nano_usd)',
        to: 'command.line.charged_nano_usd',
      },
      {
        name: 'the overrun of a hold is lost',
        from: 'command.line.overrun_nano_usd + (command.line.charged_nano_usd - charged)',
        to: 'command.line.overrun_nano_usd',
      },
      {
        name: 'the rest of a settled hold does not return',
        from: '    this.putBack(key, hold.amount_nano_usd - charged);\n',
        to: '',
      },
      {
        name: 'a settled hold is settled again',
        from: "if (hold.status !== 'held') return ended(hold);\n    const charged",
        to: 'const charged',
      },
      {
        name: 'an expired hold counts as released',
        from: "command.type === 'RELEASE_HOLD' ? 'released' : 'expired'",
        to: "'released'",
      },
      {
        name: 'a repeated hold sets money aside again',
        from: "if (existing) return existing.status === 'held' ? { type: 'held' } : ended(existing);",
        to: '',
      },
      {
        name: 'an extension adds its total',
        from: 'const extra = command.amount - hold.amount_nano_usd;',
        to: 'const extra = command.amount;',
      },
      {
        name: 'an extension does not change the hold',
        from: '    hold.amount_nano_usd = command.amount;\n',
        to: '',
      },
      {
        name: 'what is held does not count against the cap',
        from: 'key.limit_nano_usd - key.used_nano_usd - key.held_nano_usd',
        to: 'key.limit_nano_usd - key.used_nano_usd',
      },
      {
        name: 'a key that is not active gets money',
        from: "if (key.status !== 'active') return key.status;",
        to: '',
      },
      {
        name: 'an expired key gets money',
        from: "return key.expired ? 'expired' : undefined;",
        to: 'return undefined;',
      },
      {
        name: 'a dead replica gets a grant',
        from: "grant.status === 'closed' || !this.liveReplicas.has(command.replica_id)",
        to: "grant.status === 'closed'",
      },
      {
        name: 'a closed grant opens again',
        from: "grant.status === 'closed' || !this.liveReplicas.has(command.replica_id)",
        to: '!this.liveReplicas.has(command.replica_id)',
      },
      {
        name: 'a repeated grant gives again',
        from: 'if (grant.granted_nano_usd !== command.expected_granted) {',
        to: 'if (false) {',
      },
      {
        name: 'a repeated return gives back again',
        from: 'if (grant.granted_nano_usd === command.expected_granted) this.takeOut',
        to: 'this.takeOut',
      },
      {
        name: 'a grant is closed with charges that are not posted',
        from: '    this.post(grant);\n    grant.recall_acked',
        to: '    grant.recall_acked',
      },
      {
        name: 'a reaped grant keeps its money',
        from: '      this.takeOut(grant, grant.granted_nano_usd - grant.settled_nano_usd);\n',
        to: '',
      },
      {
        name: 'a reaped grant returns what it charged',
        from: 'this.takeOut(grant, grant.granted_nano_usd - grant.settled_nano_usd);',
        to: 'this.takeOut(grant, grant.granted_nano_usd);',
      },
      {
        name: 'a charge stays held by the organization',
        from: '    organization.held_nano_usd -= amount;\n',
        to: '',
      },
      {
        name: 'the balance grows with what is set aside',
        from: 'organization.balance_nano_usd -= amount;',
        to: 'organization.balance_nano_usd += amount;',
      },
      {
        name: 'money that other keys hold is not asked back',
        from: 'if (unasked) {',
        to: 'if (false) {',
        tests: SCHEDULED,
      },
      {
        name: 'the asking grant counts as money elsewhere',
        from: ' && open.id !== ask.grant_id',
        to: '',
      },
    ],
  },
  {
    path: 'src/machines/grant.ts',
    tests: ['test/machines/grant.test.ts'],
    mutants: [
      {
        name: 'a need that takes all is refused',
        from: 'request.need > free',
        to: 'request.need >= free',
      },
      { name: 'a share leaves nothing for others', from: '(2 * funds.replicas)', to: '2' },
      { name: 'a share is no whole number', from: 'Math.floor(free /', to: 'Number(free /' },
      {
        name: 'the balance is no bound',
        from: 'Math.min(keyFree, funds.balance)',
        to: 'keyFree',
      },
      {
        name: 'slack goes beyond what is wanted',
        from: 'Math.min(request.want, fairShare)',
        to: 'fairShare',
      },
      {
        name: 'whose money is short is mixed up',
        from: 'keyFree <= funds.balance',
        to: 'keyFree > funds.balance',
      },
    ],
  },
  {
    path: 'src/actors/money/lane.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'a charge of a grant that is not there counts as done',
        from: "if (!row) return { type: 'not_found' };",
        to: "if (!row) return { type: 'settled', charged: 0, overrun: 0 };",
      },
      {
        name: 'answers of charges and other commands are mixed up',
        from: "command.type === 'SETTLE' ? charges.next() : moneyAnswers.next()",
        to: "command.type !== 'SETTLE' ? charges.next() : moneyAnswers.next()",
      },
      {
        name: 'a charge of a hold may be given up',
        from: "command.type === 'SETTLE' || command.type === 'SETTLE_HOLD'",
        to: "command.type === 'SETTLE'",
      },
    ],
  },
  {
    path: 'db/ledger/settle.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'a closed grant is charged',
        from: "case when locked.status = 'open' then charged_nano_usd else 0 end",
        to: 'charged_nano_usd',
      },
      {
        name: 'the overrun of a closed grant is lost',
        from: 'else overrun_nano_usd + charged_nano_usd end',
        to: 'else overrun_nano_usd end',
      },
      {
        name: 'a repeated charge is added to the grant again',
        from: 'select grant_id, sum(charged_nano_usd)::int8 as nano_usd from inserted',
        to: 'select grant_id, sum(charged_nano_usd)::int8 as nano_usd from input',
      },
      {
        name: 'a repeated charge is answered as asked',
        from: 'if (booked === lines.length)',
        to: 'if (booked <= lines.length)',
      },
      {
        name: 'an absorbed charge is answered as asked',
        from: 'byId.get(line.id) ?? line',
        to: 'line',
      },
    ],
  },
  {
    path: 'db/ledger/rows.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'the ceiling follows a lowered limit only',
        from: 'then greatest(api_key.limit_nano_usd, input.used_nano_usd + input.held_nano_usd) end',
        to: 'then api_key.limit_nano_usd end',
      },
      {
        name: 'what is posted is not written',
        from: 'posted_nano_usd = excluded.posted_nano_usd, recall_acked',
        to: 'recall_acked',
      },
      {
        name: 'a changed hold keeps its old amount',
        from: 'amount_nano_usd = excluded.amount_nano_usd, charged_nano_usd',
        to: 'charged_nano_usd',
      },
      {
        name: 'an expired key is not seen',
        from: 'coalesce(expires_at <= weir_now(), false)',
        to: 'false',
      },
      {
        name: 'closed grants of a dead replica hide its open ones',
        from: "where status = 'open' and replica_id",
        to: 'where replica_id',
      },
    ],
  },
  {
    path: 'db/ledger/in-flight.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'charged money counts as in flight',
        from: 'granted_nano_usd - settled_nano_usd as open_nano_usd',
        to: 'granted_nano_usd as open_nano_usd',
      },
      {
        name: 'holds count as recallable',
        from: 'select organization_id, key_id, id, false, amount_nano_usd',
        to: 'select organization_id, key_id, id, true, amount_nano_usd',
      },
    ],
  },
  {
    path: 'db/ledger/entries.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'a repeated deposit fails its batch',
        from: '    on conflict (id) do nothing\n',
        to: '',
      },
    ],
  },
];
