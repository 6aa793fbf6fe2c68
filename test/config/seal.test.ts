import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { seal, unseal } from '../../src/config/seal.ts';

const key = randomBytes(32);

describe('a sealed secret', () => {
  test('opens with its key and its context, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (plain, context) => {
        expect(unseal(key, seal(key, plain, context), context)).toBe(plain);
      }),
    );
  });

  test('P6: says nothing of what is in it, and is another one each time', () => {
    const plain = 'whsec_0123456789';
    const [first, second] = [seal(key, plain, 'org'), seal(key, plain, 'org')];
    expect(first).not.toBe(second);
    expect(Buffer.from(first, 'base64url').toString('latin1')).not.toContain('0123');
  });

  test('stays shut for another key, another organization, and once a byte is changed', () => {
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
