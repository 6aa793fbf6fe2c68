/** The statement that inserts usage lines: each row has exactly what was sent for it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { settleInline } from '../../../db/ledger/settle.ts';
import type { InlineLine } from '../../../db/ledger/usage-line.ts';
import { type Account, grant, line, openLedger, type TestLedger } from '../../support/ledger.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(120_000);

let ledger: TestLedger;
let of: Account;
const grant_id = crypto.randomUUID();

beforeAll(async () => {
  ledger = await openLedger();
  of = await ledger.account();
  await ledger.lane.submit(grant(of, 1_000, grant_id));
});
afterAll(() => ledger.close());

const known = fc.option(fc.nat(1_000_000));
/** A recent date, ms: partitions of other months may not exist. */
const at_ms = fc.integer({ min: Date.now() - 1_000_000, max: Date.now() });
const facts = fc.record({
  ...{ at_ms, protocol: fc.constantFrom('openai', 'anthropic'), program: fc.constant('p/1') },
  ...{ authenticated_us: known, reserved_us: known, routed_us: known },
  ...{ first_token_ms: known, ended_ms: known },
  detail: fc.constantFrom(undefined, { end_user: 'ä"{,}' }),
});
const count = fc.constantFrom(0, 0, 0, 7);
const values = fc.record({
  record: fc.option(facts, { nil: undefined }),
  ...{ input_tokens: fc.nat(100), output_tokens: fc.nat(100), has_own_id: fc.boolean() },
  ...{ cached_input_tokens: count, reasoning_tokens: count, overrun_nano_usd: count },
  list_nano_usd: fc.constantFrom(undefined, undefined, 9),
});

type Values = typeof values extends fc.Arbitrary<infer Value> ? Value : never;

function lineOf({ has_own_id, list_nano_usd, ...rest }: Values) {
  const id = Bun.randomUUIDv7();
  return {
    ...{ ...line(of, 0), ...rest, id, grant_id },
    request_id: has_own_id ? id : crypto.randomUUID(),
    ...(list_nano_usd === undefined ? {} : { list_nano_usd }),
  } satisfies InlineLine;
}

/** What the row of a line should have. */
function rowOf(sent: InlineLine) {
  const { record } = sent;
  return {
    ...{ id: sent.id, request_id: sent.request_id, at_ms: record?.at_ms ?? null },
    ...{ input_tokens: sent.input_tokens, output_tokens: sent.output_tokens },
    ...{ cached_input_tokens: sent.cached_input_tokens, reasoning_tokens: sent.reasoning_tokens },
    ...{ overrun_nano_usd: sent.overrun_nano_usd, list_nano_usd: sent.list_nano_usd ?? null },
    authenticated_us: record?.authenticated_us ?? null,
    ...{ reserved_us: record?.reserved_us ?? null, routed_us: record?.routed_us ?? null },
    ...{ first_token_ms: record?.first_token_ms ?? null, ended_ms: record?.ended_ms ?? null },
    ...{ detail: record?.detail ?? null, protocol: record?.protocol ?? '' },
  };
}

async function storedRows(lines: readonly InlineLine[]) {
  const { sql } = ledger.database;
  const ids = lines.map(({ id }) => id);
  const rows = await sql`
    select id, request_id, (extract(epoch from at) * 1000)::float8 as at_ms, input_tokens,
      output_tokens, cached_input_tokens, reasoning_tokens, overrun_nano_usd, list_nano_usd,
      authenticated_us, reserved_us, routed_us, first_token_ms, ended_ms, detail, protocol
    from usage_line where id = any(${ids}::uuid[])`;
  const row_of = new Map(rows.map((row) => [row['id'], row]));
  return lines.map(({ id, record }) => {
    const row = row_of.get(id);
    // Without a record, the date is the time of the settlement.
    return row && { ...row, at_ms: record ? row['at_ms'] : null, protocol: row['protocol'] ?? '' };
  });
}

test('each row has the values of its line, whatever the other lines lack', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(values, { minLength: 1, maxLength: 6 }), async (given) => {
      const lines = given.map(lineOf);
      await settleInline(ledger.database.sql, lines);
      expect(await storedRows(lines)).toEqual(lines.map(rowOf));
    }),
    { numRuns: 150 },
  );
});
