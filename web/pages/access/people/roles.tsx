import { ACTIONS, type Action, may, ROLES, type Role } from '../../../../src/access/actions.ts';

/** Each role in one line. */
export const ROLE_SAYS: Readonly<Record<Role, string>> = {
  owner: 'everything, also other owners',
  admin: 'everything but owners and tokens with all rights',
  member: 'makes keys and calls, sees usage and money',
  viewer: 'sees usage and money, changes nothing',
};

/** What each role may do, printed from the table that the routes check. */
export function RoleTable() {
  return (
    <details className="text-sm">
      <summary className="inline-block rounded px-1.5 py-0.5 text-soft hover:bg-sunk hover:text-ink">
        What each role may do
      </summary>
      <section
        tabIndex={0}
        aria-label="What each role may do"
        className="mt-2 overflow-x-auto rounded-box border border-line bg-card"
      >
        <table className="w-full text-left">
          <thead className="border-b border-line text-soft">
            <tr>
              <th scope="col" className="px-4 py-1.5 font-medium">
                May
              </th>
              {ROLES.map((role) => (
                <th key={role} scope="col" className="px-3 py-1.5 text-center font-medium">
                  {role}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(Object.keys(ACTIONS) as Action[]).map((action) => (
              <tr key={action} className="border-b border-line last:border-b-0">
                <th scope="row" className="px-4 py-1 font-normal">
                  {ACTIONS[action].says}
                </th>
                {ROLES.map((role) => (
                  <td key={role} className="px-3 py-1 text-center">
                    {may({ member_role: role }, action) ? (
                      <span role="img" aria-label="yes">
                        ✓
                      </span>
                    ) : (
                      <span className="sr-only">no</span>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}
