/** The channel on which a preload script hands its port over. */
export const defaultChannel = "ctxd-bridge";
