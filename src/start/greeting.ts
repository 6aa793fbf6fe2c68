import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FirstRun } from '../../db/bootstrap.ts';

/**
 * Returns the text for stdout. It has the base URL. On the first run it also has the credentials
 * and an example call.
 */
export function greeting(baseUrl: string, firstRun: FirstRun | undefined): string {
  const lines = [`Base URL          ${baseUrl}`];
  if (firstRun) {
    lines.push(
      `API key           ${firstRun.api_key}`,
      `Management token  ${firstRun.management_token}`,
      `Operator token    ${firstRun.operator_token}`,
      '                  (shown once; the database has only hashes)',
      '',
      'Try:',
      `  curl ${baseUrl}/v1/chat/completions \\`,
      `    -H "Authorization: Bearer ${firstRun.api_key}" \\`,
      '    -H "Content-Type: application/json" \\',
      `    -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'`,
      '',
    );
  }
  return lines.join('\n');
}

/**
 * Writes the credentials of the first run into the data folder. Only the owner can read the file.
 */
export function writeFirstRun(dataDir: string, baseUrl: string, firstRun: FirstRun): void {
  const content = { base_url: baseUrl, ...firstRun, dashboard_url: `${baseUrl}/` };
  writeFileSync(join(dataDir, 'first-run.json'), `${JSON.stringify(content, null, 2)}\n`, {
    mode: 0o600,
  });
}
