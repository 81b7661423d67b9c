package term

// noTime stands for a time that the clock did not see pass: it goes on in steps of up to 15.6 ms.
const noTime = "< 16 ms"
