/** The pages below `/tasks`. */
export const tasksRoutes = [] as const;
