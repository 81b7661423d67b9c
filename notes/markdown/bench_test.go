package markdown_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/notes/markdown"
)

// typicalNote is a note of about 2 KB as people write them.
var typicalNote = `---
title: Project Alpha Kickoff
type: Meeting
date: 2026-03-04
tags: [meeting, project/alpha]
attendees: ["[[Alice Chen]]", "[[Bob Okafor]]"]
project: [[Project Alpha]]
---
# Project Alpha Kickoff

We agreed that **[[Alice Chen|Alice]]** leads the work and that the first
milestone is the import of a *whole* vault in under ten seconds. See the
[[Project Alpha#Goals]] for what counts as done, and #decision for the log.

## Agenda

1. Scope, see [the charter](projects/alpha/charter.md)
2. Staffing
3. Risks and ` + "`fallbacks`" + `

## Decisions

- We ship on the first of June, with or without the graph view.
- [[Bob Okafor]] owns the storage layer; ` + "`kv.Open`" + ` stays the only entry.
- The budget is 40,000 for the year. ^budget
- [x] Tell the [[Design Team]] about the new date
- [ ] Ask [legal](https://example.com/legal?x=1) about the licence

| who   | what            | when       |
|-------|-----------------|------------|
| Alice | plan            | 2026-03-10 |
| Bob   | ` + "`journal`" + ` design | 2026-03-12 |

` + "```go" + `
func main() {
	fmt.Println("[[not a link]]")
}
` + "```" + `

> Quote of the day: nobody reads a plan that does not fit on one page.
> It came from [[Carol]].

<!-- internal: check the numbers with finance first -->

## Notes

` + strings.Repeat("The discussion went on for a while and touched on naming, on the order of the work, and on who would talk to whom. ", 6) + `

Next meeting: [[2026-03-11]], same place. #meeting/next
`

func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(typicalNote)))
	b.ReportAllocs()
	for b.Loop() {
		markdown.Parse(typicalNote)
	}
}

// BenchmarkParseBody leaves out the frontmatter. fixtures/peers measures the
// same against goldmark.
func BenchmarkParseBody(b *testing.B) {
	body := typicalNote[strings.Index(typicalNote, "# Project"):]
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		markdown.Parse(body)
	}
}

func BenchmarkPlainText(b *testing.B) {
	b.SetBytes(int64(len(typicalNote)))
	b.ReportAllocs()
	for b.Loop() {
		markdown.PlainText(typicalNote)
	}
}

// BenchmarkVaults parses and renders all notes of the two real vaults.
func BenchmarkVaults(b *testing.B) {
	for _, vault := range []string{"vault-logseq", "vault-silverbullet"} {
		b.Run(vault, func(b *testing.B) {
			notes := vaultNotes(b, testVault(b, vault))
			size := 0
			for _, src := range notes {
				size += len(src)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, src := range notes {
					markdown.Parse(src)
					markdown.PlainText(src)
				}
			}
			b.ReportMetric(float64(len(notes)*b.N)/b.Elapsed().Seconds(), "notes/s")
		})
	}
}

// BenchmarkHostile parses 1 MiB of the worst texts; see hostile_test.go.
func BenchmarkHostile(b *testing.B) {
	for name, unit := range hostile {
		src := strings.Repeat(unit, 1<<20/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				markdown.Parse(src)
				markdown.PlainText(src)
			}
		})
	}
}
