import { useState } from 'react';
import type { AlertEndpoint } from '../../api/types.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { Menu } from '../../parts/menu.tsx';
import { EditEndpointDialog } from './edit-endpoint-dialog.tsx';
import { RemoveEndpoint, RotateSecret, useSwitch } from './endpoint-acts.tsx';
import { kindName, kindSays } from './kinds.ts';
import { TestDialog, useEndpointTest } from './test-dialog.tsx';

interface EndpointLineProps {
  readonly of: AlertEndpoint;
  readonly canWrite: boolean;
}

/** A place that receives alerts, what it receives, and its acts. */
export function EndpointLine({ of: endpoint, canWrite }: EndpointLineProps) {
  const { id, name, type, url, email, kinds, enabled } = endpoint;
  return (
    <li className="grid gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <span className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <Badge tone={enabled ? 'good' : 'warn'}>{enabled ? 'on' : 'off'}</Badge>
          <bdi className="font-medium">{name}</bdi>
          <span className="min-w-0 break-all text-soft">
            {type} to {url ?? email}
          </span>
        </span>
        {canWrite ? <Acts of={endpoint} /> : null}
      </div>
      <p className="flex flex-wrap items-center gap-1 text-sm">
        {kinds.map((kind) => (
          <span key={kind} title={kindSays(kind)}>
            <Badge tone="calm">{kindName(kind)}</Badge>
          </span>
        ))}
        <GoLink to="/alerts" query={{ endpoint_id: id }} className="ml-1">
          Its deliveries
        </GoLink>
      </p>
    </li>
  );
}

function Acts({ of: endpoint }: { of: AlertEndpoint }) {
  const [open, setOpen] = useState<'edit' | 'rotate' | 'remove'>();
  const close = () => setOpen(undefined);
  const test = useEndpointTest(endpoint);
  const { flip, failure } = useSwitch(endpoint);
  const { name, type, enabled } = endpoint;
  return (
    <span className="flex items-center gap-1">
      <Button aria-label={`Test ${name}`} busy={test.isPending} onClick={() => test.mutate()}>
        Test
      </Button>
      <Menu
        label={`Acts on ${name}`}
        button="⋯"
        acts={[
          { label: enabled ? 'Switch off' : 'Switch on', act: flip },
          { label: 'Edit…', act: () => setOpen('edit') },
          ...(type === 'webhook'
            ? [{ label: 'Rotate the secret…', act: () => setOpen('rotate') }]
            : []),
          { label: 'Remove…', act: () => setOpen('remove'), isDanger: true },
        ]}
      />
      {test.isIdle ? null : <TestDialog of={endpoint} test={test} />}
      {open === 'edit' ? <EditEndpointDialog of={endpoint} onClose={close} /> : null}
      {open === 'rotate' ? <RotateSecret of={endpoint} onClose={close} /> : null}
      {open === 'remove' ? <RemoveEndpoint of={endpoint} onClose={close} /> : null}
      {failure}
    </span>
  );
}
