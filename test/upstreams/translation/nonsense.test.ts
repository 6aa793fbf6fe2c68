/** Tests that a damaged request is translated, or refused with a 400 that names a parameter. */
import { expect, test } from 'bun:test';
import { sampleOf } from '../../../docs/protocol-samples.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { CLIENT_PROTOCOLS } from '../../../src/protocols/names.ts';
import { FEATURES, type Feature } from '../../../src/upstreams/translation/features.ts';
import type { NeutralRequest } from '../../../src/upstreams/translation/neutral.ts';
import {
  type RequestProtocol,
  translateCall,
} from '../../../src/upstreams/translation/translate.ts';
import { anyJson } from '../../support/arbitrary-json.ts';
import { fc } from '../../support/property.ts';
import { callOf } from '../upstream.ts';
import { CLIENTS } from './clients.ts';
import { CONVERSATIONS } from './conversations.ts';

const RUNS = 4_000;
const UPSTREAMS: RequestProtocol[] = ['openai', 'anthropic', 'gemini'];

/** Replaces or drops one value. `path` leads to it: each number chooses a member. */
function damage(
  value: unknown,
  path: readonly number[],
  replacement: unknown,
  drops: boolean,
): unknown {
  const [step, ...others] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return replacement;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return replacement;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  if (others.length === 0 && drops) delete copy[key];
  else copy[key] = damage(copy[key], others, replacement, drops);
  return copy;
}

test.each([...CLIENT_PROTOCOLS])(
  'a damaged request of a client of %s is translated or refused with 400',
  (client) => {
    const valid = [
      ...Object.values(CONVERSATIONS).map((each) => CLIENTS[client].write(each as NeutralRequest)),
      ...(Object.keys(FEATURES) as Feature[]).flatMap((each) => sampleOf(client, each) ?? []),
    ];
    let written = 0;
    let refused = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...valid),
        fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 9 }),
        anyJson,
        fc.boolean(),
        (body, path, replacement, drops) => {
          const damaged = damage(body, path, replacement, drops) as Record<string, unknown>;
          for (const upstream of UPSTREAMS) {
            try {
              const call = callOf('http://unused.invalid', { model: 'gpt-test', ...damaged });
              JSON.parse(translateCall(client, upstream, call).call.body_text);
              written += 1;
            } catch (error) {
              if (!(error instanceof WeirError)) throw error;
              expect(error.entry.status).toBe(400);
              expect(error.details.param).toBeString();
              refused += 1;
            }
          }
        },
      ),
      { numRuns: RUNS },
    );
    expect(written).toBeGreaterThan(RUNS / 10);
    expect(refused).toBeGreaterThan(RUNS / 10);
  },
  60_000,
);
