import { type Query, urlOf } from '../api/url.ts';
import { CodeBlock } from './code-block.tsx';
import { Folded } from './folded.tsx';

interface ApiCallProps {
  readonly method?: string;
  readonly path: string;
  readonly query?: Query | undefined;
  readonly body?: unknown;
}

/** The request with which a program gets what a page shows. Every page has one, because it uses nothing else. */
export function ApiCall({ method = 'GET', path, query, body }: ApiCallProps) {
  return (
    <Folded summary="‹/› API call" className="group text-sm">
      {() => (
        <div className="mt-2">
          <CodeBlock code={curlOf({ method, path, query, body })} what="command" />
        </div>
      )}
    </Folded>
  );
}

/** The request as a command for a terminal. `$WEIR_TOKEN` is a management token. */
export function curlOf({ method = 'GET', path, query, body }: ApiCallProps): string {
  const address = `${location.origin}${urlOf(path, query)}`;
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${address}'`,
    `  -H "Authorization: Bearer $WEIR_TOKEN"`,
  ];
  if (body !== undefined) {
    lines.push(
      `  -H 'Content-Type: application/json'`,
      `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
    );
  }
  return lines.join(' \\\n');
}
