import { useNavigate, useSearch } from '@tanstack/react-router';
import { ApiCall } from '../../parts/api-call.tsx';
import { Button } from '../../parts/button.tsx';
import { Page } from '../../parts/page.tsx';
import type { Beginning } from '../../shell/begin.ts';
import { Guarded } from '../../shell/guarded.tsx';
import { useHere } from '../../shell/here.ts';
import { AlertList } from './alert-list.tsx';
import { ALERTS_PATH, alertsList, beginAlerts } from './data.ts';
import { Deliveries } from './deliveries.tsx';
import { Endpoints } from './endpoints.tsx';
import { NewEndpointDialog } from './new-endpoint-dialog.tsx';
import { type AlertsSearch, alertsSearchOf } from './search.ts';
import { Settings } from './settings.tsx';

/** Begins the reads of the page. */
export function begin({ queries, here, search }: Beginning): void {
  if (here.may('alerts.read')) beginAlerts(queries, alertsSearchOf(search));
}

/** Who receives which alerts, and did they arrive? */
export function AlertsPage() {
  const search = useSearch({ from: '/inside/alerts' });
  const navigate = useNavigate();
  const { may } = useHere();
  const canWrite = may('alerts.write');
  const change = (changed: AlertsSearch) =>
    navigate({ to: '/alerts', search: { ...search, ...changed }, replace: true });
  const create = () => change({ create: true });
  return (
    <Page
      title="Alerts"
      question="Who receives an alert when something needs a person, and did it arrive?"
      acts={
        canWrite ? (
          <Button kind="primary" onClick={create}>
            Add an endpoint
          </Button>
        ) : undefined
      }
      call={
        may('alerts.read') ? (
          <ApiCall path={ALERTS_PATH} query={alertsList(search).query} />
        ) : undefined
      }
    >
      <Guarded needs="alerts.read">
        <Endpoints canWrite={canWrite} />
        <AlertList search={search} change={change} />
        <Deliveries search={search} change={change} canWrite={canWrite} />
        <Settings canWrite={canWrite} />
      </Guarded>
      {search.create && canWrite ? (
        <NewEndpointDialog onClose={() => change({ create: undefined })} />
      ) : null}
    </Page>
  );
}
