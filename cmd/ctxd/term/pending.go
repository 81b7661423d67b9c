package term

// Pending is what commands say of what was written while the other machines of a shared store could not be reached.
const Pending = "waits for the other machines"
