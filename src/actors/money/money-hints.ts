import type { RecallScope } from '../../../db/ledger/replicas.ts';

/** Recall number `seq`, a request to return the unused grants of its scope. */
export interface Recall extends RecallScope {
  readonly seq: number;
}

/** The messages that all replicas get after a transaction of the ledger. */
export class MoneyHints {
  private readonly recallsByScope = new Map<string, Recall>();
  private readonly freedFor = new Set<string>();

  /** The recalls that the transaction started or repeated. */
  get recalls(): Recall[] {
    return [...this.recallsByScope.values()];
  }

  /** The organizations whose waiting calls should request money again. */
  get organization_ids(): string[] {
    return [...this.freedFor];
  }

  /** Adds a recall. In each scope only the highest number is kept, because it covers lower ones. */
  onRecall(recall: Recall): void {
    const scope = JSON.stringify([recall.organization_id, recall.key_id, recall.tag]);
    const earlier = this.recallsByScope.get(scope);
    if (!earlier || earlier.seq < recall.seq) this.recallsByScope.set(scope, recall);
  }

  onMoneyFreed(organization_id: string): void {
    this.freedFor.add(organization_id);
  }
}

/** Sends the messages of a transaction of the ledger to all replicas. Its functions never throw. */
export interface MoneyHintPublisher {
  /** Called after the commit. */
  publish(hints: MoneyHints): void;
  /** Called if a transaction may have been committed and its hints are not known. */
  publishUnknown(): void;
}
