package term

import "fmt"

// Facts is a table of names and values, empty values left out.
type Facts struct{ Table }

// Add adds a row, unless the value is empty.
func (f *Facts) Add(name, value string) {
	if value != "" {
		f.Row(Line{Styled(Faint, name)}, Line{Text(value)})
	}
}

// Addf adds a row whose value is formatted.
func (f *Facts) Addf(name, format string, args ...any) { f.Add(name, fmt.Sprintf(format, args...)) }

// Labelled is the beginning of a line that says one thing.
func Labelled(name string) Span { return Styled(Faint, fmt.Sprintf("  %-9s  ", name)) }

// DrawWrapped shows a text under a name, on as many lines as it needs.
func DrawWrapped(s *Screen, name, value string) {
	for _, l := range Wrap(Clean(value), s.Columns()-Columns(Labelled("").Text)) {
		s.Say(Labelled(name), Text(l))
		name = ""
	}
}

// DrawLines shows lines under a name.
func DrawLines(s *Screen, name string, lines []Line) {
	for _, l := range lines {
		s.Say(append(Line{Labelled(name)}, l...)...)
		name = ""
	}
}

// DrawPlain shows a text on as many lines as it needs.
func DrawPlain(s *Screen, what string) {
	for _, l := range Wrap(Clean(what), s.Columns()-2) {
		s.Say(Styled(Faint, "  "+l))
	}
}
