import { BUILT_IN_DEFAULTS, builtInModels } from '../src/catalogue/built-in.ts';
import { DIRECT_CONTRACTS } from '../src/catalogue/contracts/direct.ts';
import { contractOf, offersOf } from '../src/catalogue/contracts/families.ts';
import {
  DIRECT_OPERATIONS,
  FAMILIES,
  FAMILY_PROTOCOLS,
  type Family,
  isChatFamily,
  isDirectFamily,
} from '../src/catalogue/families.ts';
import type { ModelDeclaration, PriceDeclaration } from '../src/catalogue/schema.ts';

/** The page, made from the catalogue and its contracts. */
export function cataloguePage(): string {
  const models = builtInModels();
  const byFamily = FAMILIES.map((family) => ({
    family,
    models: models.filter((model) => model.family === family),
  }));
  return [
    introduction(models),
    ...byFamily.flatMap(({ family, models }) => section(family, models)),
    RULES,
  ].join('\n');
}

function introduction(models: readonly ModelDeclaration[]): string {
  const categories = new Map<string, number>();
  for (const { category } of models) categories.set(category, (categories.get(category) ?? 0) + 1);
  const counts = [...categories].map(([category, count]) => `${count} ${category}`).join(', ');
  const defaults = Object.entries(BUILT_IN_DEFAULTS)
    .map(([scene, id]) => `${scene} \`${id}\``)
    .join(', ');
  return `# The catalogue

\`\`\`console
$ curl -s 'localhost:3000/v1/models?category=3d' -H "Authorization: Bearer $WEIR_KEY"
$ curl -s 'localhost:3000/v1/models?recommended_for=image' -H "Authorization: Bearer $WEIR_KEY"   # the best now first
$ curl -s localhost:3000/v1/models/veo-3.1 -H "Authorization: Bearer $WEIR_KEY"                   # price, contract, rules
\`\`\`

The models that Weir knows by itself, by family: ${counts}. A family's models share one contract; a channel
of any protocol beside it can serve them. Clients see those that a channel serves. Yours are declared in
[weir.yaml](operations.md#weiryaml). A create call that names no model means ${defaults}.

This page is printed from \`catalogue/\` and \`src/catalogue/\`; a test compares it (\`bun run catalogue\`).
`;
}

function section(family: Family, models: readonly ModelDeclaration[]): string[] {
  return [
    `## ${family}\n`,
    `Channels: ${FAMILY_PROTOCOLS[family].map((each) => `\`${each}\``).join(', ')}.`,
    `${parametersOf(family, models)}\n`,
    '| model | other names | price, USD | from |\n|---|---|---|---|',
    ...models.map(
      ({ id, aliases = [], price, pricing_provenance }) =>
        `| \`${id}\` | ${aliases.map((each) => `\`${each}\``).join(', ')} | ${priceOf(price)} | ` +
        `${pricing_provenance?.source ?? ''}, ${pricing_provenance?.date ?? ''} |`,
    ),
    rulesOf(family, models),
  ];
}

/** What every model of the family takes, and what only some take. */
function parametersOf(family: Family, models: readonly ModelDeclaration[]): string {
  if (isChatFamily(family)) return 'Takes what its protocol has ([protocols](protocols.md)).';
  if (isDirectFamily(family)) {
    const { schema, operations } = DIRECT_CONTRACTS[DIRECT_OPERATIONS[family]];
    return `Does ${operations.join(', ')}. Takes ${names(Object.keys(schema.properties))}.`;
  }
  const contracts = models.map((model) =>
    contractOf(family, model.id, offersOf(family, model.offers)),
  );
  const [first, ...others] = contracts.map(({ schema }) => Object.keys(schema.properties));
  const common = (first ?? []).filter((name) => others.every((each) => each.includes(name)));
  const some = [...new Set([first ?? [], ...others].flat())].filter(
    (name) => !common.includes(name),
  );
  const operations = [...new Set(contracts.flatMap((each) => each.operations))];
  return (
    (operations.length > 0 ? `Does ${operations.join(', ')}. ` : '') +
    `Takes ${names(common)}${some.length > 0 ? `; some ${names(some)}` : ''}.`
  );
}

function rulesOf(family: Family, models: readonly ModelDeclaration[]): string {
  if (isChatFamily(family) || isDirectFamily(family)) return '';
  const rules = new Set(
    models.flatMap((model) => contractOf(family, model.id, offersOf(family, model.offers)).rules),
  );
  return `\n${[...rules].map((rule) => `- ${rule}`).join('\n')}\n`;
}

const names = (all: readonly string[]) => all.map((each) => `\`${each}\``).join(', ');

const UNITS: Partial<Record<keyof PriceDeclaration, string>> = {
  input_usd_per_mtok: 'in',
  cached_input_usd_per_mtok: 'cached',
  cache_write_usd_per_mtok: 'cache write',
  cache_write_1h_usd_per_mtok: 'for an hour',
  image_input_usd_per_mtok: 'image in',
  output_usd_per_mtok: 'out',
  usd_per_mchar: 'a million characters',
  usd_per_image: 'an image',
  usd_per_further_megapixel: 'a further megapixel',
  usd_per_second: 'a second',
  usd_per_song: 'a song',
  usd_per_request: 'a request',
};

function priceOf(price: PriceDeclaration): string {
  const said = Object.entries(UNITS).flatMap(([member, unit]) => {
    const value = price[member as keyof PriceDeclaration];
    return typeof value === 'number' ? [`${value} ${unit}`] : [];
  });
  const isByToken =
    price.output_usd_per_mtok !== undefined || price.input_usd_per_mtok !== undefined;
  const long = price.long_context
    ? `; beyond ${price.long_context.above_input_tokens.toLocaleString('en')} tokens ` +
      `${price.long_context.input_usd_per_mtok} in, ${price.long_context.output_usd_per_mtok} out`
    : '';
  const tiers = price.tiers ? `; ${price.tiers.length} other prices by parameters` : '';
  return `${said.join(', ')}${isByToken ? ' a million tokens' : ''}${long}${tiers}`;
}

const RULES = `## What each rule of the specification became

| rule | became | shown by |
|---|---|---|
| Model catalogue: \`category\`, \`recommended_for\`; other values are refused by name | \`src/http/models/route.ts\` | \`test/http/models.test.ts\` |
| models by their success of 24 hours, those without enough outcomes last | \`src/catalogue/ranking.ts\` | \`test/actors/channels/ranking.test.ts\`, \`test/http/ranking.test.ts\` |
| hidden, deferred and misspelled models are answered alike | \`visibility\`, \`src/config/installation.ts\` | \`test/http/crawl.test.ts\` |
| Video 1: snake_case, and three camelCase aliases | \`src/catalogue/contracts/video.ts\`; both names with two values are refused | \`test/catalogue/video-contracts.test.ts\` |
| Video 2: nine pictures, three videos, three sounds as references | \`multimodal-reference-video\` | the same |
| Video 3: public URLs; inline data where a model takes some, never both in one request | \`src/catalogue/contracts/media.ts\`, \`inline_inputs\` | the same, \`test/catalogue/video-refusals.test.ts\` |
| Video 4: \`audio-to-video\` and \`video-extension\` are in the contract, and no model offers them | \`offers.operations\`: refused by name where a model has them not | the same |
| Video 5: operations of a model come from the catalogue; what is not said is inferred | \`src/catalogue/contracts/video-operations.ts\` | the same |
| Image 1: the token-priced model's own parameters, sizes and tokens; \`input_fidelity\` is taken out | \`token-priced-image\`, \`src/catalogue/contracts/image-size.ts\`, \`src/catalogue/image-tokens.ts\` | \`test/catalogue/image-contracts.test.ts\`, \`test/catalogue/generation-price.test.ts\` |
| Image 2: Gemini-type: ratio, resolution for the pro model, prompt only for the oldest; \`size\` is mapped | \`gemini-image\`, \`offers.resolutions\` | the same |
| Image 3: Grok-type; the legacy pro id is the quality model | \`grok-image\`, \`aliases\` | the same, \`test/http/models.test.ts\` |
| Image 4: Azure-type: \`response_format\` stays here; URLs are our own, Base64 is as it came | \`azure-images\`, \`src/http/images/route.ts\` | \`test/upstreams/generation\`, \`test/sdk\` |
| Image 5: a completed task has URLs only | \`src/http/tasks/answer.ts\` | \`test/http/task-answer.test.ts\` |
| Image 6: \`status: pending\`, whatever was asked | \`by_task\` | \`test/http/generation.test.ts\` |
| Image 7: classic, FLUX, Midjourney, Ideogram, Stable Diffusion | a family each | \`test/http/demo-generations.test.ts\` makes one of each model |
| Music: actions, titles, tags, continuation | \`suno-music\` | \`test/catalogue/music-contracts.test.ts\` |
| 3d and audio: categories without a route in the specification | \`POST /v1/3d/generations\`, \`/v1/audio/generations\`, tasks like the others | \`test/catalogue/solid-and-sound-contracts.test.ts\` |
| prices by what is used, with their source | \`price\`, \`pricing_provenance\` | \`test/catalogue/built-in.test.ts\` compares each with an independent list where one has it |
`;
