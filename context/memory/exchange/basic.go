package exchange

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/text"
)

// observation is a line of basic-memory: its category, and what it says.
var observation = text.Pattern(`^[ \t]*[-*+][ \t]+\[([^\[\]]{1,100})\][ \t]+([^ \t].*)$`)

var (
	inTags  = text.Pattern(`(?:^|[ \t])#([\p{L}\p{M}\p{Nd}_/-]+)`)
	endTags = text.Pattern(`(?:[ \t]+#[\p{L}\p{M}\p{Nd}_/-]+)+[ \t]*$`)
	placed  = text.Pattern(`[ \t]+\(([^()]+)\)[ \t]*$`)
)

// boxes are what stands in the brackets of a task that is done or to be done, which is no observation.
var boxes = []string{"", "x", "-", "/", ">", "!", "?"}

// observed reads the category and the text of an observation.
func observed(line string) (category, text string, ok bool) {
	m := observation().FindStringSubmatch(line)
	if len(m) < 3 {
		return "", "", false
	}
	category, text = strings.TrimSpace(m[1]), strings.TrimSpace(m[2])
	return category, text, !slices.Contains(boxes, strings.ToLower(category))
}

// readBasic reads the observations of one file of basic-memory. Relations, tasks and other text are left out. What
// an observation has in parentheses at its end stays part of what it says.
func readBasic(r *reader, yield func(memory.Row) error) error {
	var about front
	inFront, fence := false, ""
	for {
		raw, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line := string(raw)
		trimmed := strings.TrimSpace(line)
		switch {
		case r.line == 1 && trimmed == "---":
			inFront = true
			continue
		case inFront:
			if inFront = trimmed != "---"; inFront {
				about.read(line)
			}
			continue
		}
		if fence = fenced(fence, trimmed); fence != "" {
			continue
		}
		category, text, ok := observed(line)
		if !ok {
			continue
		}
		d := observationOf(category, text)
		d.Private = about.private
		for _, known := range about.known {
			keep(d, known[0], known[1])
		}
		if err := yield(memory.Row{Line: r.line, Draft: d}); err != nil {
			return err
		}
	}
}

func observationOf(category, text string) *memory.Draft {
	where := ""
	if m := placed().FindStringSubmatchIndex(text); m != nil {
		text, where = text[:m[0]], strings.TrimSpace(text[m[2]:m[3]])
	}
	var tags []string
	for _, m := range inTags().FindAllStringSubmatch(text, memory.MaxLabels) {
		tags = append(tags, m[1])
	}
	if bare := strings.TrimSpace(endTags().ReplaceAllString(" "+text, "")); bare != "" {
		text = bare
	}
	if where != "" {
		text += " (" + where + ")"
	}
	return foreign(BasicMemory, text, category, tags)
}

// fenced returns the fence that a line of code lies behind, "" for none.
func fenced(fence, line string) string {
	if fence != "" {
		if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
			return "" // its line is no observation either
		}
		return fence
	}
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

// front is what the properties above a file say.
type front struct {
	private bool
	known   [][2]string
}

// read takes in one line of the properties. Whatever says private and not plainly false is private.
func (f *front) read(line string) {
	name, value, ok := strings.Cut(line, ":")
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	bare := strings.Trim(strings.TrimSpace(name), `"'`)
	switch {
	case strings.Contains(strings.ToLower(name), "private"):
		plainly := []string{"false", "no", "off", "0"}
		f.private = f.private || !ok || !strings.EqualFold(bare, "private") || !slices.Contains(plainly, strings.ToLower(value))
	case ok && (name == "title" || name == "permalink") && value != "" && len(value) < 1000:
		f.known = append(f.known, [2]string{name, value})
	}
}

// listMark is what a line of a list begins with.
var listMark = text.Pattern(`^(?:[-*+•]|\d{1,6}[.)])[ \t]+`)

// readLines reads a memory of each line but headings, rules and blank ones. Of properties above them it looks
// whether they say private.
func readLines(r *reader, yield func(memory.Row) error) error {
	var about front
	inFront := false
	for {
		raw, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line := strings.TrimSpace(string(raw))
		if r.line == 1 && line == "---" || inFront {
			inFront = r.line == 1 || line != "---"
			about.read(line)
			continue
		}
		if strings.HasPrefix(line, "#") || strings.Trim(line, "-=*_ ") == "" {
			continue
		}
		line = strings.TrimSpace(listMark().ReplaceAllString(line, ""))
		if line == "" {
			continue
		}
		d := foreign(Lines, line, "", nil)
		d.Private = about.private
		if err := yield(memory.Row{Line: r.line, Draft: d}); err != nil {
			return err
		}
	}
}
