import { useHere } from '../../shell/here.ts';

/** From where a person reads actors. */
export interface Feed {
  /** The path of the routes. */
  readonly path: string;
  /** Operators see all actors; others those of their organization, without channels. */
  readonly isOperator: boolean;
}

/** Operators read the actors of the installation, other people those of their organization. */
export function useFeed(): Feed {
  const { is_operator } = useHere().session;
  return {
    path: is_operator ? '/v1/operator/inspect' : '/v1/management/inspect',
    isOperator: is_operator,
  };
}

/** An actor, as the address of its page has it. */
export interface ActorAddress {
  readonly kind: string;
  readonly id: string;
  /** Which of the replicas that have a quota or a channel; undefined: the first. */
  readonly replica?: string | undefined;
}

/** Returns the path of an actor's route. */
export function actorPath({ path }: Feed, { kind, id }: ActorAddress): string {
  return `${path}/actors/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
}
