import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { OwnKey } from '../../../api/types.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { counted } from '../../../parts/figures.ts';
import { Menu } from '../../../parts/menu.tsx';
import { say } from '../../../parts/said.tsx';
import { ownKeyPath, rereadOwnKeys } from './data.ts';
import { EditOwnKeyDialog } from './edit-dialog.tsx';
import { RotateOwnKeyDialog } from './rotate-dialog.tsx';
import { TestDialog, useOwnKeyTest } from './test-dialog.tsx';

/** The acts on an own key. A revoked one has none. */
export function OwnKeyMenu({ of: key }: { of: OwnKey }) {
  const [open, setOpen] = useState<'edit' | 'rotate' | 'revoke'>();
  const test = useOwnKeyTest(key);
  const close = () => setOpen(undefined);
  if (key.status !== 'active') return null;
  return (
    <div className="-my-1.5 text-right">
      <Menu
        label={`Acts on ${key.name}`}
        button="⋯"
        acts={[
          { label: 'Test', act: () => test.mutate() },
          { label: 'Edit…', act: () => setOpen('edit') },
          { label: 'Rotate…', act: () => setOpen('rotate') },
          { label: 'Revoke…', act: () => setOpen('revoke'), isDanger: true },
        ]}
      />
      {test.isIdle ? null : <TestDialog of={key} test={test} />}
      {open === 'edit' ? <EditOwnKeyDialog of={key} onClose={close} /> : null}
      {open === 'rotate' ? <RotateOwnKeyDialog of={key} onClose={close} /> : null}
      {open === 'revoke' ? <Revoke of={key} onClose={close} /> : null}
    </div>
  );
}

function Revoke({ of: key, onClose }: { of: OwnKey; onClose: () => void }) {
  const queries = useQueryClient();
  const work = async () => {
    await api.post(ownKeyPath(key.id, '/revoke'));
    await rereadOwnKeys(queries);
    say(`“${key.name}” is revoked.`);
  };
  return (
    <Confirm
      title={
        <>
          Revoke <bdi>{key.name}</bdi>?
        </>
      }
      label="Revoke the key"
      act={work}
      onClose={onClose}
    >
      <p>
        Weir deletes the key at once. New calls of its {counted(key.models.length, 'model')} run on
        other own keys, or else on the platform at the price of the catalogue.
      </p>
      <p className="text-soft">
        Tasks that run on it end at their deadline and are not charged. At the provider the key
        stays valid until you delete it there.
      </p>
    </Confirm>
  );
}
