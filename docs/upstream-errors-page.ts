import type { ErrorRule } from '../src/upstreams/transport/errors/rule.ts';
import { ERROR_RULES } from '../src/upstreams/transport/errors/table.ts';
import {
  type ErrorPayload,
  isProved,
  type VendorErrors,
} from '../test/upstreams/transport/errors/payload.ts';

const MAX_BODY_CHARS = 110;
const PAYLOAD_HEAD = '| vendor | status | payload | class | source |\n|---|---|---|---|---|';

const HEAD = `# What errors of providers mean

An error of a provider is the client's fault only with proof. Weir looks for the proof in the codes and the words of the
error, by the table below. Every other error tries the next channel.

| class | whose fault | what Weir does |
|---|---|---|
| caller | the client's request is wrong | the client gets the error; no other channel is tried |
| account | the key, the money or the rights of the operator's account | the channel is disabled until a probe succeeds |
| throttle | the account sent too many requests | the channel gets no call for the time that the provider requests |
| overload | the provider has no capacity | the next channel is tried; the failure counts |
| broken | the provider or the channel's configuration does not work | the next channel is tried; the failure counts |
| unclear | nothing is proven | the next channel is tried; the failure does not count |

If no code and no words are known, the status decides: 401, 402 and 407 are \`account\`, 429 is \`throttle\`, 503 and 529
are \`overload\`, all other 5xx are \`broken\`. Statuses 400, 409, 413, 415 and 422 are \`caller\` if the error names a
parameter that the client can set. Status 404 is \`caller\` if the error names an id of the client's request.

Printed from [the table](../src/upstreams/transport/errors/table.ts) and
[the payloads of its test](../test/upstreams/transport/errors/payloads.test.ts) by \`bun run errors\`.
`;

/** Returns `docs/upstream-errors.md`. */
export function upstreamErrorsPage(vendors: readonly VendorErrors[]): string {
  const lines = vendors.flatMap((each) =>
    each.payloads.map((payload) => {
      const source = payload.source ?? each.source;
      return { isProved: isProved(source), line: payloadLine(each.vendor, payload, source) };
    }),
  );
  const proved = lines.filter((each) => each.isProved);
  const unproved = lines.filter((each) => !each.isProved);
  return [
    HEAD,
    '## The table\n',
    '| vendor | class | codes and words | source |\n|---|---|---|---|',
    ...ruleLines(),
    `\n## ${proved.length} proved payloads\n`,
    [
      'Each of these payloads was read at its source. Ids and numbers may differ. A source may print only a part',
      "of the error, e.g. its words. The status and the type then come from the vendor's documentation, its SDK",
      'or its other errors.\n',
    ].join('\n'),
    PAYLOAD_HEAD,
    ...proved.map(({ line }) => line),
    `\n## ${unproved.length} unproved payloads\n`,
    'Weir classes these payloads too, but they were not read at a source that can be opened again.\n',
    PAYLOAD_HEAD,
    ...unproved.map(({ line }) => line),
    '',
  ].join('\n');
}

/** One line for all rules that differ only in their code or words. */
function ruleLines(): string[] {
  const groups = new Map<string, ErrorRule[]>();
  for (const rule of ERROR_RULES) {
    const { vendor, fault, source, statuses, at, error_id } = rule;
    const name = JSON.stringify([vendor, fault, source, statuses, at, error_id]);
    groups.set(name, [...(groups.get(name) ?? []), rule]);
  }
  return [...groups.values()].map((rules) => {
    const [{ vendor, fault, source, statuses, at, error_id } = {} as ErrorRule] = rules;
    const where = [
      at === undefined ? '' : ` in \`${at}\``,
      statuses === undefined ? '' : ` with ${statuses.join(', ')}`,
      error_id === undefined ? '' : ` → \`${error_id}\``,
    ].join('');
    const what = rules.map(({ code, words }) => literal(code ?? String(words))).join(' ');
    return `| ${vendor} | ${fault} | ${what}${where} | ${cell(source)} |`;
  });
}

function payloadLine(
  vendor: string,
  { status, body, fault }: ErrorPayload,
  source = 'none',
): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const shown = text.length > MAX_BODY_CHARS ? `${text.slice(0, MAX_BODY_CHARS)}…` : text;
  return `| ${vendor} | ${status} | ${literal(shown)} | ${fault} | ${cell(source)} |`;
}

const cell = (text: string) => text.replaceAll('|', '\\|');
/** A literal of a table's cell. */
const literal = (text: string) =>
  text === '' ? '(empty)' : `\`${cell(text).replaceAll('`', "'").replaceAll('\n', ' ')}\``;
