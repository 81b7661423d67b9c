package record

// Waits is what a record says that waits for the other machines of a shared store.
type Waits struct {
	Pending bool `json:"pending,omitempty" jsonschema:"whether it was written while the other machines of a shared store could not be reached, and waits for them; absent otherwise"`
}
