/**
 * The operator's `test` of a channel says whose fault a failure is, and what to do. The channel answers
 * with errors that providers document or were seen to send; each payload names its source.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { VENDOR_ERRORS } from '../upstreams/transport/errors/all.ts';
import { type ErrorPayload, isProved } from '../upstreams/transport/errors/payload.ts';
import { startUpstream } from '../upstreams/upstream.ts';

setDefaultTimeout(120_000);

const upstream = startUpstream();
let weir: RunningWeir;
beforeAll(async () => {
  const main = { id: 'main', protocol: 'openai', base_url: upstream.url, api_key: 'none' };
  const channels = [{ ...main, models: { 'gpt-4o': 'gpt-4o' } }];
  weir = await startWeir({ shared_database: true, config: JSON.stringify({ channels }) });
});
afterAll(async () => {
  await weir.stop();
  await upstream.stop();
});

interface Tested {
  ok: boolean;
  fault?: string;
  hint?: string;
}

async function testChannel({ status, body, headers = {} }: ErrorPayload): Promise<Tested> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  upstream.answer = () => new Response(text, { status, headers });
  const response = await fetch(`${weir.base_url}/v1/operator/channels/main/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.operator_token}` },
  });
  return (await response.json()) as Tested;
}

const PROVED = VENDOR_ERRORS.map(({ vendor, source, payloads }) => ({
  vendor,
  payloads: payloads.filter(
    (each) => each.protocol === undefined && each.status >= 400 && isProved(each.source ?? source),
  ),
})).filter(({ payloads }) => payloads.length > 0);

test('there are payloads of every fault', () => {
  const faults = new Set(PROVED.flatMap(({ payloads }) => payloads.map(({ fault }) => fault)));
  expect([...faults].toSorted()).toEqual(
    ['account', 'broken', 'caller', 'overload', 'throttle', 'unclear'].toSorted() as never,
  );
});

/** Words of the hint that an operator needs for each fault. */
const HINTS: Record<ErrorPayload['fault'], RegExp> = {
  account: /api_key.*balance/,
  throttle: /limits/,
  overload: /capacity/,
  broken: /base_url/,
  caller: /model id/,
  unclear: /message/,
};

test.each(PROVED.map((each) => [each.vendor, each] as const))(
  'errors of %s',
  async (_, { payloads }) => {
    for (const payload of payloads) {
      const tested = await testChannel(payload);
      expect([payload.source, payload.status, tested.ok, tested.fault]).toEqual([
        payload.source,
        payload.status,
        false,
        payload.fault,
      ]);
      expect(tested.hint).toMatch(HINTS[payload.fault]);
    }
  },
);
