package memory

import (
	"fmt"
	"strings"
)

// Ids hold no slash, so one parts them in the keys of collections that lie under two.

func joinKey(a, b string) string { return a + "/" + b }

func cutKey(key string) (a, b string) {
	a, b, _ = strings.Cut(key, "/")
	return a, b
}

// numberKey and versionKey sort as their numbers do.

func numberKey(n int64) string { return fmt.Sprintf("%012d", n) }

func versionKey(id string, version int) string { return joinKey(id, fmt.Sprintf("%010d", version)) }
