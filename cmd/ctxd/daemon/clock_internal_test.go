package daemon

import (
	"testing"
	"time"
)

func TestREL1_UptimeOfAClockThatWasSetBack(t *testing.T) {
	if up := (Owner{Started: time.Now().AddDate(1, 0, 0)}).Uptime(); up != 0 {
		t.Errorf("up %v", up)
	}
	if up := (Owner{Started: time.Now().AddDate(-1, 0, 0)}).Uptime(); up < 365*24*time.Hour {
		t.Errorf("up %v", up)
	}
}
