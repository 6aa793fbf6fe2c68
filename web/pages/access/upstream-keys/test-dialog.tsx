import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { OwnKey } from '../../../api/types.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { counted } from '../../../parts/figures.ts';
import { ownKeyPath, rereadOwnKeys } from './data.ts';

/** What a test found (`POST …/{id}/test`). */
type Verdict =
  | { readonly ok: true; readonly key_tested: boolean; readonly models: readonly object[] }
  | { readonly ok: false; readonly message: string; readonly hint?: string };

/** A test of an own key at its provider. It begins with `mutate`. */
export function useOwnKeyTest({ id }: OwnKey) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => api.post<Verdict>(ownKeyPath(id, '/test')),
    onSettled: () => rereadOwnKeys(queries),
  });
}

interface TestDialogProps {
  readonly of: OwnKey;
  readonly test: ReturnType<typeof useOwnKeyTest>;
}

/** Says what a provider answered to the test of an own key. */
export function TestDialog({ of: key, test }: TestDialogProps) {
  const { mutate, data, error, isPending, reset: onClose } = test;
  const path = ownKeyPath(key.id, '/test');
  return (
    <Dialog
      title={
        <>
          Test of <bdi>{key.name}</bdi>
        </>
      }
      onClose={onClose}
    >
      <div aria-live="polite" className="grid gap-2">
        {isPending ? <p className="text-soft">Weir asks the provider…</p> : null}
        {error ? <ErrorNote error={error} /> : null}
        {data ? <Found verdict={data} /> : null}
      </div>
      <ApiCall method="POST" path={path} body={{}} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button busy={isPending} onClick={() => mutate()}>
          Test again
        </Button>
        <Button data-first kind="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

function Found({ verdict }: { verdict: Verdict }) {
  if (!verdict.ok) {
    return (
      <>
        <p>
          <Badge tone="bad">refused</Badge>
        </p>
        <p>
          <bdi>{verdict.message}</bdi>
        </p>
        {verdict.hint === undefined ? null : <p className="text-soft">{verdict.hint}</p>}
      </>
    );
  }
  const { key_tested, models } = verdict;
  return (
    <>
      <p>{key_tested ? <Badge tone="good">works</Badge> : <Badge tone="calm">not proved</Badge>}</p>
      <p>
        {key_tested
          ? 'The provider accepts the key.'
          : 'The address answers, and nothing proves the key. The first call tests it.'}
        {models.length > 0
          ? ` The account lists ${counted(models.length, 'model')} of the catalogue.`
          : ''}
      </p>
    </>
  );
}
