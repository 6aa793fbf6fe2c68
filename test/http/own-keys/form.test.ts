/** The form of own keys in the dashboard knows what the API knows. */
import { expect, test } from 'bun:test';
import { OPERATED_PROTOCOLS } from '../../../src/inference/probing/account.ts';
import { CHANNEL_PROTOCOLS } from '../../../src/protocols/names.ts';
import { PROTOCOLS } from '../../../web/pages/access/upstream-keys/protocols.ts';

test('the form has every protocol of channels once, and asks for an address if Weir knows none', () => {
  const names = PROTOCOLS.map(({ protocol }) => protocol);
  expect(names.toSorted()).toEqual(CHANNEL_PROTOCOLS.toSorted());
  const known = PROTOCOLS.filter(({ address }) => address === undefined);
  expect(known.map(({ protocol }) => protocol).sort()).toEqual(OPERATED_PROTOCOLS.toSorted());
});
