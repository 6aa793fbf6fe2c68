import type { Fault } from '../src/errors/fault.ts';
import type { ErrorRule } from '../src/upstreams/transport/errors/rule.ts';
import { ERROR_RULES } from '../src/upstreams/transport/errors/table.ts';

/** An error payload of the tests. */
interface Payload {
  readonly status: number;
  readonly body: object | string;
  readonly fault: Fault;
  readonly source?: string;
}

/** The payloads of one vendor. */
interface VendorPayloads {
  readonly vendor: string;
  readonly source: string;
  readonly payloads: readonly Payload[];
}

const MAX_BODY_CHARS = 110;

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
export function upstreamErrorsPage(vendors: readonly VendorPayloads[]): string {
  const payloads = vendors.flatMap((vendor) => vendor.payloads);
  return [
    HEAD,
    '## The table\n',
    '| vendor | class | codes and words | source |\n|---|---|---|---|',
    ...ruleLines(),
    `\n## The ${payloads.length} payloads of the test\n`,
    '| vendor | status | payload | class | source |\n|---|---|---|---|---|',
    ...vendors.flatMap(({ vendor, source, payloads: own }) =>
      own.map((each) => payloadLine(vendor, each, source)),
    ),
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
  { status, body, fault, source }: Payload,
  own: string,
): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const shown = text.length > MAX_BODY_CHARS ? `${text.slice(0, MAX_BODY_CHARS)}…` : text;
  return `| ${vendor} | ${status} | ${literal(shown)} | ${fault} | ${cell(source ?? own)} |`;
}

const cell = (text: string) => text.replaceAll('|', '\\|');
/** A literal of a table's cell. */
const literal = (text: string) =>
  text === '' ? '(empty)' : `\`${cell(text).replaceAll('`', "'").replaceAll('\n', ' ')}\``;
