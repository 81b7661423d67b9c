package outbox

import (
	"fmt"

	"github.com/ctxd/ctxd/entities/fault"
)

// Limits of what waits.
const (
	MaxItems = 10_000
	MaxBytes = 64 << 20
)

const (
	HeadKey       = "!outbox"
	waitingPrefix = "!waiting "
	basePrefix    = "!base "
)

// BaseKey is under which it stands what a record is by the log.
func BaseKey(key string) string { return basePrefix + key }

// Missing is the error for a number that no item has.
func Missing(number uint64) error {
	return fault.New(fault.NotFound, "nothing with the number %d waits for the other machines", number).
		WithRef(fmt.Sprint(number)).WithHint("list what waits")
}
