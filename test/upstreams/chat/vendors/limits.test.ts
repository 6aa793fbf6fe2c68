/** P2 over all dialects: a limit of the output is never lost, and never raised. */
import { expect, test } from 'bun:test';
import { RefusedMemberList } from '../../../../src/actors/channels/refused-members.ts';
import { editMembers } from '../../../../src/json/members.ts';
import { DIALECT_NAMES, DIALECTS, OUTPUT_LIMITS } from '../../../../src/protocols/dialects.ts';
import { chatRequest } from '../../../../src/upstreams/chat/openai-request.ts';
import { OPENAI } from '../../../../src/upstreams/transport/openai-address.ts';
import { fc } from '../../../support/property.ts';
import { callOf } from '../../upstream.ts';

const limit = fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined });

test('a request has a limit that its vendor obeys, and no higher one', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...DIALECT_NAMES),
      fc.record({ max_tokens: limit, max_completion_tokens: limit }),
      limit,
      fc.option(fc.constantFrom(...OUTPUT_LIMITS), { nil: undefined }),
      fc.boolean(),
      (dialect, limits, covered, learned, is_translated) => {
        const refused = new RefusedMemberList();
        if (learned) refused.add(learned);
        const text = JSON.stringify({ model: 'm', messages: [], ...limits });
        const made = callOf('http://localhost', text);
        const target = { ...made.target, dialect, refused };
        const call = { ...made, target, is_translated, max_output_tokens: covered };
        const { edits } = chatRequest(call, OPENAI);
        const sent: Record<string, number> = JSON.parse(editMembers(text, edits));
        const asked = [limits.max_tokens, limits.max_completion_tokens].filter(
          (value) => value !== undefined,
        );
        const named = OUTPUT_LIMITS.filter((name) => sent[name] !== undefined);
        expect(named.length > 0).toBe(asked.length > 0 || covered !== undefined);
        // No name that the upstream refused, and no name that the vendor ignores.
        if (learned) expect(named).not.toContain(learned);
        else if (DIALECTS[dialect].output_limit === 'max_tokens')
          expect(named).not.toContain('max_completion_tokens');
        for (const name of named) {
          expect(sent[name]).toBeLessThanOrEqual(Math.max(...asked, asked.length ? 0 : 99));
          if (covered !== undefined) expect(sent[name]).toBeLessThanOrEqual(covered);
        }
        // If the client named a single limit, its value is what leaves.
        if (asked.length === 1 && covered === undefined)
          expect(named.map((name) => sent[name])).toEqual(asked);
      },
    ),
    { numRuns: 2_000 },
  );
});
