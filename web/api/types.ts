/** The answers of the API, typed by the functions of the server that make them. */
import type { AuditLine as AuditLineOfLog } from '../../db/audit/entry.ts';
import type { AlertRecordSchema } from '../../src/actors/alerts/record.ts';
import type {
  AlertDeliveryRecordSchema,
  alertSettingsView,
  EndpointRecordSchema,
} from '../../src/http/alerts/records.ts';
import type { budgetRecord } from '../../src/http/budgets/record.ts';
import type { shownFlight } from '../../src/http/inspect/call-in-flight.ts';
import type { balanceView } from '../../src/http/management/balance-view.ts';
import type { BatchRecord } from '../../src/http/management/batch-record.ts';
import type { DeliveryRecord } from '../../src/http/management/delivery-record.ts';
import type { keyRecord } from '../../src/http/management/key-record.ts';
import type { modelRecord, modelSummary } from '../../src/http/management/model-record.ts';
import type { organizationView } from '../../src/http/management/settings.ts';
import type { TaskRecord } from '../../src/http/management/task-record.ts';
import type { tokenRecord } from '../../src/http/management/token-view.ts';
import type { callView, timelineOf } from '../../src/http/management/usage/call-view.ts';
import type { chargeOf } from '../../src/http/management/usage/charge.ts';
import type {
  UsageQueriesSchema,
  UsageQuerySchema,
} from '../../src/http/management/usage/explore-answer.ts';
import type { keyState } from '../../src/http/management/usage/key-state.ts';
import type { publicCall, runningList } from '../../src/http/management/usage/running-view.ts';
import type { statementView } from '../../src/http/management/usage/statement-view.ts';
import type { invitationRecord, memberRecord } from '../../src/http/people/view.ts';
import type { ownKeyRecord } from '../../src/http/upstream-keys/record.ts';
import type { ActorRecord } from '../../src/inference/inspection/actor-record.ts';
import type { inspectedActor } from '../../src/inference/inspection/inspected.ts';
import type { arrivalOf } from '../../src/inference/records/arrival-view.ts';

type View<Make extends (...args: never[]) => unknown> = ReturnType<Make>;

/** A call that reached Weir, as operators see it. */
export type Arrival = View<typeof arrivalOf>;

/** An API key. */
export type ApiKey = View<typeof keyRecord>;

/** The money and the status of an API key, as the live events have them. */
export type KeyState = View<typeof keyState>;

/** A budget with its present window. */
export type Budget = View<typeof budgetRecord>;

/** A key for an account of the organization at a provider, without the key itself. */
export type OwnKey = View<typeof ownKeyRecord>;

/** A place that receives alerts, without its secret. */
export type AlertEndpoint = (typeof EndpointRecordSchema)['static'];

/** Something that needed a person. */
export type Alert = (typeof AlertRecordSchema)['static'];

/** An alert on its way to an endpoint, with its attempts. */
export type AlertDelivery = (typeof AlertDeliveryRecordSchema)['static'];

/** From when on something is an alert. */
export type AlertSettings = View<typeof alertSettingsView>;

/** A call, as the list of requests has it. */
export type Call = View<typeof callView>;

/** One moment of a call. */
export type CallMoment = View<typeof timelineOf>[number];

/** The arithmetic of a charge. */
export type Charge = Awaited<ReturnType<typeof chargeOf>>;

/** A call with its timeline and its charge. */
export type CallDetail = Call & {
  readonly timeline: readonly CallMoment[];
  readonly charge: Charge;
};

/** A call that runs now. */
export type RunningCall = View<typeof publicCall>;

/** The calls that run now. */
export type RunningCalls = ReturnType<typeof runningList<RunningCall>>;

/** A call at an instant while it ran. */
export type CallInFlight = View<typeof shownFlight>;

/** The calls of an instant, the oldest first. */
export interface CallsInFlight {
  /** RFC 3339. */
  readonly at: string;
  readonly data: readonly CallInFlight[];
  /** How many ran, also those that are not listed. */
  readonly total: number;
  /** Replicas that did not answer, so their calls are missing. */
  readonly silent_replicas: number;
}

/** An answer of `GET /v1/management/usage/query`. */
export type UsageQuery = (typeof UsageQuerySchema)['static'];

/** An answer of `GET /v1/management/usage/queries`. */
export type UsageQueries = (typeof UsageQueriesSchema)['static'];

/** A model of the catalogue. */
export type Model = View<typeof modelSummary>;

/** A model with its contract. */
export type ModelDetail = View<typeof modelRecord>;

/** A task. */
export type Task = TaskRecord;

/** A message batch. */
export type Batch = BatchRecord;

/** A webhook with its attempts. */
export type Delivery = DeliveryRecord;

/** A page of a list. */
export interface List<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor?: string | null;
}

/** A person of an organization. */
export type Person = View<typeof memberRecord>;

/** An invitation, without its secret. */
export type Invitation = View<typeof invitationRecord>;

/** A management token, without its secret. */
export type Token = View<typeof tokenRecord>;

/** A line of the audit log. */
export type AuditLine = AuditLineOfLog;

/** An organization with its settings. */
export type Organization = View<typeof organizationView>;

/** The money of an organization. */
export type Balance = View<typeof balanceView>;

/** The deposits and charges of a month. */
export type Statement = View<typeof statementView>;

/** An actor, as the list of actors has it. */
export type ListedActor = ActorRecord;

/** A page of the list of actors. */
export interface ActorList extends List<ListedActor> {
  /** The actors of all pages by state. */
  readonly counts: readonly {
    readonly kind: string;
    readonly state: string;
    readonly actors: number;
  }[];
  /** Replicas that did not answer, so their quotas and channels are missing. */
  readonly silent_replicas: number;
}

/** An actor with its timers, its effects and its money. */
export type InspectedActor = Awaited<ReturnType<typeof inspectedActor>>;
