import type { MutatedFile } from '../mutant.ts';

const COPIES = ['test/http/management/debug-windows.test.ts'];
const BOUNDS = ['test/http/management/debug-bounds.test.ts'];

export const DEBUG: readonly MutatedFile[] = [
  {
    path: 'db/debug/copies.ts',
    tests: BOUNDS,
    mutants: [
      {
        name: 'a closed debug window gets copies',
        from: ' and closed_at is null and closes_at > weir_now()',
        to: ' and closes_at > weir_now()',
      },
      {
        name: 'a debug window that is over gets copies',
        from: ' and closed_at is null and closes_at > weir_now()',
        to: ' and closed_at is null',
      },
      {
        name: 'a copy can be read after its time',
        from: '        and keep_until > weir_now()\n',
        to: '',
      },
      {
        name: 'the reading of a copy is not on record',
        from: ', request_id from found',
        to: ', request_id from found where false',
      },
    ],
  },
  {
    path: 'db/debug/copies.ts',
    tests: ['test/http/management/tenancy.test.ts'],
    mutants: [
      {
        name: 'P6: another organization reads the copy of a call',
        from: 'where copy.organization_id = ',
        to: 'where copy.organization_id <> ',
      },
    ],
  },
  {
    path: 'src/inference/debug/debug-windows.ts',
    tests: COPIES,
    mutants: [
      {
        name: 'copies are not encrypted',
        from: 'sealBytes(this.deps.key, body.take(), contextOf(organization_id, request_id, part))',
        to: 'body.take()',
      },
      {
        name: 'the window of one key copies the calls of all keys',
        from: 'open?.find(({ key_id }) => key_id === id) ?? open?.find(({ key_id }) => key_id === null)',
        to: 'open?.find(({ key_id }) => key_id === id) ?? open?.[0]',
      },
    ],
  },
  {
    path: 'src/inference/streaming/stream.ts',
    tests: COPIES,
    mutants: [
      {
        name: 'the copy of a stream lacks its end',
        from: '    if (!this.hasClientLeft) record?.copy?.add(text);\n',
        to: '',
      },
    ],
  },
  {
    path: 'db/usage/roll-ups/additions.ts',
    tests: ['test/db/usage/roll-ups.test.ts'],
    mutants: [
      {
        name: 'the sums of an organization by all names have another name',
        from: "select organization_id, 'organization', '',",
        to: "select organization_id, 'organization', 'x',",
      },
    ],
  },
  {
    path: 'db/usage/roll-ups/changed.ts',
    tests: ['test/db/usage/changed.test.ts'],
    mutants: [
      {
        name: 'a row whose transaction was open in one of two states is not found',
        from: 'Math.min(a.next_xid, b.next_xid, ...a.open_xids, ...b.open_xids)',
        to: 'Math.min(a.next_xid, b.next_xid)',
      },
      {
        name: 'later statements keep the settings',
        from: 'set(before.map((row) => row.before))',
        to: 'set(Object.values(SETTINGS))',
      },
    ],
  },
  {
    path: 'db/usage/roll-ups/fold.ts',
    tests: ['test/db/usage/changed.test.ts'],
    mutants: [
      {
        name: 'after many transactions without rows, nothing is folded any more',
        from: ' && !news.more) return',
        to: ') return',
      },
    ],
  },
  {
    path: 'db/usage/roll-ups/key-models.ts',
    tests: ['test/db/usage/roll-ups.test.ts'],
    mutants: [
      {
        name: 'sums of keys by model are read, whatever folded last',
        from: 'tx.unsafe(`key_model_weeks_of = ',
        to: "tx.unsafe(`key_model_weeks_of <> 'x' or key_model_weeks_of = ",
      },
    ],
  },
  {
    path: 'db/usage/roll-ups/weeks.ts',
    tests: ['test/db/usage/weeks.test.ts'],
    mutants: [
      {
        name: 'a week that began before the span counts whole',
        from: 'Math.ceil((days.from + MONDAY_TO_EPOCH) / DAYS_A_WEEK)',
        to: 'Math.floor((days.from + MONDAY_TO_EPOCH) / DAYS_A_WEEK)',
      },
    ],
  },
];
