package refs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/refs"
)

// message is 10 KB of prose with some five references a paragraph.
func message() string {
	const paragraph = "What does @prefer_morning_a3f2 say about the plan for (@ssdva)? See #42, and what we wrote in " +
		"[[Kickoff|the kickoff]] on Monday. Mail me at user@domain.com or look at https://x.org/a#42 first. I think that " +
		"@conversation_fix_bus_1a2b_message_3 has the rest of it; `code @abc` does not count, and nothing else here does.\n\n"
	return strings.Repeat(paragraph, 10<<10/len(paragraph)+1)[:10<<10]
}

// plain is the grammar as far as a regular expression has it: it knows no code, no links'
// targets and no addresses.
var plain = regexp.MustCompile(`(?:^|[\s([{"',:;*_~|])(?:@(?:memory|mem):([a-zA-Z0-9-]+)|@(\p{L}[\p{L}\p{M}\p{Nd}_-]{2,})|#([1-9]\d{0,8})\b)|\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]`)

// BenchmarkParse10KB reports the 99th percentile of the times as p99-ns.
func BenchmarkParse10KB(b *testing.B) {
	text := message()
	for name, parse := range map[string]func(){
		"ctxd":   func() { _, _ = refs.Parse(text, refs.UTF16) },
		"regexp": func() { plain.FindAllStringSubmatchIndex(text, -1) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			times := make([]time.Duration, 0, b.N)
			for range b.N {
				start := time.Now()
				parse()
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)*99/100]), "p99-ns")
		})
	}
}
