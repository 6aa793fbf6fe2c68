import { describe, expect, test } from 'bun:test';
import { Connections, connectionsTo, KEPT_CONNECTIONS } from '../../src/upstreams/connections.ts';

describe('the connections to an upstream', () => {
  test('are opened at once while none come back', () => {
    const connections = new Connections();
    for (let n = 0; n < 10 * KEPT_CONNECTIONS; n += 1) {
      expect(connections.take()).toBeUndefined();
    }
  });

  test('are used again without a wait, as many as are kept', () => {
    const connections = new Connections();
    for (let n = 0; n < 2 * KEPT_CONNECTIONS; n += 1) connections.giveBack(true);
    for (let n = 0; n < KEPT_CONNECTIONS; n += 1) expect(connections.take()).toBeUndefined();
    expect(connections.take()).toBeInstanceOf(Promise);
  });

  test('go to who waits longest', async () => {
    const connections = new Connections();
    connections.giveBack(true);
    connections.take();
    const order: number[] = [];
    const waits = [1, 2].map((n) => connections.take()?.then(() => order.push(n)));
    connections.giveBack(true);
    await waits[0];
    expect(order).toEqual([1]);
    connections.giveBack(true);
    await Promise.all(waits);
    expect(order).toEqual([1, 2]);
  });

  test('are waited for no longer than opening one would take', async () => {
    const connections = new Connections();
    connections.giveBack(true);
    connections.take();
    // Nobody gives one back, and still the call goes on.
    await connections.take();
  });

  test('that were cut serve nobody', () => {
    const connections = new Connections();
    connections.giveBack(false);
    expect(connections.take()).toBeUndefined();
    connections.giveBack(true);
    connections.take();
    connections.giveBack(false);
    expect(connections.take()).toBeInstanceOf(Promise);
  });

  test('belong to one upstream', () => {
    expect(connectionsTo('http://a')).toBe(connectionsTo('http://a'));
    expect(connectionsTo('http://a')).not.toBe(connectionsTo('http://b'));
  });
});
