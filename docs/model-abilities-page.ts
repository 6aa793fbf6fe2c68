/** The part of `docs/protocols.md` about models, printed from `abilities` in `catalogue/chat.json`. */
import type { Abilities } from '../src/catalogue/abilities.ts';
import { builtInModels } from '../src/catalogue/built-in.ts';
import { CHAT_PROTOCOLS } from '../src/protocols/names.ts';

const WHEN = { always: 'yes', without_reasoning: 'without reasoning', never: '400' };
const SCHEMAS: Record<Abilities['json_schema'], string> = {
  always: 'yes',
  without_tools: 'with tools: by an instruction',
  unreliable: 'by an instruction',
  never: 'by an instruction',
};

interface Row {
  readonly id: string;
  readonly abilities: Abilities;
  readonly max_output_tokens: number | undefined;
}

/** What each chat model of the catalogue takes of a translated request. */
export function abilitiesSection(): string {
  const rows = builtInModels().flatMap(({ id, abilities, max_output_tokens }): Row[] =>
    abilities ? [{ id, abilities, max_output_tokens }] : [],
  );
  return [
    REASONING,
    table(rows, reasoningCells),
    MEDIA,
    table(rows, mediaCells),
    '',
    ...differences(rows),
  ].join('\n');
}

function table(rows: readonly Row[], cells: (row: Row) => readonly string[]): string {
  return rows.map((row) => `| \`${row.id}\` | ${cells(row).join(' | ')} |`).join('\n');
}

function reasoningCells({ abilities }: Row): readonly string[] {
  const { reasoning, sampling, forced_tools, prefill } = abilities;
  const { form, efforts, min_budget_tokens = 0, max_budget_tokens, can_be_off } = reasoning;
  const most = max_budget_tokens === undefined ? 'the output limit' : max_budget_tokens;
  const how = {
    none: '–',
    effort: `effort: ${efforts?.join(', ')}`,
    adaptive: `adaptive: ${efforts?.join(', ')}`,
    level: `level: ${efforts?.join(', ')}`,
    budget: `budget: ${min_budget_tokens} to ${most} tokens`,
  }[form];
  const off = form === 'none' ? '–' : can_be_off ? 'yes' : 'the least';
  return [how, off, WHEN[sampling], WHEN[forced_tools], prefill ? 'yes' : '400'];
}

function mediaCells({ abilities, max_output_tokens }: Row): readonly string[] {
  const { images, documents, audio_input, audio_output, signatures } = abilities;
  return [
    String(max_output_tokens ?? '–'),
    abilities.strict_tools ? 'yes' : 'without `strict`',
    SCHEMAS[abilities.json_schema],
    kinds(images.inline),
    kinds(images.by_url),
    kinds(documents.inline),
    kinds(documents.by_url),
    kinds(audio_input),
    audio_output ? 'yes' : '400',
    `${signatures.maker === 'none' ? '–' : signatures.maker}${signatures.needed ? ', needed' : ''}`,
  ];
}

const kinds = (list: readonly string[]) => (list.length > 0 ? list.join(', ') : '400');

/** The differences on channels of a protocol: one line for the models that share them. */
function differences(rows: readonly Row[]): string[] {
  return CHAT_PROTOCOLS.flatMap((protocol) => {
    const models = new Map<string, string[]>();
    for (const { id, abilities } of rows) {
      const text = differenceOf(abilities, abilities.on?.[protocol]);
      if (text !== '') models.set(text, [...(models.get(text) ?? []), `\`${id}\``]);
    }
    return [...models].map(
      ([text, ids]) => `- On channels of \`${protocol}\`, ${text}: ${ids.join(', ')}.`,
    );
  }).concat('');
}

function differenceOf(
  usual: Abilities,
  on: NonNullable<Abilities['on']>[keyof NonNullable<Abilities['on']>] = {},
): string {
  const { strict_tools, json_schema, reasoning_with_tools, images, documents } = on;
  const urls = (
    name: string,
    media: Abilities['images'] | undefined,
    before: Abilities['images'],
  ) =>
    media && media.by_url.join() !== before.by_url.join()
      ? [`${name} by URL: ${kinds(media.by_url)}`]
      : [];
  const inline = (
    name: string,
    media: Abilities['images'] | undefined,
    before: Abilities['images'],
  ) =>
    media && media.inline.join() !== before.inline.join()
      ? [`inline ${name}: ${kinds(media.inline)}`]
      : [];
  return [
    ...(reasoning_with_tools === false ? ['no reasoning with tools'] : []),
    ...(strict_tools === false ? ['tools without `strict`'] : []),
    ...(json_schema ? [`schemas ${SCHEMAS[json_schema]}`] : []),
    ...inline('images', images, usual.images),
    ...urls('images', images, usual.images),
    ...inline('documents', documents, usual.documents),
    ...urls('documents', documents, usual.documents),
  ].join('; ');
}

const REASONING = `## What each model takes of a translated request

The cells above are about protocols. Models of one protocol differ too. Weir writes reasoning in the form of the model:
an effort that it lacks becomes the next lower one, or its least; a budget becomes an effort, and the reverse. If a
model cannot switch reasoning off, it reasons the least. Efforts that are no word of the client's protocol are refused
by name. A model that does not reason refuses a request for reasoning by name; only \`output_config.effort\` and adaptive
thinking of messages are left out. A \`temperature\` or \`top_p\` of 1 is the default, so every model takes it.
The data with their sources are \`abilities\` in [chat.json](../catalogue/chat.json). A model of your own in \`weir.yaml\`
has none unless you declare them; then its upstream refuses what it lacks.

| model | reasoning | off | other temperature, top_p, top_k | forced tools | prefill |
|---|---|---|---|---|---|`;

const MEDIA = `
### Output limits, schemas, media and signatures

- **longest answer**: tokens. A translated request with a larger limit gets this limit, because clients of other vendors
  send their own maximum, and no answer is longer. A request that passes through keeps its limit; the vendor refuses
  a larger one by name.
- **strict tools**, **JSON schema**: whether the model itself keeps them. An instruction in the system prompt replaces a
  schema or JSON mode that the model does not take.
- **images**, **documents**, **audio**: the types that the model takes, inline and by URL. \`text\` is any text, also JSON
  and XML. A text document becomes text for a model that takes no text documents. Everything else is refused by the
  client's name for it. The provider fetches a URL; Weir does not. Gemini needs the type of a file at a URL: Weir takes it
  from the request or from the ending of the URL's path.
- **signatures**: whose signatures of reasoning the model takes in later requests; those of others are dropped. Where they
  are needed, calls without one get the value that Gemini accepts in its place, and a Claude that thinks with a
  budget goes on without thinking until its tools have answered.

| model | longest answer | strict tools | JSON schema | images | images by URL | documents | documents by URL | audio in | audio out | signatures |
|---|---|---|---|---|---|---|---|---|---|---|`;
