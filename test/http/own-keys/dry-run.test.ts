/** `POST /v1/operator/dry-run` for keys of an organization that has own keys of providers. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { OperatorClient } from '../../support/operator-client.ts';
import { type Owner, OwnKeysWorld } from '../../support/own-keys-world.ts';

setDefaultTimeout(90_000);

interface Plan {
  model: string | null;
  price: { max_charge_usd: number } | null;
  refusal: { code: string; param: string | null } | null;
  channels: { id: string; place: number; first_share: number; max_cost_usd: number | null }[];
  others: { id: string; reason: string; error: { param: string } | null }[];
}

let world: OwnKeysWorld;
beforeAll(async () => {
  world = await OwnKeysWorld.start({ fee_share: 0.25 });
});
afterAll(() => world.stop());
afterEach(() => world.clear());

const dryRuns = new OperatorClient<Plan>('dry-run', () => world.weir);
const CHAT = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 };
const EMBEDDING = { model: 'text-embedding-3-small', input: 'hello' };
const VIDEO = { model: 'kling-3.0', prompt: 'a fox', duration: 5 };
const KLING = () => ({ protocol: 'kling', base_url: `${world.simulator.url}/kling` });

const CALLS: [path: string, body: { model: string }, platform: string, account: () => object][] = [
  ['/v1/chat/completions', CHAT, 'platform-openai', () => ({})],
  ['/v1/embeddings', EMBEDDING, 'platform-openai', () => ({})],
  ['/v1/videos/generations', VIDEO, 'platform-kling', KLING],
];

const plan = (path: string, body: object, owner: Owner = world.home) =>
  dryRuns.ask('POST', '', { api_key_id: owner.key_id, path, body });
const add = async (body: { model: string }, account: () => object, more: object = {}) => {
  const models = { [body.model]: `own-${body.model}` };
  return `own:${(await world.add({ ...account(), models, ...more })).id}`;
};
const reasonOf = ({ others }: Plan, id: string) => others.find((each) => each.id === id)?.reason;

test.each(CALLS)(
  '%s with only own keys: no other channel',
  async (path, body, platform, account) => {
    const at_list = await plan(path, body, world.away);
    const [low, high] = [await add(body, account, { priority: 1 }), await add(body, account)];
    const shown = await plan(path, body);
    expect(shown.refusal).toBeNull();
    expect(shown.channels).toMatchObject([
      {
        id: high,
        place: 1,
        first_share: 1,
        upstream_model: `own-${body.model}`,
        max_cost_usd: null,
      },
      { id: low, place: 2, first_share: 0, max_cost_usd: null },
    ] as object);
    expect(reasonOf(shown, platform)).toBe('own_keys_only');
    const max = at_list.price?.max_charge_usd ?? 0;
    expect(max).toBeGreaterThan(0);
    // The fee is rounded up to a nano-USD.
    expect(Math.abs((shown.price?.max_charge_usd ?? 0) - max / 4)).toBeLessThan(2e-9);
    // Another organization's plan has none of it.
    const other = await plan(path, body, world.away);
    expect(other.channels.map(({ id }) => id)).toEqual([platform]);
    expect(JSON.stringify(other)).not.toContain(high);
  },
);

test.each(CALLS)(
  '%s with own keys first: the platform after them',
  async (path, body, platform, account) => {
    const at_list = await plan(path, body, world.away);
    const own = await add(body, account);
    await world.choose('first');
    const shown = await plan(path, body);
    expect(shown.channels).toMatchObject([
      { id: own, first_share: 1, max_cost_usd: null },
      { id: platform, place: 2, first_share: 0, max_cost_usd: at_list.price?.max_charge_usd },
    ] as object);
    expect(shown.price?.max_charge_usd).toBe(at_list.price?.max_charge_usd as number);
  },
);

test('what an own key cannot express goes to the platform only if it may take over', async () => {
  const [path, , , account] = CALLS[0] as (typeof CALLS)[number];
  const body = { ...CHAT, logprobs: true };
  const anthropic = () => ({
    ...account(),
    ...{ protocol: 'anthropic', base_url: `${world.simulator.url}/anthropic` },
  });
  const own = await add(body, anthropic);
  const alone = await plan(path, body);
  expect([alone.channels, alone.refusal?.param]).toEqual([[], 'logprobs']);
  expect(alone.others.find(({ id }) => id === own)).toMatchObject({
    ...{ reason: 'cannot_express', error: { param: 'logprobs' } },
  });
  const response = await world.chat({ logprobs: true });
  expect([response.status, await response.text()]).toEqual([
    ...[400, expect.stringContaining('logprobs')],
  ]);
  await world.choose('first');
  const both = await plan(path, body);
  expect([both.refusal, both.channels.map(({ id }) => id)]).toEqual([null, ['platform-openai']]);
  const taken = await world.chat({ logprobs: true });
  await taken.text();
  expect((await world.lineOf(taken)).access_channel).toBe('platform');
});
