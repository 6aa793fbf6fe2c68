/** The pages below `/welcome`. */
export const welcomeRoutes = [] as const;
