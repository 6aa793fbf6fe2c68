import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FirstRun } from '../../db/bootstrap.ts';
import type { Installation } from '../config/installation.ts';

/** What a start tells the person who started Weir. */
interface Started {
  readonly base_url: string;
  readonly first_run: FirstRun | undefined;
  readonly operator_link: string | undefined;
  readonly chat_model: string | undefined;
  readonly has_dashboard: boolean;
}

/**
 * Returns the text for stdout. It has the base URL. On the first run it also has the credentials. It has
 * an example call, if a channel serves a chat model. Until somebody is an operator, it has a link that
 * makes its user one.
 */
export function greeting({
  base_url: baseUrl,
  first_run: firstRun,
  operator_link,
  chat_model,
  has_dashboard,
}: Started): string {
  const lines = [`Base URL          ${baseUrl}`];
  if (has_dashboard) lines.push(`Dashboard         ${baseUrl}/`);
  if (firstRun) {
    lines.push(
      `API key           ${firstRun.api_key}`,
      `Management token  ${firstRun.management_token}`,
      `Operator token    ${firstRun.operator_token}`,
      '                  (shown once; the database has only hashes)',
      '',
    );
  }
  if (operator_link !== undefined) {
    lines.push(
      `Sign-in link      ${operator_link}`,
      '                  (works once, in a browser; or POST email, name and password to it)',
      '',
    );
  }
  if (firstRun && chat_model !== undefined) {
    lines.push(
      'Try:',
      `  curl ${baseUrl}/v1/chat/completions \\`,
      `    -H "Authorization: Bearer ${firstRun.api_key}" \\`,
      '    -H "Content-Type: application/json" \\',
      `    -d '{"model":"${chat_model}","messages":[{"role":"user","content":"Hello"}]}'`,
      '',
    );
  }
  return lines.join('\n');
}

/**
 * Writes the credentials of the first run into the data folder. Only the owner can read the file.
 * `dashboard_url` is null if this process serves no dashboard. `sign_in_link` signs the first operator in,
 * once.
 */
export function writeFirstRun(
  dataDir: string,
  { base_url, has_dashboard, operator_link }: Omit<Started, 'first_run' | 'chat_model'>,
  firstRun: FirstRun,
): void {
  const dashboard_url = has_dashboard ? `${base_url}/` : null;
  const content = { base_url, ...firstRun, dashboard_url, sign_in_link: operator_link ?? null };
  writeFileSync(join(dataDir, 'first-run.json'), `${JSON.stringify(content, null, 2)}\n`, {
    mode: 0o600,
  });
}

/** The cheap model of the README's examples. */
const USUAL_MODEL = 'gpt-4o-mini';

/** Returns a chat model that a channel serves: the usual one, else the first; undefined if none. */
export function chatModelOf({ catalogue, channels }: Installation): string | undefined {
  const served = new Set(
    channels.filter(({ enabled }) => enabled).flatMap(({ models }) => Object.keys(models)),
  );
  const ids = catalogue.all().filter(({ kind, id }) => kind === 'chat' && served.has(id));
  return (ids.find(({ id }) => id === USUAL_MODEL) ?? ids[0])?.id;
}
