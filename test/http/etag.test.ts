import { describe, expect, test } from 'bun:test';
import { WeirError } from '../../src/errors/weir-error.ts';
import { etagOf, requireMatch, withEtag } from '../../src/http/etag.ts';

const SETTINGS = { name: 'Production', models: ['gpt-4o'], expires_at: null };
const TAG = etagOf(SETTINGS);

/** Returns what `requireMatch` throws for a value of `If-Match`; undefined if it accepts the value. */
function refusalOf(value?: string): WeirError | undefined {
  const request = new Request('http://weir.invalid/', {
    headers: value === undefined ? {} : { 'if-match': value },
  });
  try {
    requireMatch(request, SETTINGS);
    return undefined;
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
}

describe('the entity tag of settings', () => {
  test('RFC 9110, 8.8.3: is a strong tag in quotation marks', () => {
    expect(TAG).toMatch(/^"[\x21\x23-\x7e]{22}"$/);
    expect(withEtag(Response.json({}), SETTINGS).headers.get('ETag')).toBe(TAG);
  });

  test('does not depend on the order of the members', () => {
    expect(etagOf({ expires_at: null, models: ['gpt-4o'], name: 'Production' })).toBe(TAG);
  });

  test.each([
    { ...SETTINGS, name: 'production' },
    { ...SETTINGS, models: [] },
    { ...SETTINGS, expires_at: new Date(0) },
  ])('is another one for %p', (settings) => {
    expect(etagOf(settings)).not.toBe(TAG);
  });
});

describe('If-Match', () => {
  // The forms are the examples of RFC 9110, 13.1.1 and 8.8.3.
  test.each([
    undefined,
    '*',
    ' * ',
    TAG,
    `"xyzzy", ${TAG}`,
    `"xyzzy",${TAG} , "c3piozzzz"`,
    `"with,comma", ${TAG}`,
    `, ${TAG}`,
    `W/${TAG}`,
  ])('%p lets the change happen', (value) => {
    expect(refusalOf(value)).toBeUndefined();
  });

  test.each(['"xyzzy"', 'W/"xyzzy"', '""', '"xyzzy", "r2d2xxxx", "c3piozzzz"'])(
    '412: %p names other settings',
    (value) => {
      const refusal = refusalOf(value);
      expect(refusal?.entry.status).toBe(412);
      expect(refusal?.details).toMatchObject({ param: 'If-Match' });
    },
  );

  test.each(['', 'xyzzy', TAG.slice(1), TAG.slice(0, -1), `${TAG} x`, 'w/"xyzzy"', "'xyzzy'"])(
    '400: %p is no entity tag',
    (value) => {
      const refusal = refusalOf(value);
      expect(refusal?.entry.status).toBe(400);
      expect(refusal?.details.param).toBe('If-Match');
    },
  );
});
