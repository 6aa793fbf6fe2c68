/** A snippet with a key in it needs no variable. */
import { expect, test } from 'bun:test';
import { LANGUAGES, snippetOf } from '../../web/snippets/languages.ts';
import { withKey } from '../../web/snippets/with-key.ts';

const CALL = { scene: 'chat', path: '/v1/chat/completions', body: { model: 'm' } } as const;

test.each(LANGUAGES)('%s names the key once, and no variable', (language) => {
  const snippet = snippetOf(language, CALL, 'https://weir.example.com') ?? '';
  const shown = withKey(snippet, 'sk-secret');
  expect(shown.match(/sk-secret/g)).toHaveLength(1);
  expect(shown).not.toMatch(/WEIR_KEY|process\.env|os\.environ|import os/);
});
