import type { MutatedFile } from '../mutant.ts';

const SETTLE_TESTS = ['test/db/ledger/settle.test.ts'];
const LEDGER_TESTS = ['test/actors/money/ledger.test.ts', 'test/actors/money/holds.test.ts'];

export const LEDGER_ROWS: readonly MutatedFile[] = [
  {
    path: 'db/ledger/settle-statement.ts',
    tests: [...SETTLE_TESTS, ...LEDGER_TESTS],
    mutants: [
      {
        name: 'a closed grant is charged',
        from: 'case when is_open then charged_nano_usd else 0 end',
        to: 'charged_nano_usd',
      },
      {
        name: 'the overrun of a closed grant is lost',
        from: ' + charged_nano_usd end',
        to: ' end',
      },
      {
        name: 'a repeated charge is added to the grant again',
        from: "formsOf('on conflict do nothing')",
        to: "formsOf('on conflict (id) do update set id = excluded.id')",
      },
      {
        name: 'the values that few lines have are lost',
        from: 'return has_rare ? forms.rare : forms.plain;',
        to: 'return forms.plain;',
      },
    ],
  },
  {
    path: 'db/ledger/settle.ts',
    tests: [...SETTLE_TESTS, ...LEDGER_TESTS],
    mutants: [
      {
        name: 'a fact that some lines lack moves to other lines',
        from: "value ?? 'null'",
        to: "value ?? ''",
      },
      {
        name: 'the answer to a repeated charge has the requested amounts',
        from: 'if (booked === lines.length && !has_absorbed)',
        to: 'if (!has_absorbed)',
      },
      {
        name: 'the answer to an absorbed charge has the requested amounts',
        from: 'if (booked === lines.length && !has_absorbed)',
        to: 'if (booked === lines.length)',
      },
    ],
  },
  {
    path: 'db/ledger/rows.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'the ceiling of a key ignores its used and held money',
        from: 'then greatest(api_key.limit_nano_usd, input.used_nano_usd + input.held_nano_usd) end',
        to: 'then api_key.limit_nano_usd end',
      },
      {
        name: 'the posted amount is not written',
        from: '        posted_nano_usd = excluded.posted_nano_usd,\n',
        to: '',
      },
      {
        name: 'a changed hold keeps its old amount',
        from: 'amount_nano_usd = excluded.amount_nano_usd, charged_nano_usd',
        to: 'charged_nano_usd',
      },
      {
        name: 'an expired key counts as active',
        from: 'coalesce(expires_at <= at, false)',
        to: 'false',
      },
      {
        name: 'closed grants of a dead replica hide its open grants',
        from: "where status = 'open' and replica_id",
        to: 'where replica_id',
      },
    ],
  },
  {
    path: 'db/ledger/lines-audit.ts',
    tests: ['test/db/ledger/lines-audit.test.ts'],
    mutants: [
      {
        name: 'lines that came during a reading do not count',
        from: 'const lines = plus(reading.totals, later);',
        to: 'const lines = reading.totals;',
      },
      {
        name: 'grants and holds are not compared with their lines',
        from: '      BigInt(books.payers) === lines.payers &&\n',
        to: '',
      },
      {
        name: 'all keys, grants and holds have the same weight',
        from: 'const MAX_WEIGHT = 4_096;',
        to: 'const MAX_WEIGHT = 1;',
      },
      {
        name: 'a reading counts, although retention removed lines meanwhile',
        from: 'if ((await readClosed(tx)) !== reading.closed_until) {',
        to: 'if (false) {',
      },
    ],
  },
  {
    path: 'db/ledger/quick-audit.ts',
    tests: ['test/db/ledger/lines-audit.test.ts'],
    mutants: [
      {
        name: 'the quick audit compares charges while older lines are summed',
        from: 'if (!fold) return compareSums(tx, undefined);',
        to: 'fold ??= { next_xid: 0, open_xids: [], has_key_models: false };',
      },
      {
        name: 'the quick audit lacks lines that are not folded',
        from: 'const lines = await newCharges(tx, { ...fold, at: new Date(0) });',
        to: 'const lines: NewCharges[] = [];',
      },
    ],
  },
  {
    path: 'db/ledger/in-flight.ts',
    tests: LEDGER_TESTS,
    mutants: [
      {
        name: 'charged money counts as in flight',
        from: 'granted_nano_usd - settled_nano_usd + uncharged_nano_usd',
        to: 'granted_nano_usd + uncharged_nano_usd',
      },
      {
        name: 'holds can be recalled',
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
