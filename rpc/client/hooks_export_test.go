package client

import "time"

// Wait has calls that are withdrawn wait that long for their answers. It is to be
// called before any of them.
func Wait(d time.Duration) { withdrawn = d }
