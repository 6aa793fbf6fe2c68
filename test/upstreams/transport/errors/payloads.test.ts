/** Every error that providers document or were seen to send has the class that its source gives. */
import { describe, expect, test } from 'bun:test';
import { TerminalUpstreamError } from '../../../../src/upstreams/contract.ts';
import { ERROR_RULES } from '../../../../src/upstreams/transport/errors/table.ts';
import { classifyFailure } from '../../../../src/upstreams/transport/failures.ts';
import { fc } from '../../../support/property.ts';
import { callOf } from '../../upstream.ts';
import { VENDOR_ERRORS } from './all.ts';
import { type ErrorPayload, isProved } from './payload.ts';

const textOf = ({ body }: ErrorPayload) => (typeof body === 'string' ? body : JSON.stringify(body));

function classify({ protocol, ...payload }: ErrorPayload, body: Record<string, unknown> = {}) {
  const call = callOf('https://api.upstream.example/v1', body);
  const target = { ...call.target, ...(protocol === undefined ? {} : { protocol }) };
  const headers = new Headers(payload.headers);
  return classifyFailure({ ...call, target }, payload.status, headers, textOf(payload));
}

function faultOf(error: ReturnType<typeof classify>): string {
  return error instanceof TerminalUpstreamError ? 'caller' : error.fault;
}

describe.each(VENDOR_ERRORS.map((each) => [each.vendor, each] as const))(
  'P19: errors of %s',
  (_, { payloads }) => {
    test.each(payloads.map((each) => [each.status, textOf(each).slice(0, 160), each] as const))(
      '%i %s',
      (_status, _text, payload) => {
        const error = classify(payload);
        expect(faultOf(error)).toBe(payload.fault);
        if (error instanceof TerminalUpstreamError) {
          expect(error.error_id).toBe(payload.error_id ?? 'invalid_request');
        } else if (payload.wait_ms !== undefined) {
          expect(error.retry_after_ms).toBe(payload.wait_ms);
        }
      },
    );
  },
);

test('at least 560 payloads have a source that can be opened again', () => {
  const proved = VENDOR_ERRORS.flatMap(({ source, payloads }) =>
    payloads.filter((each) => isProved(each.source ?? source)),
  );
  expect(proved.length).toBeGreaterThanOrEqual(560);
});

test.each([
  ['https://docs.vendor.example/errors', true],
  ['https://docs.vendor.example', false],
  ['owner/repo#12', true],
  ['owner/repo issues', false],
  ['owner/repo src/errors.ts', true],
  ['@scope/package@1.2.3 README.md', true],
  ['package@1.2.3 dist/errors.d.ts', true],
  ['Vendor docs: Errors', false],
  [undefined, false],
])('a source %s proves: %p', (source, isPrecise) => {
  expect(isProved(source)).toBe(isPrecise);
});

/** Codes of no provider. */
const known = new Set(ERROR_RULES.map(({ code }) => code));
const unknownCode = fc
  .stringMatching(/^[a-z]{3,12}_[a-z]{3,12}$/)
  .filter((code) => !known.has(code) && !code.split('_').some((part) => known.has(part)));
const unknownBody = fc.oneof(
  fc
    .tuple(unknownCode, unknownCode, fc.constantFrom(undefined, null, '', 'None', 'null'))
    .map(([code, type, param]) => ({ error: { code, type, param, message: 'No.' } })),
  unknownCode.map((code) => ({ code, message: 'No.' })),
  unknownCode.map((status) => ({ detail: { status, message: 'No.' } })),
  fc.constantFrom(
    {},
    { message: 'No.' },
    { error: 'No.' },
    { detail: 'No.' },
    '<html>No</html>',
    '',
  ),
);

test('P19: no unknown error is the caller’s, and none proves anything about the channel', () => {
  fc.assert(
    fc.property(fc.integer({ min: 400, max: 499 }), unknownBody, (status, body) => {
      const error = classify({ status, body, fault: 'unclear' });
      expect(faultOf(error)).not.toBe('caller');
      const isProof = [401, 402, 404, 405, 407, 408, 410, 421, 424, 429].includes(status);
      if (!isProof && !(error instanceof TerminalUpstreamError)) {
        expect(error.failure).toBe('unclear');
      }
    }),
    { numRuns: 2_000 },
  );
});

test('P9: a client whose request has the words of an error never lowers a channel’s health', () => {
  const words = VENDOR_ERRORS.flatMap(({ payloads }) => payloads).flatMap((payload) => {
    const error = classify(payload);
    if (error instanceof TerminalUpstreamError) return [];
    return error.public_message === undefined ? [] : [error];
  });
  for (const { message } of words) {
    const said = message.slice(message.indexOf(': ') + 2);
    const echo = { status: 400, body: { error: { message: said } }, fault: 'unclear' } as const;
    const error = classify(echo, { messages: [{ role: 'user', content: said }] });
    if (!(error instanceof TerminalUpstreamError))
      expect([said, error.failure]).toEqual([said, 'unclear']);
  }
});
