import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { seal, unseal } from '../../src/config/seal.ts';
import { fc } from '../support/property.ts';

const key = randomBytes(32);

describe('a sealed secret', () => {
  test('is decrypted with its key and its context', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (plain, context) => {
        expect(unseal(key, seal(key, plain, context), context)).toBe(plain);
      }),
    );
  });

  test('P6: does not contain the plain text, and differs each time', () => {
    const plain = 'whsec_0123456789';
    const [first, second] = [seal(key, plain, 'org'), seal(key, plain, 'org')];
    expect(first).not.toBe(second);
    expect(Buffer.from(first, 'base64url').toString('latin1')).not.toContain('0123');
  });

  test('is not decrypted with another key or context, or after a change of any byte', () => {
    const sealed = seal(key, 'secret', 'org_a');
    expect(() => unseal(randomBytes(32), sealed, 'org_a')).toThrow();
    expect(() => unseal(key, sealed, 'org_b')).toThrow();
    const bytes = Buffer.from(sealed, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => unseal(key, changed.toString('base64url'), 'org_a')).toThrow();
    }
  });
});
