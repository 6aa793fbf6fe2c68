import { readSwitches } from '../../../db/channels/switches.ts';
import { exportYaml } from '../../config/export-yaml.ts';
import type { Handler } from '../endpoint.ts';
import type { OperatorDeps } from './operator-parts.ts';

/** `GET /v1/operator/configuration/export`. Returns a `weir.yaml` that does what the rows do. */
export function exportConfiguration(deps: OperatorDeps): Handler {
  return async (context) => {
    await deps.authentication.requireOperator(context);
    const { sql, installation, applyChannels } = deps.operator();
    await applyChannels();
    const off = new Set((await readSwitches(sql)).map(({ channel_id }) => channel_id));
    return new Response(exportYaml(installation.now, off), {
      headers: {
        'content-type': 'application/yaml; charset=utf-8',
        'content-disposition': 'attachment; filename="weir.yaml"',
        'cache-control': 'no-store',
      },
    });
  };
}
