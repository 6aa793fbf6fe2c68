import { callersOf } from './callers.ts';
import { type Parameter, parametersOf } from './parameters.ts';
import { type ReferencePage, type ReferenceRoute, titleOf } from './route.ts';
import { REFERENCE_PAGES } from './routes.ts';
import { typeText } from './type-text.ts';

/** The text of `docs/reference.md`: how to call the API, and a list of all routes. */
export function referenceIndex(): string {
  return [INTRODUCTION, ...REFERENCE_PAGES.flatMap(listOf)].join('\n');
}

/** The text of `docs/reference/{slug}.md`: each route of a page with its parameters. */
export function referencePage(page: ReferencePage): string {
  return [
    `# ${page.title}\n`,
    `${page.says} How to send a credential, and what errors are: [API reference](../reference.md).\n`,
    ...page.routes.flatMap((route) => section(page, route)),
  ].join('\n');
}

const INTRODUCTION = `# API reference

\`\`\`console
$ curl -s localhost:3000/v1/management/requests -H "Authorization: Bearer $WEIR_MANAGEMENT_TOKEN"
$ curl -s localhost:3000/openapi.json      # all of this as an OpenAPI 3.1 document
\`\`\`

Every route of Weir with its parameters, printed from the schemas with which the routes check a request
(\`bun run reference\`). A test compares this page with the routes that the server serves.

| credential | where it stands | what it is good for |
|---|---|---|
| API key, \`sk-…\` | \`Authorization: Bearer\`; also \`x-api-key\` and \`x-goog-api-key\` on routes in the form of Anthropic and Google | calls, generations, tasks |
| management token, \`mt-…\` | \`Authorization: Bearer\` | one organization, within the [scopes](access.md) of the token |
| operator token, \`op-…\` | \`Authorization: Bearer\` | the installation |
| session of a person | a cookie that [sign-in](reference/sign-in.md) sets; \`weir-organization\` names the organization of a person who is in several | what the [role](access.md) allows; calls with the header \`weir-key: <id of an API key>\` |

- Nearly every route refuses a parameter that its table lacks, and the error names it. Bodies of chat, messages, responses and
  Google's methods are the exception: they go on to the provider with all members ([what is taken](protocols.md), [what is left out](left-out.md)).
- An error has the form of the route's vendor, with \`message\`, \`code\`, \`param\`, a \`hint\` and the request id.
- Every answer has \`x-request-id\`. \`GET /v1/management/requests/{id}\` explains the call with this id.
`;

/** The address of a heading, as GitHub and the dashboard make it. */
const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

function listOf({ slug, title, says, routes }: ReferencePage): string[] {
  return [
    `## [${title}](reference/${slug}.md)\n`,
    `${says}\n`,
    '| route | what it does |',
    '|---|---|',
    ...routes.map((route) => {
      const heading = titleOf(route);
      return `| [\`${heading}\`](reference/${slug}.md#${anchorOf(heading)}) | ${route.says} |`;
    }),
    '',
  ];
}

function section(page: ReferencePage, route: ReferenceRoute): string[] {
  const parameters = parametersOf(page, route);
  return [
    `## \`${titleOf(route)}\`\n`,
    `${route.says}${route.more === undefined ? '' : ` ${route.more}`}\n`,
    `Who may call it: ${callersOf(route)}${formsOf(route)}\n`,
    ...(parameters.length === 0
      ? []
      : [
          '| name | in | type and bounds | what it is |',
          '|---|---|---|---|',
          ...parameters.map(rowOf),
          '',
        ]),
  ];
}

/** What a body and an answer are, if they are not JSON. */
function formsOf({ body_types, body_optional, answer }: ReferenceRoute): string {
  const body = body_types ? ` The body is ${body_types.map(code).join(' or ')}.` : '';
  const none = body_optional ? ' The body may be missing.' : '';
  return `${body}${none}${answer === undefined ? '' : ` The answer is ${code(answer)}.`}`;
}

const code = (text: string) => `\`${text}\``;

function rowOf({ name, in: at, schema, required, says }: Parameter): string {
  const need = required && at !== 'path' ? '; required' : '';
  return `| \`${name}\` | ${at} | ${typeText(schema)}${need} | ${says} |`;
}
