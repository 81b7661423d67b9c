package term

// Example is a command line and what it does.
type Example [2]string

// Exampler is a command that shows how it is used.
type Exampler interface{ Examples() []Example }
