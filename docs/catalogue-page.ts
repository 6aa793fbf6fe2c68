import { BUILT_IN_DEFAULTS, builtInModels } from '../src/catalogue/built-in.ts';
import { type DirectContract, directContract } from '../src/catalogue/contracts/direct.ts';
import { contractOf, offersOf } from '../src/catalogue/contracts/families.ts';
import {
  GENERATION_LEFT_OUT,
  type LeftOutOfGeneration,
} from '../src/catalogue/contracts/left-out.ts';
import {
  FAMILIES,
  FAMILY_PROTOCOLS,
  type Family,
  isChatFamily,
  isDirectFamily,
} from '../src/catalogue/families.ts';
import type { ModelDeclaration, PriceDeclaration } from '../src/catalogue/schema.ts';

/** The text of `docs/catalogue.md`, from the catalogue and its contracts. */
export function cataloguePage(): string {
  const models = builtInModels();
  const byFamily = FAMILIES.map((family) => ({
    family,
    models: models.filter((model) => model.family === family),
  }));
  return [
    introduction(models),
    ...byFamily.flatMap(({ family, models }) => section(family, models)),
    leftOut(),
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
$ curl -s 'localhost:3000/v1/models?recommended_for=image' -H "Authorization: Bearer $WEIR_KEY"   # by current success rate
$ curl -s 'localhost:3000/v1/models?callable=true' -H "Authorization: Bearer $WEIR_KEY"           # what this key may call now
$ curl -s localhost:3000/v1/models/veo-3.1 -H "Authorization: Bearer $WEIR_KEY"                   # price, contract, rules
\`\`\`

Weir's built-in models, by family: ${counts}. All models of a family share one contract. A channel can serve
them if its protocol is listed with the family. Clients see a model if a channel serves it. Declare your own models in
[weir.yaml](operations.md#weiryaml). If a create call names no model, Weir uses ${defaults}.

This page is printed from \`catalogue/\` and \`src/catalogue/\`; a test compares it (\`bun run catalogue\`).
`;
}

function section(family: Family, models: readonly ModelDeclaration[]): string[] {
  return [
    `## ${family}\n`,
    `Channels: ${FAMILY_PROTOCOLS[family].map((each) => `\`${each}\``).join(', ')}.`,
    `${parametersOf(family, models)}\n`,
    '| model | aliases | price, USD | source |\n|---|---|---|---|',
    ...models.map(
      ({ id, aliases = [], price, pricing_provenance }) =>
        `| \`${id}\` | ${aliases.map((each) => `\`${each}\``).join(', ')} | ${priceOf(price)} | ` +
        `${sourceOf(pricing_provenance)} |`,
    ),
    rulesOf(family, models),
  ];
}

/** The parameters of all models of the family, and those of some of them only. */
function parametersOf(family: Family, models: readonly ModelDeclaration[]): string {
  if (isChatFamily(family))
    return 'Takes the parameters of its protocol ([protocols](protocols.md)).';
  if (isDirectFamily(family)) {
    return parametersIn(models.map((model) => directContract(family, model)));
  }
  return parametersIn(
    models.map((model) => contractOf(family, model.id, offersOf(family, model.offers))),
  );
}

function parametersIn(contracts: readonly Pick<DirectContract, 'schema' | 'operations'>[]): string {
  const [first, ...others] = contracts.map(({ schema }) => Object.keys(schema.properties));
  const common = (first ?? []).filter((name) => others.every((each) => each.includes(name)));
  const some = [...new Set([first ?? [], ...others].flat())].filter(
    (name) => !common.includes(name),
  );
  const operations = [...new Set(contracts.flatMap((each) => each.operations))];
  return (
    (operations.length > 0 ? `Operations: ${operations.join(', ')}. ` : '') +
    `Parameters: ${names(common)}${some.length > 0 ? `; of some models only: ${names(some)}` : ''}.`
  );
}

function rulesOf(family: Family, models: readonly ModelDeclaration[]): string {
  if (isChatFamily(family)) return '';
  const rules = new Set(
    models.flatMap((model) =>
      isDirectFamily(family)
        ? directContract(family, model).rules
        : contractOf(family, model.id, offersOf(family, model.offers)).rules,
    ),
  );
  if (rules.size === 0) return '';
  return `\n${[...rules].map((rule) => `- ${rule}`).join('\n')}\n`;
}

const LEFT_OUT_KINDS: Record<LeftOutOfGeneration['kind'], string> = {
  specification: 'the specification',
  answered: 'Weir itself',
  hint: 'a hint',
};

/** The list of parameters that a call may have although they do not reach the upstream. */
function leftOut(): string {
  const rows = GENERATION_LEFT_OUT.map(({ parameter, scenes, families, values, kind, reason }) => {
    const of = families ? names(families) : scenes.join(', ');
    const which = values?.map((value) => `\`${String(value)}\``).join(', ') ?? 'all';
    return `| \`${parameter}\` | ${which} | ${of} | ${LEFT_OUT_KINDS[kind]} | ${reason} |`;
  });
  return `## What is taken and left out

Every parameter of a generation reaches the provider, or the call is refused and the error names the parameter. If
the parameter is a typing error, the hint names the one that was meant. A model that is served over several protocols
uses only the channels whose provider can get all parameters of a call
([sent-parameters.ts](../src/upstreams/generation/sent-parameters.ts)). These parameters may be left out. They never
move a price.

| parameter | values | of | because of | reason |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

/** The source of a price as clients see it, its date, and how it was checked. */
function sourceOf(provenance: ModelDeclaration['pricing_provenance']): string {
  if (!provenance) return '';
  const { source, date, note } = provenance;
  return `${source}, ${date}${note ? ` (${note})` : ''}`;
}

const names = (all: readonly string[]) => all.map((each) => `\`${each}\``).join(', ');

const UNITS: Partial<Record<keyof PriceDeclaration, string>> = {
  input_usd_per_mtok: 'in',
  cached_input_usd_per_mtok: 'cached',
  cache_write_usd_per_mtok: 'cache write',
  cache_write_1h_usd_per_mtok: 'cache write for an hour',
  audio_input_usd_per_mtok: 'audio in',
  cached_audio_input_usd_per_mtok: 'cached audio',
  image_input_usd_per_mtok: 'image in',
  output_usd_per_mtok: 'out',
  usd_per_mchar: 'per million characters',
  usd_per_image: 'per image',
  usd_per_further_megapixel: 'per further megapixel',
  usd_per_second: 'per second',
  usd_per_song: 'per song',
  usd_per_request: 'per request',
};

function priceOf(price: PriceDeclaration): string {
  const prices = Object.entries(UNITS).flatMap(([member, unit]) => {
    const value = price[member as keyof PriceDeclaration];
    return typeof value === 'number' ? [`${value} ${unit}`] : [];
  });
  const isByToken =
    price.output_usd_per_mtok !== undefined || price.input_usd_per_mtok !== undefined;
  const long = price.long_context
    ? `; above ${price.long_context.above_input_tokens.toLocaleString('en')} tokens ` +
      `${price.long_context.input_usd_per_mtok} in, ${price.long_context.output_usd_per_mtok} out`
    : '';
  const search =
    price.usd_per_web_search === undefined ? '' : `; ${price.usd_per_web_search} per web search`;
  const tiers = price.tiers ? `; ${price.tiers.length} other prices by parameters` : '';
  return `${prices.join(', ')}${isByToken ? ' per million tokens' : ''}${long}${search}${tiers}`;
}

const RULES = `## Where each rule of the specification is

| rule | where | tests |
|---|---|---|
| Model catalogue: \`category\`, \`recommended_for\`, \`callable\`; other values are refused | \`src/http/models/route.ts\` | \`test/http/models.test.ts\` |
| models are sorted by their success rate of 24 hours; those with too few outcomes come last | \`src/catalogue/ranking.ts\` | \`test/actors/channels/ranking.test.ts\`, \`test/http/ranking.test.ts\` |
| hidden, deferred and misspelled models give the same error | \`visibility\`, \`src/config/installation.ts\` | \`test/http/crawl.test.ts\` |
| Video 1: snake_case, and three camelCase aliases | \`src/catalogue/contracts/video.ts\`; a call with both names and different values is refused | \`test/catalogue/video-contracts.test.ts\` |
| Video 2: at most nine reference images, three videos, three audios | \`multimodal-reference-video\` | the same |
| Video 3: public URLs; inline data if the model supports it; never both in one request | \`src/catalogue/contracts/media.ts\`, \`inline_inputs\` | the same, \`test/catalogue/video-refusals.test.ts\` |
| Video 4: \`audio-to-video\` and \`video-extension\` are in the contract, but no model offers them | \`offers.operations\`: refused with the operation's name if the model does not offer it | the same |
| Video 5: a model's operations come from the catalogue; an omitted \`operation\` is inferred | \`src/catalogue/contracts/video-operations.ts\` | the same |
| Image 1: the token-priced model's own parameters, sizes and tokens; \`input_fidelity\` is removed | \`token-priced-image\`, \`src/catalogue/contracts/image-size.ts\`, \`src/catalogue/image-tokens.ts\` | \`test/catalogue/image-contracts.test.ts\`, \`test/catalogue/generation-price.test.ts\` |
| Image 2: Gemini-type: \`aspect_ratio\`; \`resolution\` for the pro model; the oldest model takes only a prompt; \`size\` is mapped | \`gemini-image\`, \`offers.resolutions\` | the same |
| Image 3: Grok-type; the legacy pro id is an alias of the quality model | \`grok-image\`, \`aliases\` | the same, \`test/http/models.test.ts\` |
| Image 4: Azure-type: \`response_format\` is not forwarded; URLs are Weir's own; Base64 is returned unchanged | \`azure-images\`, \`src/http/images/route.ts\` | \`test/upstreams/generation\`, \`test/sdk\` |
| Image 5: a completed task returns URLs only | \`src/http/tasks/answer.ts\` | \`test/http/task-answer.test.ts\` |
| Image 6: a model that works by task returns \`status: pending\`, even without \`async\` | \`by_task\` | \`test/http/generation.test.ts\` |
| Image 7: classic, FLUX, Midjourney, Ideogram, Stable Diffusion | one family each | \`test/http/demo-generations.test.ts\` creates one image with each model |
| Music: actions, titles, tags, continuation | \`suno-music\` | \`test/catalogue/music-contracts.test.ts\` |
| 3d and audio: categories without a route in the specification | \`POST /v1/3d/generations\`, \`/v1/audio/generations\`, which create tasks like the other routes | \`test/catalogue/solid-and-sound-contracts.test.ts\` |
| prices by usage, with their source | \`price\`, \`pricing_provenance\` | \`test/catalogue/built-in.test.ts\` compares each price with an independent list, if the list has it |
`;
