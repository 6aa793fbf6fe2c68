import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { leftOutPage } from '../../docs/left-out-page.ts';
import { isLeftOut, LEFT_OUT } from '../../src/catalogue/left-out.ts';

const MESSAGES = '/v1/messages';

describe('P18: the list of what is taken and left out', () => {
  test('is printed in docs/left-out.md: after a change, run "bun run protocols"', () => {
    const page = readFileSync(join(import.meta.dir, '../../docs/left-out.md'), 'utf8');
    expect(page).toBe(leftOutPage());
  });

  test('has one entry for each parameter, route and set of upstreams', () => {
    const names = LEFT_OUT.flatMap(({ routes, param, upstreams = [] }) =>
      routes.map((route) => `${route} ${param} ${upstreams.join()}`),
    );
    expect(names).toEqual([...new Set(names)]);
  });

  test('says in a sentence what happens instead', () => {
    for (const { why } of LEFT_OUT) expect(why).toMatch(/^[A-Z].*\.$/);
  });

  test.each([
    [MESSAGES, 'speed', 'standard', true],
    [MESSAGES, 'speed', 'STANDARD', true],
    [MESSAGES, 'speed', 'fast', false],
    [MESSAGES, 'mcp_servers', [], true],
    [MESSAGES, 'mcp_servers', [{}], false],
    [MESSAGES, 'tools[].allowed_callers', ['direct'], true],
    [MESSAGES, 'tools[].allowed_callers', ['direct', 'code'], false],
    [MESSAGES, 'cache_control', { type: 'ephemeral' }, true],
    ['/v1/rerank', 'cache_control', {}, false],
    // What Claude Code and Codex send with every request.
    [MESSAGES, 'context_management', { edits: [] }, true],
    ['/v1/responses', 'client_metadata', { session: 'a' }, true],
    ['/v1/responses', 'tools[].type', 'web_search', true],
    ['/v1/responses', 'tools[].type', 'file_search', false],
  ])('%s: %s = %j is on it: %p', (route, param, value, isListed) => {
    expect(isLeftOut(route, param, value)).toBe(isListed);
  });

  test('has values that only some upstreams do not get', () => {
    expect(isLeftOut('/v1/embeddings', 'user', 'u', 'gemini')).toBe(true);
    expect(isLeftOut('/v1/embeddings', 'user', 'u', 'openai')).toBe(false);
    expect(isLeftOut('/v1/embeddings', 'user', 'u')).toBe(false);
  });
});
