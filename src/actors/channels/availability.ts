/**
 * What a caller may expect of a model now. `available`: a healthy channel takes calls. `degraded`: only
 * channels that failed lately take calls. `unavailable`: no channel takes a call.
 */
export type Availability = 'available' | 'degraded' | 'unavailable';
