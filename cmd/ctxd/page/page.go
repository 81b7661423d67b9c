package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// Style is the style of all pages. Its colours follow the system, light or dark.
//
//go:embed page.css
var Style string

// listStyle is the style of pages that are lists of cards with tables. It comes behind Style.
//
//go:embed lists.css
var listStyle string

// head is the template of what stands before the body of a page.
//
//go:embed head.html
var head string

// Bar is how much of a budget was used.
type Bar struct {
	Name, Anchor  string
	Whole         bool
	Chars, Budget string
	Percent       int
	Width         string // of 100
	Level         string // class: "", warn, bad
}

// Execute fills in the template of a page, which has a name for errors. The template begins with "head", which it does
// not define: that takes Policy and Style of the data, and what the page defines as "title".
func Execute(name, text string, data any) (string, error) {
	tmpl, err := template.New(name).Parse(text)
	if err != nil {
		return "", err
	}
	if _, err := tmpl.New("head of " + name).Parse(head); err != nil {
		return "", err
	}
	var b strings.Builder
	if err := tmpl.Execute(&b, data); err != nil {
		return "", err
	}
	return b.String(), nil
}

// Hash is how a policy names a style or script.
func Hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Visible makes the characters visible that would turn the direction of what
// follows or could not be in a page.
func Visible(s string) string { return term.CleanLines(s) }

// NewBar is how much of a budget was used.
func NewBar(name, anchor string, whole bool, chars, budget int) Bar {
	share := 0.0
	if budget > 0 {
		share = min(1, float64(chars)/float64(budget))
	}
	return Bar{
		Name: name, Anchor: anchor, Whole: whole, Chars: term.Number(chars), Budget: term.Number(budget),
		Percent: int(math.Round(100 * share)), Width: Share(share),
		Level: map[term.Style]string{term.Warn: "warn", term.Bad: "bad"}[term.BarStyle(share)],
	}
}

// Share writes a share of 100, which is seen when it is more than nothing.
func Share(share float64) string {
	if share > 0 {
		share = max(share, 0.01)
	}
	return fmt.Sprintf("%.1f", 100*share)
}
