/** A machine's chart, laid out: what `docs/machine-files/layout.ts` computes and the drawing draws. */
export interface ChartLayout {
  /** Id of the machine. */
  readonly machine: string;
  readonly width: number;
  readonly height: number;
  /** An outer box comes before those inside it. */
  readonly boxes: readonly ChartBox[];
  readonly arrows: readonly ChartArrow[];
}

/** All coordinates are pixels from the chart's upper left corner. */
export interface ChartPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * - `state`: a state without inner states; `group`: a state with inner states
 * - `final`: a state that ends the machine
 * - `start`: the dot whose arrow leads to the first state
 * - `any`: stands for all states of the box around it
 */
export type ChartBoxKind = 'state' | 'group' | 'final' | 'start' | 'any';

export interface ChartBox extends ChartPlace {
  /** Path of the state, e.g. `processing.waiting`. Dots and "any" boxes add `#start` and `#any`. */
  readonly id: string;
  readonly kind: ChartBoxKind;
  readonly title: string;
  /** Where the text of the box begins. */
  readonly text_x: number;
  /** What the state is, in a sentence. */
  readonly description?: string;
  /** What happens in the state without leaving it, one per line. */
  readonly notes: readonly ChartNote[];
}

/** A line inside a box: actions on entry or exit, or an event that changes no state. */
export interface ChartNote {
  /** `entry`, `exit`, or the event. */
  readonly on: string;
  readonly guard: string;
  readonly actions: readonly string[];
}

export interface ChartArrow {
  readonly source: string;
  readonly target: string;
  /** The corners of the line. It is orthogonal and ends in an arrow head. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** The events of the arrow; null for the arrow of a start dot. */
  readonly label: ChartLabel | null;
}

export interface ChartLabel extends ChartPlace {
  readonly events: readonly ChartEvent[];
}

/** One transition, which is one line of a label. */
export interface ChartEvent {
  readonly event: string;
  readonly guard: string;
  /** States in which this transition of all states does not apply. */
  readonly except: readonly string[];
  readonly actions: readonly string[];
}
