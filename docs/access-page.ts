import { ACTIONS, may, ROLES, SCOPES } from '../src/access/actions.ts';
import { MANAGEMENT_ROUTES } from '../src/http/route-actions.ts';

type Action = keyof typeof ACTIONS;

/** The text of `docs/access.md`: who may do what, from the table that the routes check. */
export function accessPage(): string {
  const actions = Object.keys(ACTIONS) as Action[];
  const heads = [...ROLES, ...SCOPES.map((scope) => `\`${scope}\``)];
  const rows = actions.map((action) => {
    const roles = ROLES.map((member_role) => may({ member_role }, action));
    const scopes = SCOPES.map((scope) => may({ scopes: [scope] }, action));
    const marks = [...roles, ...scopes].map((allowed) => (allowed ? '✓' : ''));
    return `| ${ACTIONS[action].says} | ${marks.join(' | ')} |`;
  });
  const routes = Object.entries(MANAGEMENT_ROUTES).map(
    ([route, action]) => `| \`${route.replace(/:(\w+)/g, '{$1}')}\` | ${ACTIONS[action].says} |`,
  );
  return [
    INTRODUCTION,
    `| action | ${heads.join(' | ')} |`,
    `|---|${heads.map(() => '---|').join('')}`,
    ...rows,
    '',
    '## Which route is which action',
    '',
    '| route | action |',
    '|---|---|',
    ...routes,
    '',
  ].join('\n');
}

const INTRODUCTION = `# Who may do what

\`\`\`console
$ curl -s -X PATCH localhost:3000/v1/management/organization -H "Authorization: Bearer $TOKEN_THAT_READS" \\
    -H 'Content-Type: application/json' -d '{"keep_answers":false}'
{"error":{"message":"You may not change the settings: that needs a token with the scope admin.",…,"code":"access_denied",…}}
\`\`\`

A person has a role in an organization: ${ROLES.join(', ')}. A management token has scopes: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')};
\`admin\` includes the others. Each route of the management interface is one action. An operator token with the scope
\`read\` may send GET requests of the operator interface; one with \`admin\` may send all.
To call models with a session, a person sends the id of a key in the header \`weir-key\`
([People](operations.md#people)). No token calls models.

Printed from [actions.ts](../src/access/actions.ts) and [route-actions.ts](../src/http/route-actions.ts) by
\`bun run access\`. The routes check the same table. Every change is in the [audit log](operations.md#audit-log).
`;
