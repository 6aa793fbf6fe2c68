import { LEFT_OUT } from '../src/catalogue/left-out.ts';
import { LEFT_OUT_REASONS, type LeftOut } from '../src/catalogue/left-out-entry.ts';

/** The text of `docs/left-out.md`, from the list of parameters that Weir takes and does not send. */
export function leftOutPage(): string {
  const routes = [...new Set(LEFT_OUT.flatMap((entry) => entry.routes))];
  return [INTRODUCTION, ...routes.map(section)].join('\n');
}

const reasons = Object.entries(LEFT_OUT_REASONS).map(([name, why]) => `- **${name}**: ${why}.`);

const INTRODUCTION = `# Parameters that are taken and left out

\`\`\`console
$ curl -s localhost:3000/v1/embeddings -H "Authorization: Bearer $WEIR_KEY" -H 'Content-Type: application/json' \\
    -d '{"model":"text-embedding-ada-002","input":"Hello","dimensions":8}'
{"error":{"message":"text-embedding-ada-002 does not take dimensions.",…,"param":"dimensions",…}}
\`\`\`

A parameter that Weir accepts reaches the upstream. What a model cannot do is refused with the client's own name for it.
This page lists all exceptions of calls, and [the catalogue](catalogue.md#what-is-taken-and-left-out) those of
generations. None of them moves a price. The reasons:

${reasons.join('\n')}

Printed from [left-out.ts](../src/catalogue/left-out.ts) by \`bun run protocols\`. The tests
\`test/http/taken-is-sent.test.ts\` and \`test/http/taken-is-sent-direct.test.ts\` call every route with every parameter
of the vendors' SDKs and look at what the upstream received.
`;

function section(route: string): string {
  const rows = LEFT_OUT.filter(({ routes }) => routes.includes(route)).map(
    (entry) =>
      `| \`${entry.param}\` | ${valuesOf(entry)} | ${upstreamsOf(entry)} | ${entry.reason} | ${entry.why} |`,
  );
  return [
    `## \`POST ${route}\``,
    '',
    '| parameter | values | not sent to upstreams of | reason | what happens |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function valuesOf({ values }: LeftOut): string {
  return values ? values.map((value) => `\`${JSON.stringify(value)}\``).join(', ') : 'all';
}

function upstreamsOf({ routes, upstreams, reason }: LeftOut): string {
  if (upstreams) return upstreams.join(', ');
  const isChat = routes.some((route) => !route.startsWith('/v1/audio') && route !== '/v1/rerank');
  return isChat && reason !== 'own' ? 'another format' : 'any format';
}
