import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Card } from '../../parts/page.tsx';
import { say } from '../../parts/said.tsx';

/** Removes all stored answers of the organization, after a question. */
export function Purge() {
  const [isAsked, setAsked] = useState(false);
  return (
    <Card className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
      <div className="min-w-0 flex-1 basis-72">
        <h3 className="font-medium">Stored answers</h3>
        <p className="text-soft">
          Remove them if they are wrong or outdated, e.g. after the facts behind a prompt changed.
        </p>
      </div>
      <Button kind="danger" onClick={() => setAsked(true)}>
        Remove all answers
      </Button>
      {isAsked ? (
        <Confirm
          title="Remove all stored answers?"
          label="Remove all answers"
          onClose={() => setAsked(false)}
          act={async () => {
            await api.delete('/v1/management/cache');
            say('All stored answers are removed.');
          }}
        >
          <p>
            Each call then reaches its provider again, and is charged, until its new answer is
            stored. The figures of this page stay.
          </p>
        </Confirm>
      ) : null}
    </Card>
  );
}
